// SPDX-License-Identifier: MIT
// Batch rows, leases, pins, and what eviction does about the latter two.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "cache/record.h"
#include "cache/sqlite/tables/batch_table.h"
#include "cache/sqlite/tables/lease_tables.h"
#include "compiler/base/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

Hash128 Id(std::string_view text) { return HashBytes(AsBytes(text)); }

class SqliteTablesTest : public testing::Test {
 protected:
  // A record with `size` bytes of content of its own.
  Key PutRecord(const std::string& name, size_t size, uint64_t cost_us = 1000) {
    const Item content = ContentItem(CopiedBlob(AsBytes(name + std::string(size, 'x'))));
    const Item record =
        RecordItem(Level::kSignature, 0, Id(name),
                   {.products = {{"meta", DigestOf(content.value.bytes)}}, .cpu_us = cost_us});
    const std::vector<Item> items = {content, record};
    EXPECT_TRUE(store->Put(items, Durability::kDurable, {}).ok());
    return record.key;
  }

  void CollectTo(uint64_t target) {
    clock.Advance(std::chrono::seconds(11));  // past the pause after a collection
    store->StartCollecting(target);
    // Slices run between groups, so a few writes later the collection is over.
    for (int i = 0; i < 400; ++i) {
      EXPECT_TRUE(store->Flush().ok());
    }
  }

  bool Has(const Key& key) { return store->Get(key, {}).ok(); }

  TestDirectory directory;
  FakeClock clock;
  NullLog log;
  std::unique_ptr<SqliteStore> store = *SqliteStore::Open(
      {.dir = directory.path(), .writer = {.group_wait = Duration::zero()}}, clock, log);
};

TEST_F(SqliteTablesTest, BatchRows_AreReplacedListedAndRemoved) {
  BatchTable table(*store);
  std::vector<BatchRow> rows;
  for (const std::string_view name : {"a", "b", "c"}) {
    rows.push_back({.id = Id(name), .spec = Bytes(3), .state = 1, .counts = Bytes(1)});
    ASSERT_TRUE(table.Put(rows.back()).ok());
  }
  rows[1].state = 4;
  rows[1].updated_s = 77;
  ASSERT_TRUE(table.Put(rows[1]).ok());
  EXPECT_EQ(*table.Get(rows[1].id), rows[1]);
  std::ranges::sort(rows, {}, &BatchRow::id);
  EXPECT_EQ(*table.List(std::nullopt, 10), rows);
  EXPECT_EQ(*table.List(rows[0].id, 1), std::vector<BatchRow>{rows[1]});
  ASSERT_TRUE(table.Remove(rows[0].id).ok());
  EXPECT_EQ(table.Get(rows[0].id).error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteTablesTest, BatchRows_SurviveARestart) {
  const BatchRow row{.id = Id("a"), .spec = Bytes(3), .state = 2};
  ASSERT_TRUE(BatchTable(*store).Put(row).ok());
  store.reset();
  store = *SqliteStore::Open({.dir = directory.path()}, clock, log);
  EXPECT_EQ(*BatchTable(*store).Get(row.id), row);
}

TEST_F(SqliteTablesTest, Collection_TakesTheLeastRecentlyUsedFirst) {
  const Key old = PutRecord("old", 400'000);
  const Key used = PutRecord("used", 400'000);
  clock.Advance(std::chrono::hours(1));
  const Key fresh = PutRecord("fresh", 400'000);
  EXPECT_TRUE(Has(used));  // which is a touch
  clock.Advance(std::chrono::hours(1));
  CollectTo(store->UsedBytes() - 300'000);
  EXPECT_FALSE(Has(old));
  EXPECT_TRUE(Has(used));
  EXPECT_TRUE(Has(fresh));
  EXPECT_EQ(store->Status().evicted, 1u);
}

TEST_F(SqliteTablesTest, Collection_TakesCheapBytesFirstWithinAQuantum) {
  const Key dear = PutRecord("dear", 400'000, 1'000'000);
  const Key cheap = PutRecord("cheap", 400'000, 1);
  clock.Advance(std::chrono::hours(1));
  CollectTo(store->UsedBytes() - 300'000);
  EXPECT_FALSE(Has(cheap));
  EXPECT_TRUE(Has(dear));
}

TEST_F(SqliteTablesTest, Collection_SparesTheYoung) {
  const Key young = PutRecord("young", 400'000);
  CollectTo(0);
  EXPECT_TRUE(Has(young));
}

TEST_F(SqliteTablesTest, Collection_SparesWhatALeaseCoversUntilItEnds) {
  LeaseTable leases(*store);
  const Key before = PutRecord("before", 400'000);
  clock.Advance(std::chrono::hours(1));
  ASSERT_TRUE(leases.Hold("batch 1").ok());
  const Key during = PutRecord("during", 400'000);
  for (int i = 0; i < 12; ++i) {
    clock.Advance(std::chrono::minutes(10));
    ASSERT_TRUE(leases.Hold("batch 1").ok());
  }
  CollectTo(0);
  EXPECT_FALSE(Has(before));
  EXPECT_TRUE(Has(during));  // renewed this once more: the read was a touch
  ASSERT_TRUE(leases.Release("batch 1").ok());
  clock.Advance(std::chrono::hours(1));
  CollectTo(0);
  EXPECT_FALSE(Has(during));
}

TEST_F(SqliteTablesTest, Pin_KeepsItsOwner) {
  PinTable pins(*store);
  const std::vector<Key> keys = {PutRecord("pinned", 100)};
  ASSERT_TRUE(pins.Add({.name = "a", .owner = "tenant:a"}, keys).ok());
  ASSERT_TRUE(pins.Add({.name = "a", .note = "more", .owner = "tenant:b"}, keys).ok());
  ASSERT_TRUE(pins.Add({.name = "b"}, keys).ok());
  EXPECT_EQ(pins.List()->at(0).owner, "tenant:a");
  EXPECT_EQ(pins.List()->at(1).owner, "owner");
  EXPECT_EQ(pins.RemoveOf("a", "tenant:b").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(pins.List()->at(0).records, 1u);
  EXPECT_TRUE(pins.RemoveOf("a", "tenant:a").ok());
  EXPECT_TRUE(pins.RemoveOf("b", {}).ok());
  EXPECT_TRUE(pins.List()->empty());
}

TEST_F(SqliteTablesTest, Collection_SparesPinsUntilTheyGo) {
  PinTable pins(*store);
  const Key pinned = PutRecord("pinned", 400'000);
  const Key other = PutRecord("other", 400'000);
  const std::vector<Key> keys = {pinned, {.level = Level::kSignature, .id = Id("absent")}};
  ASSERT_EQ(*pins.Add({.name = "release", .note = "why"}, keys), 1u);
  clock.Advance(std::chrono::hours(1));
  CollectTo(0);
  EXPECT_TRUE(Has(pinned));
  EXPECT_FALSE(Has(other));
  ASSERT_EQ(pins.List()->size(), 1u);
  EXPECT_EQ(pins.List()->front().records, 1u);
  ASSERT_TRUE(pins.Remove("release").ok());
  EXPECT_EQ(pins.Remove("release").error().code, ErrorCode::kNotFound);
  clock.Advance(std::chrono::hours(2));
  CollectTo(0);
  EXPECT_FALSE(Has(pinned));
}

TEST_F(SqliteTablesTest, Collection_TakesExpiredPoisonFirst) {
  const Item poison =
      RecordItem(Level::kSignature, 0, Id("p"), Record{.kind = RecordKind::kPoison});
  ASSERT_TRUE(store->Put(std::span(&poison, 1), Durability::kDurable, {}).ok());
  clock.Advance(std::chrono::hours(25));
  CollectTo(store->UsedBytes());  // nothing else has to go
  EXPECT_EQ(store->Status().evicted, 1u);
}

TEST_F(SqliteTablesTest, ContentReportedPresent_IsNotCollected) {
  const Item orphan = ContentItem(CopiedBlob(AsBytes("orphan")));
  ASSERT_TRUE(store->Put(std::span(&orphan, 1), Durability::kDurable, {}).ok());
  clock.Advance(std::chrono::minutes(30));
  ASSERT_TRUE(store->FindMissing(std::vector<Key>{orphan.key}, {})->empty());
  store->StartScan();
  CollectTo(0);
  EXPECT_TRUE(Has(orphan.key));
  clock.Advance(std::chrono::hours(1));
  store->StartScan();
  CollectTo(0);
  EXPECT_FALSE(Has(orphan.key));
}

// Whoever asks every minute has it kept for an hour from when it was put, be it known who sent it
// or not.
TEST_F(SqliteTablesTest, ContentReportedPresentAgainAndAgain_IsKeptForAnHour) {
  const std::vector<Item> orphans = {ContentItem(CopiedBlob(AsBytes("small"))),
                                     ContentItem(CopiedBlob(AsBytes(std::string(5000, 'x'))))};
  const std::vector<Key> keys = {orphans[0].key, orphans[1].key};
  ASSERT_TRUE(store->sent_room().Admit("token:a", std::span(&orphans[0], 1), {}).ok());
  ASSERT_TRUE(store->Put(orphans, Durability::kDurable, {}).ok());
  EXPECT_EQ(store->sent().Shares().size(), 2u);
  for (int minute = 0; minute < 59; ++minute) {
    clock.Advance(std::chrono::minutes(1));
    store->StartScan();
    ASSERT_TRUE(store->Flush().ok());
    ASSERT_TRUE(store->FindMissing(keys, {})->empty()) << minute;
  }
  clock.Advance(std::chrono::minutes(2));
  EXPECT_TRUE(store->FindMissing(keys, {})->empty());
  store->StartScan();
  CollectTo(0);
  EXPECT_EQ(store->FindMissing(keys, {})->size(), 2u);
  EXPECT_TRUE(store->sent().empty());
}

// A full table of leases takes no more, so that nobody keeps the whole store by asking for much.
TEST_F(SqliteTablesTest, MoreLeasesThanThereIsRoomFor_KeepNothingElse) {
  constexpr size_t kMostLeased = 262'144;
  std::vector<AccessTimes::KeyLease> many;
  for (uint32_t i = 0; i <= kMostLeased; ++i) {
    many.push_back({.key = {.space = i, .id = Id("one")}, .until_s = 600});
  }
  AccessTimes times;
  times.Lease(many, 0);
  EXPECT_TRUE(times.IsLeased(many[kMostLeased - 1].key, 0));
  EXPECT_FALSE(times.IsLeased(many[kMostLeased].key, 0));
  EXPECT_FALSE(times.IsLeased({.id = Id("another")}, 0));
  times.Lease(std::vector<AccessTimes::KeyLease>{{.key = {.id = Id("later")}, .until_s = 1200}},
              600);
  EXPECT_TRUE(times.IsLeased({.id = Id("later")}, 600));
}

// A full store gives up what no record names, leased or young, of whoever has most; what a record
// names it does not touch.
TEST_F(SqliteTablesTest, RoomIsMade_OfWhoeverSentMost) {
  const Key record = PutRecord("record", 400'000);
  // Which would go after all that nobody names.
  ASSERT_TRUE(PinTable(*store).Add({.name = "keep"}, std::span(&record, 1)).ok());
  const auto sent = [this](const char* owner, char fill, size_t bytes) {
    std::mt19937 noise(static_cast<unsigned>(fill));
    Bytes content(bytes);
    std::ranges::generate(content, [&] { return static_cast<std::byte>(noise()); });
    const Item item = ContentItem(CopiedBlob(content));
    EXPECT_TRUE(store->sent_room().Admit(owner, std::span(&item, 1), {}).ok());
    EXPECT_TRUE(store->Put(std::span(&item, 1), Durability::kDurable, {}).ok());
    return item.key;
  };
  const Key small = sent("token:b", 'b', 100'000);
  const Key first = sent("token:a", '1', 400'000);
  const Key second = sent("token:a", '2', 400'000);
  ASSERT_TRUE(store->FindMissing(std::vector<Key>{first, second}, {})->empty());
  store->MakeRoom(store->UsedBytes() - 300'000, {});
  EXPECT_FALSE(Has(first));
  EXPECT_TRUE(Has(second));
  EXPECT_TRUE(Has(small));
  store->MakeRoom(0, {});
  EXPECT_FALSE(Has(second));
  EXPECT_FALSE(Has(small));
  EXPECT_TRUE(Has(record));
  EXPECT_TRUE(store->sent().empty());
}

TEST_F(SqliteTablesTest, SenderBeyondHisShare_IsRefusedUntilHisOwnMayGo) {
  store.reset();
  store = *SqliteStore::Open({.dir = directory.path(), .sent_bytes = 1000}, clock, log);
  const auto item = [](const char* name, size_t bytes) {
    return ContentItem(CopiedBlob(AsBytes(name + std::string(bytes - 1, 'x'))));
  };
  const auto send = [this](const char* owner, const Item& sent) -> Result<PutResult> {
    KILN_TRY_VOID(store->sent_room().Admit(owner, std::span(&sent, 1), {}));
    return store->Put(std::span(&sent, 1), Durability::kDurable, {});
  };
  const Item first = item("1", 500);
  ASSERT_TRUE(send("token:a", first).ok());
  const Result<PutResult> refused = send("token:a", item("2", 500));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kFull);
  EXPECT_EQ(refused.error().reason, "CACHE_FULL");
  EXPECT_TRUE(send("token:b", item("3", 200)).ok());
  EXPECT_TRUE(send("owner", item("4", 300)).ok());
  EXPECT_TRUE(Has(first.key));
  clock.Advance(std::chrono::minutes(10));
  EXPECT_TRUE(send("token:a", item("2", 500)).ok());
  EXPECT_FALSE(Has(first.key));
}

// Content counts for its sender until a record names it.
TEST_F(SqliteTablesTest, ContentThatIsNamed_CountsForNobody) {
  const Item content = ContentItem(CopiedBlob(AsBytes(std::string(5000, 'x'))));
  ASSERT_TRUE(store->sent_room().Admit("token:a", std::span(&content, 1), {}).ok());
  ASSERT_TRUE(store->Put(std::span(&content, 1), Durability::kDurable, {}).ok());
  EXPECT_EQ(store->sent().Of("token:a"), 40'961u);  // 10 GiB in 262,144 parts
  const Item record =
      RecordItem(Level::kSignature, 0, Id("named"),
                 {.products = {{"meta", DigestOf(content.value.bytes)}}, .cpu_us = 1});
  ASSERT_TRUE(store->Put(std::span(&record, 1), Durability::kDurable, {}).ok());
  EXPECT_TRUE(store->sent().empty());
  ASSERT_TRUE(PinTable(*store).Add({.name = "keep"}, std::span(&record.key, 1)).ok());
  store->MakeRoom(0, {});
  EXPECT_TRUE(Has(content.key));
}

TEST_F(SqliteTablesTest, FreedPages_GoBackToTheFileSystem) {
  for (int i = 0; i < 30; ++i) {
    PutRecord(std::to_string(i), 400'000);
  }
  const auto file_pages = [this] {
    ReaderPool::Loan reader = *store->Read({});
    return *reader.connection().QueryInt("PRAGMA page_count");
  };
  const int64_t before = file_pages();
  clock.Advance(std::chrono::hours(1));
  CollectTo(0);
  CollectTo(0);
  EXPECT_LT(file_pages(), before / 2);
}

}  // namespace
}  // namespace kiln::cache::sqlite
