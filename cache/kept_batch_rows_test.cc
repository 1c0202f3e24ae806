// SPDX-License-Identifier: MIT
#include "cache/kept_batch_rows.h"

#include <atomic>

#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"

namespace kiln::cache {
namespace {

// A disk that is full for a while.
class FullRows final : public BatchRows {
 public:
  Result<void> Put(const BatchRow& row) override {
    if (full) {
      return Error{.code = ErrorCode::kFull, .context = "full", .reason = "CACHE_FULL"};
    }
    return rows.Put(row);
  }
  Result<BatchRow> Get(const Hash128& id) override { return rows.Get(id); }
  Result<std::vector<BatchRow>> List(const std::optional<Hash128>& after, uint32_t limit) override {
    return rows.List(after, limit);
  }
  Result<void> Remove(const Hash128& id) override { return rows.Remove(id); }

  MemoryBatchRows rows;
  std::atomic<bool> full = false;
};

const Hash128 kOne = HashBytes(AsBytes("one"));
const Hash128 kTwo = HashBytes(AsBytes("two"));

BatchRow Row(const Hash128& id, uint32_t state) { return {.id = id, .state = state}; }

TEST(KeptBatchRows, WhatAFullStoreDidNotTake_IsSaidAndPutWhenThereIsRoom) {
  FullRows below;
  KeptBatchRows rows(below, std::chrono::milliseconds(2));
  ASSERT_TRUE(rows.Put(Row(kOne, 1)).ok());
  below.full = true;
  EXPECT_EQ(rows.Put(Row(kOne, 5)).error().reason, "CACHE_FULL");
  EXPECT_EQ(rows.Put(Row(kOne, 6)).error().reason, "CACHE_FULL");
  EXPECT_TRUE(rows.Waits(kOne));
  EXPECT_FALSE(rows.Waits(kTwo));
  EXPECT_EQ(rows.Get(kOne)->state, 6U);
  EXPECT_EQ(below.Get(kOne)->state, 1U);
  below.full = false;
  EXPECT_TRUE(WaitUntil([&] { return !rows.Waits(kOne); }));
  EXPECT_EQ(below.Get(kOne)->state, 6U) << "the latest";
}

TEST(KeptBatchRows, WhatIsTakenOrRemovedMeanwhile_WaitsNoMore) {
  FullRows below;
  {
    KeptBatchRows rows(below, std::chrono::hours(1));
    below.full = true;
    EXPECT_FALSE(rows.Put(Row(kOne, 2)).ok());
    EXPECT_FALSE(rows.Put(Row(kTwo, 2)).ok());
    below.full = false;
    EXPECT_TRUE(rows.Put(Row(kOne, 3)).ok());
    EXPECT_FALSE(rows.Waits(kOne));
    EXPECT_TRUE(rows.Remove(kTwo).ok());
    EXPECT_FALSE(rows.Waits(kTwo));
  }
  EXPECT_EQ(below.Get(kOne)->state, 3U);
  EXPECT_FALSE(below.Get(kTwo).ok());
}

TEST(KeptBatchRows, WhatWaitsAtTheEnd_IsPutALastTime) {
  FullRows below;
  {
    KeptBatchRows rows(below, std::chrono::hours(1));
    below.full = true;
    EXPECT_FALSE(rows.Put(Row(kOne, 6)).ok());
    EXPECT_FALSE(rows.Put(Row(kTwo, 6)).ok());
    below.full = false;
  }
  EXPECT_EQ(below.Get(kOne)->state, 6U);
  EXPECT_EQ(below.Get(kTwo)->state, 6U);
}

}  // namespace
}  // namespace kiln::cache
