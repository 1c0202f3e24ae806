// SPDX-License-Identifier: MIT
// Adds counters and latency histograms to a store: calls by operation and result, which tell what
// is wrong with an upstream, and hits and bytes by level, which tell what a cache is worth. The
// names that they are shown under live in server/ops. See spec/cache 5.3, spec/daemon 13.2.
#pragma once

#include <array>
#include <atomic>

#include "cache/store.h"
#include "compiler/base/clock.h"

namespace kiln::cache {

// Bucket i counts calls that took less than 2^i µs and not less than half of that; the last one
// also everything longer.
inline constexpr size_t kLatencyBuckets = 24;

enum class StoreOp : uint8_t { kGet, kPut, kFindMissing };
inline constexpr uint32_t kStoreOpCount = 3;
// "get", "put", "find_missing"
std::string_view StoreOpName(StoreOp op);

enum class CallResult : uint8_t {
  kOk,           // there, or taken
  kMiss,         // not there: an answer like any other
  kUnavailable,  // no answer
  kDeadline,     // no answer in time
  kCancelled,    // the caller left
  kCorrupt,      // an answer that is not what was asked for
  kRefused,      // the other side does not take it: full, wrong, not allowed
};
inline constexpr uint32_t kCallResultCount = 7;
// "ok", "miss", …
std::string_view CallResultName(CallResult result);

// Calls by operation, then by result.
using CallCounts = std::array<std::array<uint64_t, kCallResultCount>, kStoreOpCount>;

struct LatencySnapshot {
  std::array<uint64_t, kLatencyBuckets> buckets{};
  uint64_t count = 0;
  uint64_t total_us = 0;
};

struct MetricsSnapshot {
  struct PerLevel {
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t failed_gets = 0;
    uint64_t put_items = 0;
    uint64_t hit_bytes = 0;
    uint64_t put_bytes = 0;
  };
  std::array<PerLevel, kLevelCount> levels{};
  uint64_t failed_puts = 0;  // calls
  uint64_t asked = 0;        // keys given to FindMissing
  uint64_t missing = 0;      // keys that it returned
  LatencySnapshot get;
  LatencySnapshot put;
};

// Threads: see BlobStore; atomic counters only.
class MetricsStore final : public BlobStore {
 public:
  // Requires: below and clock outlive this.
  MetricsStore(BlobStore& below, Clock& clock) : below_(below), clock_(clock) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

  // Counters may be ahead of each other by the calls in progress.
  MetricsSnapshot Snapshot() const;
  CallCounts Calls() const;

 private:
  using Counter = std::atomic<uint64_t>;
  struct PerLevel {
    Counter hits, misses, failed_gets, put_items, hit_bytes, put_bytes;
  };
  struct Latency {
    std::array<Counter, kLatencyBuckets> buckets;
    Counter total_us;

    void Record(Duration passed);
    LatencySnapshot Snapshot() const;
  };

  void Count(StoreOp op, const Error* error);

  BlobStore& below_;
  Clock& clock_;
  std::array<std::array<Counter, kCallResultCount>, kStoreOpCount> calls_{};
  std::array<PerLevel, kLevelCount> levels_{};
  Counter asked_{0};
  Counter missing_{0};
  Latency get_{};
  Latency put_{};
};

}  // namespace kiln::cache
