// SPDX-License-Identifier: MIT
#include "cache/sqlite/tables/explain_table.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

class ExplainTableTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> Open() {
    return *SqliteStore::Open({.dir = directory.path(), .writer = {.group_wait = {}}}, clock, log);
  }
  static ExplainRecord At(const ExplainSlot& slot, int64_t at_ms) {
    ExplainRecord record;
    record.seq = static_cast<uint64_t>(at_ms);
    record.slot = slot;
    record.at_ms = at_ms;
    return record;
  }
  static void Append(ExplainTable& table, const ExplainRecord& record) {
    const auto row = std::make_shared<const ExplainRecord>(record);
    table.Append(std::span(&row, 1));
  }

  TestDirectory directory;
  FakeClock clock;
  NullLog log;
  const ExplainSlot rock{.project = "demo", .program = "rock/forward", .target = "vk"};
};

TEST_F(ExplainTableTest, Records_AreKeptPerSlotOldestFirstAndOverARestart) {
  {
    const auto store = Open();
    ExplainTable table(*store);
    Append(table, At(rock, 1));
    Append(table, At({.project = "demo", .program = "rock/shadow", .target = "vk"}, 2));
    Append(table, At(rock, 3));
    ASSERT_TRUE(store->Flush().ok());
  }
  const auto store = Open();
  EXPECT_EQ(ExplainTable(*store).NextSeq(), 4u);
  const std::vector<ExplainRecord> records = *ExplainTable(*store).Records(rock);
  EXPECT_EQ(records, (std::vector<ExplainRecord>{At(rock, 1), At(rock, 3)}));
  EXPECT_TRUE(
      ExplainTable(*store)
          .Records({.space = 1, .project = "demo", .program = "rock/forward", .target = "vk"})
          ->empty());
}

TEST_F(ExplainTableTest, ManyAtOnce_LeaveTheLatestOfEachSlot) {
  const auto store = Open();
  ExplainTable table(*store);
  const ExplainSlot shadow{.project = "demo", .program = "rock/shadow", .target = "vk"};
  std::vector<std::shared_ptr<const ExplainRecord>> records;
  for (int64_t i = 1; i <= 200; ++i) {
    records.push_back(std::make_shared<const ExplainRecord>(At(i % 10 == 0 ? shadow : rock, i)));
  }
  table.Append(records);
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(table.NextSeq(), 201u);
  EXPECT_EQ(table.Records(shadow)->size(), 20u);
  const std::vector<ExplainRecord> kept = *table.Records(rock);
  ASSERT_EQ(kept.size(), kExplainPerSlot);
  EXPECT_EQ(kept.back(), At(rock, 199));
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &ExplainRecord::seq));
}

TEST_F(ExplainTableTest, Find_GivesTheLatestRecordOfAResult) {
  const auto store = Open();
  ExplainTable table(*store);
  EXPECT_EQ(table.NextSeq(), 1u);
  const Hash128 wanted = DigestOf("wanted").id;
  for (int64_t i = 1; i <= 5; ++i) {
    ExplainRecord record = At({.program = std::to_string(5 - i)}, i);
    record.signature = i == 2 || i == 4 ? wanted : DigestOf("other").id;
    record.detail = i == 5 ? "names it only" : "";
    Append(table, record);
  }
  ASSERT_TRUE(store->Flush().ok());
  const std::optional<ExplainRecord> found = *table.Find(wanted, {});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->seq, 4u);
  EXPECT_EQ(found->slot.program, "1");
  EXPECT_FALSE(table.Find(DigestOf("nobody's").id, {})->has_value());
}

TEST_F(ExplainTableTest, Each_GivesEveryRecordOfEverySlot) {
  const auto store = Open();
  ExplainTable table(*store);
  for (int64_t i = 1; i <= 5; ++i) {
    Append(table, At(i % 2 == 0 ? rock : ExplainSlot{.program = std::to_string(i)}, i));
  }
  ASSERT_TRUE(store->Flush().ok());
  uint64_t sum = 0;
  ASSERT_TRUE(table.Each({}, [&](const ExplainRecord& record) { sum += record.seq; }).ok());
  EXPECT_EQ(sum, 15u);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(table.Each(stopped.get_token(), [](const ExplainRecord&) {}).error().code,
            ErrorCode::kCancelled);
}

TEST_F(ExplainTableTest, FullSlot_LosesItsOldest) {
  const auto store = Open();
  ExplainTable table(*store);
  for (int64_t i = 0; i < int64_t{kExplainPerSlot} + 10; ++i) {
    Append(table, At(rock, i));
  }
  ASSERT_TRUE(store->Flush().ok());
  const std::vector<ExplainRecord> records = *table.Records(rock);
  ASSERT_EQ(records.size(), kExplainPerSlot);
  EXPECT_EQ(records.front(), At(rock, 10));
  EXPECT_EQ(records.back(), At(rock, kExplainPerSlot + 9));
}

// Names and paths are the sender's, and no collection takes these rows.
TEST_F(ExplainTableTest, TooManyBytes_LoseSlotsAndTheNewOneIsThere) {
  const auto store = Open();
  constexpr size_t kSize = 10'000;
  ExplainTable table(*store, 20 * (kSize + 1000));
  const auto bytes = [&] {
    uint64_t sum = 0;
    EXPECT_TRUE(table.Each({}, [&](const ExplainRecord& row) { sum += row.detail.size(); }).ok());
    return sum;
  };
  for (int i = 0; i < 300; ++i) {
    ExplainRecord record = At({.program = std::to_string(i % 70)}, i);
    record.detail = std::string(i == 150 ? 30 * kSize : kSize, 'd');
    Append(table, record);
    ASSERT_TRUE(store->Flush().ok());
    EXPECT_EQ(table.Records(record.slot)->empty(), i == 150) << i;
    ASSERT_LE(bytes(), 20 * (kSize + 1000));
  }
  EXPECT_GT(bytes(), 10 * kSize);
}

// Records are of use, and results are of more: a full cache takes none beside those that it has.
TEST_F(ExplainTableTest, InAFullCache_RecordsTakeThePlaceOfOthers) {
  const auto store = Open();
  constexpr uint64_t kCache = uint64_t{4} << 20;
  constexpr size_t kSize = 40'000;
  ExplainTable table(*store, uint64_t{64} << 20, kCache);
  for (int i = 0; i < 200; ++i) {
    ExplainRecord record = At({.program = std::to_string(i)}, i);
    record.detail = std::string(kSize, 'd');
    Append(table, record);
    ASSERT_TRUE(store->Flush().ok());
    EXPECT_FALSE(table.Records(record.slot)->empty()) << i;
  }
  EXPECT_GT(store->UsedBytes(), kCache / 2);
  EXPECT_LT(store->UsedBytes(), kCache + kCache / 8);
}

TEST_F(ExplainTableTest, TooManySlots_LoseOneAndTheNewOneIsThere) {
  const auto store = Open();
  ExplainTable table(*store);
  for (int i = 0; i < 20; ++i) {
    Append(table, At({.program = std::to_string(i)}, i));
  }
  ASSERT_TRUE(store
                  ->Write(
                      [](TableWrites& writes) {  // as if there were as many as there may be
                        return writes.connection().Execute(
                            "UPDATE meta SET v=100000 WHERE k='explain_slots'");
                      },
                      {})
                  .ok());
  Append(table, At(rock, 99));
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(table.Records(rock)->size(), 1u);
  int left = 0;
  for (int i = 0; i < 20; ++i) {
    left += table.Records({.program = std::to_string(i)})->empty() ? 0 : 1;
  }
  EXPECT_EQ(left, 19);
}

}  // namespace
}  // namespace kiln::cache::sqlite
