// SPDX-License-Identifier: MIT
// What CacheService does, without the transport: content and rows of the store for another daemon.
// Runs inside jobs. See spec/daemon 4.5, spec/cache 7
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "proto/kiln/v1/cache.pb.h"
#include "server/rpc/calls/source_upload.h"

namespace kiln::rpc {

// Errors: kResourceExhausted, LIMIT_EXCEEDED; kInvalidArgument if it is not a digest.
Result<void> FindMissing(Engine& engine, const v1::FindMissingRequest& request,
                         const cache::Call& call, v1::FindMissingReply& reply,
                         v1::ErrorDetail& detail);

// Blobs as a sequence of pages; every digest gets one status. What a page leaves of a blob is held
// until the next one if the room that readers share has a place for it, and read again if not;
// store and room must outlive the object. One thread at a time.
class BlobPages {
 public:
  BlobPages(cache::BlobStore& store, ByteRoom& room, const ops::Party& reader,
            v1::GetBlobsRequest request)
      : store_(store), request_(std::move(request)), held_(room, reader) {}

  // At most 3 MiB of messages; none after the last. Errors: as FindMissing; kUnavailable with
  // CONTENT_LOST if a blob went, or was written anew, before its last page was made.
  Result<std::vector<v1::GetBlobsReply>> Next(const cache::Call& call, v1::ErrorDetail& detail);

 private:
  Result<cache::Blob> Encoded(const Digest& digest, const cache::Call& call);
  Result<uint64_t> AddChunks(const v1::Digest& name, uint64_t room, const cache::Call& call,
                             std::vector<v1::GetBlobsReply>& page);

  cache::BlobStore& store_;
  const v1::GetBlobsRequest request_;
  int next_ = 0;
  // Of the blob that is being sent:
  uint64_t offset_ = 0;
  uint64_t size_ = 0;  // as it is sent; set with the first chunk
  std::optional<cache::Blob> rest_;
  ByteRoom::Share held_;
};

// Chunks of PutBlobs -> content of the store. What does not match its digest is rejected, the rest
// is stored. What it holds counts against the room, which must outlive it. One upload, one thread
// at a time.
class BlobUpload {
 public:
  BlobUpload(Engine& engine, ByteRoom& room, const ops::Principal& of, const ServiceLimits& limits)
      : engine_(engine),
        room_(room),
        owner_(of.id),
        most_rejected_(limits.rejected_blobs),
        held_(room, of.party) {}

  // Errors: kInvalidArgument for chunks out of order; kResourceExhausted with BUFFERS_FULL, or with
  // LIMIT_EXCEEDED if more blobs were rejected than a reply lists.
  Result<void> Take(const v1::PutBlobsRequest& message);
  uint64_t waiting() const { return waiting_; }  // bytes not yet stored
  // Errors: kFailedPrecondition with READ_ONLY; those of BlobStore::Put.
  Result<void> Store(const cache::Call& call);
  // Errors: kInvalidArgument if the last blob is not complete.
  Result<v1::PutBlobsReply> Finish() const;
  // Since the last time.
  std::vector<RejectedContent> TakeRejected() { return std::exchange(rejected_, {}); }

 private:
  Result<void> Begin(const v1::PutBlobsRequest& message, const Digest& digest);
  Result<void> Complete();
  Result<void> Reject(const char* reason);

  Engine& engine_;
  ByteRoom& room_;
  const std::string owner_;  // whose share what is stored counts for
  const uint64_t most_rejected_;
  ByteRoom::Share held_;
  std::vector<RejectedContent> rejected_;
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
// refused in the reply; failures of the store end the call.
Result<void> PutRows(cache::BlobStore& store, const v1::PutRowsRequest& request,
                     const cache::Call& call, v1::PutRowsReply& reply, v1::ErrorDetail& detail);

}  // namespace kiln::rpc
