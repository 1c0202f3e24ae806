// SPDX-License-Identifier: MIT
// Counters without locks. It measures what callers of the store see: above everything else of the
// stack (spec/cache 5.4). Each counter is right by itself; a snapshot while others count may have a
// call in one and not yet in another.
#include "cache/decorators/metrics_store.h"

#include <algorithm>
#include <bit>

#include "compiler/base/check.h"

namespace kiln::cache {
namespace {

// A label needs few values: codes that differ only for a caller are one result here.
CallResult ResultOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return CallResult::kMiss;
    case ErrorCode::kUnavailable:
      return CallResult::kUnavailable;
    case ErrorCode::kDeadlineExceeded:
      return CallResult::kDeadline;
    case ErrorCode::kCancelled:
      return CallResult::kCancelled;
    case ErrorCode::kCorrupt:
      return CallResult::kCorrupt;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kAborted:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kUnimplemented:
    case ErrorCode::kInternal:
    case ErrorCode::kUnauthenticated:
      return CallResult::kRefused;
  }
  KILN_UNREACHABLE();
}

template <class T>
const Error* ErrorOf(const Result<T>& result) {
  return result.ok() ? nullptr : &result.error();
}

}  // namespace

// The names are values of labels: boards and alerts are written against them.
std::string_view StoreOpName(StoreOp op) {
  switch (op) {
    case StoreOp::kGet:
      return "get";
    case StoreOp::kPut:
      return "put";
    case StoreOp::kFindMissing:
      return "find_missing";
  }
  KILN_UNREACHABLE();
}

std::string_view CallResultName(CallResult result) {
  switch (result) {
    case CallResult::kOk:
      return "ok";
    case CallResult::kMiss:
      return "miss";
    case CallResult::kUnavailable:
      return "unavailable";
    case CallResult::kDeadline:
      return "deadline";
    case CallResult::kCancelled:
      return "cancelled";
    case CallResult::kCorrupt:
      return "corrupt";
    case CallResult::kRefused:
      return "refused";
  }
  KILN_UNREACHABLE();
}

// Time is counted in microseconds, and a latency of 0 is in the first bucket.
void MetricsStore::Latency::Record(Duration passed) {
  const auto us =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
  // Buckets double in width: bucket n has latencies below 2^n microseconds. Relaxed order is enough
  // for numbers that are only added up.
  const size_t bucket = std::min<size_t>(std::bit_width(us), kLatencyBuckets - 1);
  buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  total_us.fetch_add(us, std::memory_order_relaxed);
}

LatencySnapshot MetricsStore::Latency::Snapshot() const {
  LatencySnapshot snapshot{.total_us = total_us.load()};
  for (size_t i = 0; i < kLatencyBuckets; ++i) {
    snapshot.buckets[i] = buckets[i].load();
    // The count is the sum of what was read, so it fits the buckets even while others add.
    snapshot.count += snapshot.buckets[i];
  }
  return snapshot;
}

// Sequentially consistent by default; a call costs far more than the fence.
void MetricsStore::Count(StoreOp op, const Error* error) {
  const CallResult result = error == nullptr ? CallResult::kOk : ResultOf(*error);
  ++calls_[static_cast<size_t>(op)][static_cast<size_t>(result)];
}

// A miss is no failure: levels have a counter for each of the two.
Result<Blob> MetricsStore::Get(const Key& key, const Call& call) {
  const Duration start = clock_.Monotonic();
  Result<Blob> blob = below_.Get(key, call);
  get_.Record(clock_.Monotonic() - start);
  Count(StoreOp::kGet, ErrorOf(blob));
  PerLevel& level = levels_[static_cast<size_t>(key.level)];
  if (blob.ok()) {
    ++level.hits;
    // Bytes as they are stored, which is what the disk or the network had to give.
    level.hit_bytes += blob->bytes.size();
  } else {
    ++(blob.error().code == ErrorCode::kNotFound ? level.misses : level.failed_gets);
  }
  return blob;
}

// Items are counted only when they were taken; a put that failed is one failed call.
Result<PutResult> MetricsStore::Put(std::span<const Item> items, Durability durability,
                                    const Call& call) {
  const Duration start = clock_.Monotonic();
  Result<PutResult> stored = below_.Put(items, durability, call);
  put_.Record(clock_.Monotonic() - start);
  Count(StoreOp::kPut, ErrorOf(stored));
  if (!stored.ok()) {
    return stored;
  }
  for (const Item& item : items) {
    PerLevel& level = levels_[static_cast<size_t>(item.key.level)];
    ++level.put_items;
    level.put_bytes += item.value.bytes.size();
  }
  return stored;
}

// Its latency is not measured, since it depends on how many keys are asked for.
Result<std::vector<Key>> MetricsStore::FindMissing(std::span<const Key> keys, const Call& call) {
  Result<std::vector<Key>> missing = below_.FindMissing(keys, call);
  Count(StoreOp::kFindMissing, ErrorOf(missing));
  asked_ += keys.size();
  missing_ += missing.ok() ? missing->size() : 0;
  return missing;
}

// One after the other while others count: each number is right, their sum may be that of no moment.
CallCounts MetricsStore::Calls() const {
  CallCounts counts{};
  for (size_t op = 0; op < kStoreOpCount; ++op) {
    for (size_t result = 0; result < kCallResultCount; ++result) {
      counts[op][result] = calls_[op][result].load();
    }
  }
  return counts;
}

MetricsSnapshot MetricsStore::Snapshot() const {
  // Whatever is not kOk, so a result that is added to the enumeration counts as well.
  uint64_t failed_puts = 0;
  for (size_t result = static_cast<size_t>(CallResult::kOk) + 1; result < kCallResultCount;
       ++result) {
    failed_puts += calls_[static_cast<size_t>(StoreOp::kPut)][result].load();
  }
  MetricsSnapshot snapshot{.failed_puts = failed_puts,
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
