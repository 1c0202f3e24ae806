// SPDX-License-Identifier: MIT
#include "cache/sqlite/tables/record_counts.h"

#include <thread>

#include <gtest/gtest.h>

#include "cache/record.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"

namespace kiln::cache::sqlite {
namespace {

class RecordCountsTest : public testing::Test {
 protected:
  RecordCountsTest() { store = *SqliteStore::Open({.dir = directory.path()}, clock, log); }

  // `results` records with content of their own and two aliases each, `masks` masks.
  void Put(int results, int masks) {
    std::vector<Item> items;
    for (int i = 0; i < results; ++i) {
      const std::string text = "result " + std::to_string(i);
      const Hash128 id = HashBytes(AsBytes(text));
      Record record;
      record.products.push_back({.name = "meta", .digest = DigestOf(AsBytes(text))});
      items.push_back(ContentItem(CopiedBlob(AsBytes(text))));
      items.push_back(RecordItem(Level::kSignature, 0, id, record));
      items.push_back(AliasItem(0, HashBytes(AsBytes(text + " a")), id));
      items.push_back(AliasItem(0, HashBytes(AsBytes(text + " b")), id));
    }
    for (int i = 0; i < masks; ++i) {
      const std::vector<std::string> names{"option"};
      items.push_back(MaskItem(0, HashBytes(AsBytes("mask " + std::to_string(i))), names));
    }
    ASSERT_TRUE(store->Put(items, Durability::kDurable, {}).ok());
  }
  RecordCounts Count(const std::stop_token& stop = {}) {
    Result<ReaderPool::Loan> reader = store->Read({});
    const Result<RecordCounts> counts = CountRecords(reader->connection(), stop);
    EXPECT_TRUE(counts.ok());
    return counts.ok() ? *counts : RecordCounts{};
  }

  TestDirectory directory;
  SystemClock clock;
  NullLog log;
  std::unique_ptr<SqliteStore> store;
};

// content, module, mask, signature, recipe, alias
TEST_F(RecordCountsTest, RowsOfEveryLevel_AreCountedOnce) {
  EXPECT_EQ(Count(), RecordCounts{});
  Put(3, 2);
  EXPECT_EQ(Count(), (RecordCounts{3, 0, 2, 3, 0, 6}));
  Put(3, 2);  // the same
  EXPECT_EQ(Count(), (RecordCounts{3, 0, 2, 3, 0, 6}));
}

TEST_F(RecordCountsTest, MoreThanAPage_IsCountedWhole) {
  Put(11'000, 10'000);
  EXPECT_EQ(Count(), (RecordCounts{11'000, 0, 10'000, 11'000, 0, 22'000}));
}

TEST_F(RecordCountsTest, Stopped_CountsNoFurther) {
  Put(3, 2);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Count(stop.get_token()), RecordCounts{});
}

TEST_F(RecordCountsTest, WhoAsks_GetsWhatWasCountedInTheBackground) {
  Put(3, 2);
  EXPECT_EQ(store->Records(), std::nullopt);  // nobody asked before
  std::optional<RecordCounts> counts;
  EXPECT_TRUE(WaitUntil([&] {
    counts = store->Records();
    return counts.has_value();
  }));
  EXPECT_EQ(counts, (RecordCounts{3, 0, 2, 3, 0, 6}));
}

}  // namespace
}  // namespace kiln::cache::sqlite
