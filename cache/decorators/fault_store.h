// SPDX-License-Identifier: MIT
// Adds faults to a store, for tests of what is above it: failed calls, lost puts, torn and flipped
// bytes, by a plan that a seed fixes. See spec/cache 5.3.
#pragma once

#include <functional>
#include <random>

#include "cache/store.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

// Threads: see BlobStore; with several threads the seed fixes the faults but not who gets them.
class FaultStore final : public BlobStore {
 public:
  // Chances in 1000, per call.
  struct Plan {
    uint32_t seed = 1;
    uint32_t fail = 0;   // kUnavailable, nothing done
    uint32_t lose = 0;   // Put says it stored, and did not
    uint32_t tear = 0;   // Get gives a beginning of the bytes
    uint32_t flip = 0;   // Get gives bytes with one bit changed
    uint32_t delay = 0;  // on_delay is called first
    std::function<void()> on_delay = [] {};
  };

  // Requires: below outlives this.
  FaultStore(BlobStore& below, Plan plan)
      : below_(below), plan_(std::move(plan)), random_(plan_.seed) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

 private:
  // Below `bound`.
  uint32_t Random(uint32_t bound);
  bool Happens(uint32_t chance) { return chance > 0 && Random(1000) < chance; }
  Result<void> MaybeFail();

  BlobStore& below_;
  const Plan plan_;
  Mutex mutex_;
  std::mt19937 random_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
