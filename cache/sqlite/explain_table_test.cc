// SPDX-License-Identifier: MIT
#include "cache/sqlite/explain_table.h"

#include <gtest/gtest.h>

#include "cache/sqlite/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

class ExplainTableTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> Open() {
    return *SqliteStore::Open({.dir = directory_.path(), .writer = {.group_wait = {}}}, clock_,
                              log_);
  }
  static ExplainRecord At(int64_t at_ms) {
    ExplainRecord record;
    record.at_ms = at_ms;
    return record;
  }

  TestDirectory directory_;
  FakeClock clock_;
  NullLog log_;
  const ExplainSlot rock_{.project = "demo", .program = "rock/forward", .target = "vk"};
};

TEST_F(ExplainTableTest, Records_AreKeptPerSlotOldestFirstAndOverARestart) {
  {
    const auto store = Open();
    ExplainTable table(*store);
    table.Append(rock_, At(1));
    table.Append({.project = "demo", .program = "rock/shadow", .target = "vk"}, At(2));
    table.Append(rock_, At(3));
    ASSERT_TRUE(store->Flush().ok());
  }
  const auto store = Open();
  const std::vector<ExplainRecord> records = *ExplainTable(*store).Records(rock_);
  EXPECT_EQ(records, (std::vector<ExplainRecord>{At(1), At(3)}));
  EXPECT_TRUE(
      ExplainTable(*store)
          .Records({.space = 1, .project = "demo", .program = "rock/forward", .target = "vk"})
          ->empty());
}

TEST_F(ExplainTableTest, FullSlot_LosesItsOldest) {
  const auto store = Open();
  ExplainTable table(*store);
  for (int64_t i = 0; i < int64_t{kExplainPerSlot} + 10; ++i) {
    table.Append(rock_, At(i));
  }
  ASSERT_TRUE(store->Flush().ok());
  const std::vector<ExplainRecord> records = *table.Records(rock_);
  ASSERT_EQ(records.size(), kExplainPerSlot);
  EXPECT_EQ(records.front(), At(10));
  EXPECT_EQ(records.back(), At(kExplainPerSlot + 9));
}

TEST_F(ExplainTableTest, TooManySlots_LoseOneAndTheNewOneIsThere) {
  const auto store = Open();
  ExplainTable table(*store);
  for (int i = 0; i < 20; ++i) {
    table.Append({.program = std::to_string(i)}, At(i));
  }
  ASSERT_TRUE(store
                  ->Write(
                      [](Changes& changes) {  // as if there were as many as there may be
                        return changes.connection().Execute(
                            "UPDATE meta SET v=100000 WHERE k='explain_slots'");
                      },
                      {})
                  .ok());
  table.Append(rock_, At(99));
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(table.Records(rock_)->size(), 1u);
  int left = 0;
  for (int i = 0; i < 20; ++i) {
    left += table.Records({.program = std::to_string(i)})->empty() ? 0 : 1;
  }
  EXPECT_EQ(left, 19);
}

}  // namespace
}  // namespace kiln::cache::sqlite
