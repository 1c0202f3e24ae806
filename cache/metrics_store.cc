// SPDX-License-Identifier: MIT
// Counting.
#include "cache/metrics_store.h"

#include <algorithm>
#include <bit>

namespace kiln::cache {

void MetricsStore::Latency::Record(Duration passed) {
  const auto us =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
  const size_t bucket = std::min<size_t>(std::bit_width(us), kLatencyBuckets - 1);
  buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  total_us.fetch_add(us, std::memory_order_relaxed);
}

LatencySnapshot MetricsStore::Latency::Snapshot() const {
  LatencySnapshot snapshot{.total_us = total_us.load()};
  for (size_t i = 0; i < kLatencyBuckets; ++i) {
    snapshot.buckets[i] = buckets[i].load();
    snapshot.count += snapshot.buckets[i];
  }
  return snapshot;
}

Result<Blob> MetricsStore::Get(const Key& key, const Call& call) {
  const Duration start = clock_.Monotonic();
  Result<Blob> blob = below_.Get(key, call);
  get_.Record(clock_.Monotonic() - start);
  PerLevel& level = levels_[static_cast<size_t>(key.level)];
  if (blob.ok()) {
    ++level.hits;
    level.hit_bytes += blob->bytes.size();
  } else {
    ++(blob.error().code == ErrorCode::kNotFound ? level.misses : level.failed_gets);
  }
  return blob;
}

Result<Stored> MetricsStore::Put(std::span<const Item> items, Durability durability,
                                 const Call& call) {
  const Duration start = clock_.Monotonic();
  Result<Stored> stored = below_.Put(items, durability, call);
  put_.Record(clock_.Monotonic() - start);
  if (!stored.ok()) {
    ++failed_puts_;
    return stored;
  }
  for (const Item& item : items) {
    PerLevel& level = levels_[static_cast<size_t>(item.key.level)];
    ++level.put_items;
    level.put_bytes += item.value.bytes.size();
  }
  return stored;
}

Result<std::vector<Key>> MetricsStore::FindMissing(std::span<const Key> keys, const Call& call) {
  Result<std::vector<Key>> missing = below_.FindMissing(keys, call);
  asked_ += keys.size();
  missing_ += missing.ok() ? missing->size() : 0;
  return missing;
}

MetricsSnapshot MetricsStore::Snapshot() const {
  MetricsSnapshot snapshot{.failed_puts = failed_puts_.load(),
                           .asked = asked_.load(),
                           .missing = missing_.load(),
                           .get = get_.Snapshot(),
                           .put = put_.Snapshot()};
  for (size_t i = 0; i < kLevelCount; ++i) {
    const PerLevel& level = levels_[i];
    snapshot.levels[i] = {.hits = level.hits.load(),
                          .misses = level.misses.load(),
                          .failed_gets = level.failed_gets.load(),
                          .put_items = level.put_items.load(),
                          .hit_bytes = level.hit_bytes.load(),
                          .put_bytes = level.put_bytes.load()};
  }
  return snapshot;
}

}  // namespace kiln::cache
