// SPDX-License-Identifier: MIT
// Adds memory to a store: a byte-bounded, least-recently-used copy of what passed through. Below a
// checked_store, so what it keeps was verified when it came in and is verified again on every hit.
// See spec/cache 5.3.
#pragma once

#include <optional>

#include "cache/store.h"
#include "compiler/base/cache_usage.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

// The deadline of calls that memory answers or nobody: nothing is read, built or waited for.
inline constexpr Deadline kAtOnce = Deadline::min();

// What such a call ends with when it would take more than memory.
Error NotAtOnce();

// Threads: see BlobStore; one mutex, held for look-ups only.
class MemoryStore final : public BlobStore, public DamageSink, public CountedCache {
 public:
  struct Options {
    uint64_t max_bytes = uint64_t{256} << 20;
  };

  // below may be null: then this is the whole store, and a Put is never durable. Damage reported to
  // this store is forgotten here and passed on to damage_below, which may be null.
  // Requires: below and damage_below outlive this.
  MemoryStore(BlobStore* below, DamageSink* damage_below, const Options& options)
      : below_(below), damage_below_(damage_below), options_(options) {}

  // Errors: also kDeadlineExceeded if the call is kAtOnce and memory does not have it.
  Result<Blob> Get(const Key& key, const Call& call) override;
  // Keeps the items when the store below took them, and also when it cannot take anything for now
  // (read-only, full, busy): then the answer is still the error of the store below.
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override;
  void Report(const Damage& damage) override;

  // Forgets everything; the store below is asked again.
  void Clear();

  uint64_t bytes() const;
  CacheUsage Usage() override;

 private:
  std::optional<Blob> Find(const Key& key, const Call& call);
  void Remember(const Key& key, const Blob& blob);
  void RememberAll(std::span<const Item> items);

  BlobStore* const below_;
  DamageSink* const damage_below_;
  const Options options_;
  mutable Mutex mutex_;
  LruMap<Key, Blob, KeyHash> blobs_ KILN_GUARDED_BY(mutex_);
  uint64_t hits_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::cache
