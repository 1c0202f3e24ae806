// SPDX-License-Identifier: MIT
// What CacheService does, without the transport: content and rows of the store for another daemon.
// Runs inside jobs. Spec: daemon §4.5, cache §7
#pragma once

#include <vector>

#include "proto/kiln/v1/cache.pb.h"
#include "server/rpc/compile_calls.h"

namespace kiln::rpc {

// Errors: kResourceExhausted, LIMIT_EXCEEDED; kInvalidArgument for what is no digest.
Result<void> FindMissing(Engine& engine, const v1::FindMissingRequest& request,
                         const cache::Call& call, v1::FindMissingReply& reply,
                         v1::ErrorDetail& detail);

// Blobs as a sequence of pages; every digest gets one status. One thread at a time.
class BlobPages {
 public:
  BlobPages(Engine& engine, const v1::GetBlobsRequest& request)
      : engine_(engine), request_(request) {}

  // About 1 MiB of messages; none after the last. Errors: as FindMissing.
  Result<std::vector<v1::GetBlobsReply>> Next(const cache::Call& call, v1::ErrorDetail& detail);

 private:
  Result<uint64_t> AddBlob(const v1::Digest& name, const cache::Call& call,
                           std::vector<v1::GetBlobsReply>& page);

  Engine& engine_;
  const v1::GetBlobsRequest request_;
  int next_ = 0;
};

// Chunks of PutBlobs -> content of the store. What does not match its digest is rejected, the rest
// is stored. One upload, one thread at a time.
class BlobUpload {
 public:
  explicit BlobUpload(Engine& engine) : engine_(engine) {}

  // Errors: kInvalidArgument for chunks out of order.
  Result<void> Take(const v1::PutBlobsRequest& message);
  uint64_t waiting() const { return waiting_; }  // bytes not yet stored
  // Errors: kFailedPrecondition with READ_ONLY; those of BlobStore::Put.
  Result<void> Store(const cache::Call& call);
  // Errors: kInvalidArgument if the last blob is not complete.
  Result<v1::PutBlobsReply> Finish() const;

 private:
  void Complete();
  void Reject(const char* reason);

  Engine& engine_;
  bool open_ = false;      // a blob is being received
  bool skipping_ = false;  // of a blob that was rejected already
  Digest digest_;
  v1::Codec codec_ = v1::CODEC_NONE;
  std::string bytes_;  // encoded
  std::vector<cache::Item> complete_;
  uint64_t waiting_ = 0;
  v1::PutBlobsReply reply_;
};

// Errors: kInvalidArgument for a level that has no rows or for another space than the default one.
Result<void> GetRows(Engine& engine, const v1::GetRowsRequest& request, const cache::Call& call,
                     v1::GetRowsReply& reply, v1::ErrorDetail& detail);
// Errors: as GetRows; kFailedPrecondition with READ_ONLY. Rows that are wrong by themselves are
// refused in the reply.
Result<void> PutRows(Engine& engine, const v1::PutRowsRequest& request, const cache::Call& call,
                     v1::PutRowsReply& reply, v1::ErrorDetail& detail);

}  // namespace kiln::rpc
