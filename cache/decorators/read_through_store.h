// SPDX-License-Identifier: MIT
// Adds an upstream to a local store: what is not here is asked there and kept here, complete; what
// is put here goes there, too. An upstream that does not answer is no error of anybody: after a few
// failures it is left alone for a while. See spec/cache 5.3, 7
#pragma once

#include <functional>

#include "cache/decorators/circuit_breaker.h"
#include "cache/decorators/hedged_reads.h"
#include "cache/store.h"

namespace kiln::cache {

// Threads: see BlobStore.
class ReadThroughStore final : public BlobStore {
 public:
  struct Options {
    Duration deadline = std::chrono::milliseconds(250);         // of one read from the upstream
    bool writes = true;                                         // false: the upstream is read only
    std::function<void(bool is_open)> on_change = [](bool) {};  // of the breaker
  };

  // reads: the upstream, verified. writes: the same, or a journal in front of it. All must outlive
  // this.
  ReadThroughStore(BlobStore& local, BlobStore& reads, BlobStore& writes, Clock& clock,
                   Options options)
      : local_(local),
        writes_(writes),
        clock_(clock),
        options_(std::move(options)),
        breaker_(clock, options_.on_change),
        hedged_(reads, clock) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  // kQuorum waits for the upstream. Errors: those of the local store; kUnavailable with
  // UPSTREAM_UNREACHABLE if the items are stored here and not there.
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  // Of the local store only: callers want to name what is there.
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override {
    return local_.FindMissing(keys, call);
  }
  void Touch(std::span<const Key> keys) override { local_.Touch(keys); }

  CircuitBreaker& breaker() { return breaker_; }
  uint64_t hedged() const { return hedged_.hedged(); }

 private:
  Result<Blob> GetUpstream(const Key& key, const Call& call);
  Result<void> Keep(const Key& key, const Blob& blob, const Call& call);

  BlobStore& local_;
  BlobStore& writes_;
  Clock& clock_;
  const Options options_;
  CircuitBreaker breaker_;
  HedgedReads hedged_;
};

}  // namespace kiln::cache
