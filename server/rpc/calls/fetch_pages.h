// SPDX-License-Identifier: MIT
// What Fetch does, without the transport. Runs inside jobs. See spec/daemon 4.1
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "cache/leases/held_leases.h"
#include "compiler/base/flat_map.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/messages/fetch_messages.h"

namespace kiln::rpc {

// Content that a client knows.
class DigestSet {
 public:
  bool Contains(const Digest& digest) const;
  // Whether it is new.
  bool Add(const Digest& digest);
  // What was added last. Requires: it was new.
  void TakeBack();
  // In order.
  std::vector<Digest> Sorted() const;

 private:
  InternIndex index_;
  std::vector<Digest> rows_;
};

// Fetch as a sequence of pages, made when the transport wants more. One thread at a time.
class FetchPages {
 public:
  FetchPages(Engine& engine, v1::FetchRequest request, std::string trace)
      : engine_(engine),
        request_(std::move(request)),
        trace_(std::move(trace)),
        page_(request_.together()) {}

  // Messages of about 256 KiB together, at least one, as they are sent. Errors: as CompileVariant;
  // kNotFound for an unknown batch.
  Result<std::vector<grpc::ByteBuffer>> Next(const cache::Call& call, v1::ErrorDetail& detail);
  // The last page was made.
  bool done() const { return done_; }

 private:
  Result<void> Begin(const cache::Call& call);
  Result<void> AddVariant(const cache::Call& call, v1::ErrorDetail& detail);
  Result<void> AddResult(const cache::Call& call, v1::ErrorDetail& detail);
  Result<compile::Outcome> Rebuild(const compile::BatchItem& item, const cache::Call& call,
                                   v1::ErrorDetail& detail);
  Result<void> ListPin(const cache::Call& call);
  Result<void> AddBlobs(const v1::Outcome& outcome, const cache::Call& call);
  void AddOutcome(const v1::Outcome& outcome);
  void AddOutcome(const compile::Outcome& outcome, uint64_t index);
  Result<void> AddBlobs(const compile::Outcome& outcome, const cache::Call& call);
  Result<void> AddBlob(const Digest& digest, const cache::Call& call);
  void AddProgress(uint64_t total);
  Result<void> AddDone(const cache::Call& call);

  Engine& engine_;
  const v1::FetchRequest request_;
  const std::string trace_;
  cache::HeldLeases::ScopedLease held_;  // until the last page
  bool begun_ = false;
  bool done_ = false;
  compile::BatchResults results_;
  uint64_t next_ = 0;  // variant or result
  // Content that was made for the present one: the store may be too full to take it.
  std::vector<compile::FreshBlob> fresh_;
  DigestSet known_;      // of the client: has or was sent
  DigestSet had_;        // of the client when it asked
  std::string outcome_;  // bytes of one: its memory is used again
  FetchMessages page_;
  v1::FetchDone::Counts counts_;
};

}  // namespace kiln::rpc
