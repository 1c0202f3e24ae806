// SPDX-License-Identifier: MIT
// Adds counts of calls, by operation and result, to a store that may fail: an upstream. The names
// that they are shown under live in server/ops. Spec: cache §5.3, daemon §13.2
#pragma once

#include <array>
#include <atomic>

#include "cache/store.h"

namespace kiln::cache {

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

// Threads: see BlobStore; atomic counters only.
class CountedStore final : public BlobStore {
 public:
  // Requires: below outlives this.
  explicit CountedStore(BlobStore& below) : below_(below) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<Stored> Put(std::span<const Item> items, Durability durability, const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

  CallCounts Counts() const;

 private:
  void Count(StoreOp op, const Error* error);

  BlobStore& below_;
  std::array<std::array<std::atomic<uint64_t>, kCallResultCount>, kStoreOpCount> counts_{};
};

}  // namespace kiln::cache
