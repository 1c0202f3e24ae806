// SPDX-License-Identifier: MIT
// Adds to a store that may fail, an upstream, the memory of whether it answers, and of why not.
// See spec/cache 7.4
#pragma once

#include <array>
#include <optional>

#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

// Threads: see BlobStore.
class LastErrorStore final : public BlobStore {
 public:
  enum Kind : uint8_t { kReads, kWrites, kKinds };
  struct Failure {
    Error error;          // of the last call
    int64_t since_s = 0;  // Unix: when the first of those in a row failed
  };

  // Requires: both outlive this.
  LastErrorStore(BlobStore& below, Clock& clock) : below_(below), clock_(clock) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

  // How a call went that asked only for this; it counts as a read.
  void Note(const Result<void>& answer);

  // Whether anybody got an answer, or none, so far.
  bool asked();
  // Why the last call of that kind got no answer; nothing if it got one. That something is not
  // there, is wrong or does not fit is an answer.
  std::optional<Failure> failure(Kind kind);

 private:
  void Note(Kind kind, const Error* error);

  BlobStore& below_;
  Clock& clock_;
  Mutex mutex_;
  bool asked_ KILN_GUARDED_BY(mutex_) = false;
  std::array<std::optional<Failure>, kKinds> failures_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
