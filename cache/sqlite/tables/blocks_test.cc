// SPDX-License-Identifier: MIT
// Content in blocks keeps every promise that content alone has: it is right or a miss, it goes when
// nobody names it and gives its bytes back, its damage is found, told from that of its neighbours,
// and mended.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "cache/compression/content_blocks.h"
#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/sqlite/maintenance/maintenance.h"
#include "cache/test_contents.h"
#include "compiler/base/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

constexpr uint64_t kContents = 40;

class BlocksTest : public testing::Test {
 protected:
  void Open(bool read_only = false) {
    store.reset();
    store = *SqliteStore::Open(
        {.dir = directory.path(), .writer = {.group_wait = {}}, .read_only = read_only}, clock,
        log);
  }
  void SetUp() override { Open(); }
  void BeginAnew() {
    store.reset();
    std::filesystem::remove_all(directory.path());
    Open();
  }

  static Item Code(uint64_t number) { return ContentItem(OwnedBlob(LikeCode(number))); }
  static Hash128 Id(uint64_t number) { return HashBytes(AsBytes(std::to_string(number))); }
  static Item Row(uint64_t number) {
    return RecordItem(Level::kSignature, 0, Id(number),
                      {.products = {{"code", DigestOf(LikeCode(number))}}});
  }
  static std::vector<Item> Items(uint64_t first, uint64_t end) {
    std::vector<Item> items;
    for (uint64_t number = first; number < end; ++number) {
      items.push_back(Code(number));
      items.push_back(Row(number));
    }
    return items;
  }
  // Together, so that they lie in blocks.
  void Put(uint64_t first, uint64_t end) {
    CompressingStore compressing(*store, *store, &store->dictionaries());
    ASSERT_TRUE(compressing.Put(Items(first, end), Durability::kDurable, {}).ok());
  }
  // Numbers of contents that are there; each is right.
  std::set<uint64_t> Right(uint64_t first = 0, uint64_t end = kContents) {
    CompressingStore compressing(*store, *store, &store->dictionaries());
    CheckedStore checked(compressing, *store);
    std::set<uint64_t> right;
    for (uint64_t number = first; number < end; ++number) {
      const Result<Blob> blob = checked.Get(Code(number).key, {});
      EXPECT_TRUE(!blob.ok() || AsText(blob->bytes) == AsText(LikeCode(number))) << number;
      if (blob.ok()) {
        right.insert(number);
      }
    }
    return right;
  }
  int64_t Int(std::string_view sql) { return *store->Read({})->connection().QueryInt(sql); }
  void Sql(const std::string& sql) {
    ASSERT_TRUE(
        store
            ->Write(
                [&sql](TableWrites& writes) { return writes.connection().Execute(sql.c_str()); },
                {})
            .ok())
        << sql;
  }
  // The record goes, and its content if it is past its grace.
  void Remove(uint64_t number) {
    const Result<void> removed = store->Write(
        [number](TableWrites& writes) -> Result<void> {
          KILN_TRY(const std::optional<StoredRow> row, writes.reads().FindRow(Row(number).key));
          if (!row.has_value()) {
            return Error{.code = ErrorCode::kNotFound};
          }
          KILN_TRY(const std::vector<int64_t> rids, writes.removals().RefsOf(row->eid));
          KILN_TRY_VOID(writes.removals().DropRecord(row->eid, RemovedBy::kCollection));
          return writes.removals().DropOrphans(rids, [](const Hash128&) { return false; });
        },
        {});
    ASSERT_TRUE(removed.ok()) << ErrorText(removed.error());
  }
  static std::set<std::string> KindsOf(const VerifyReport& report) {
    std::set<std::string> kinds;
    for (const Fault& fault : report.faults) {
      kinds.emplace(FaultKindName(fault.kind));
    }
    return kinds;
  }
  StoreMaintenance maintenance() { return {*store, clock}; }

  TestDirectory directory;
  FakeClock clock;
  NullLog log;
  std::unique_ptr<SqliteStore> store;
};

std::set<uint64_t> All() {
  std::set<uint64_t> all;
  for (uint64_t number = 0; number < kContents; ++number) {
    all.insert(number);
  }
  return all;
}

TEST_F(BlocksTest, ContentThatIsPutTogether_LiesInABlockAndIsReadFromIt) {
  Put(0, kContents);
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 1);
  EXPECT_EQ(Int("SELECT count(*) FROM blob WHERE codec=3 AND length(data)=0"), kContents);
  EXPECT_LT(Int("SELECT sum(length(data)) FROM block"), Int("SELECT sum(raw_size) FROM blob") / 4);
  for (const bool read_only : {false, true}) {
    Open(read_only);
    EXPECT_EQ(Right(), All());
    EXPECT_TRUE(maintenance().Verify({})->clean());
    EXPECT_TRUE(maintenance().Verify({.fast = true})->clean());
    EXPECT_EQ(maintenance().Verify({})->orphans, 0u);
  }
}

TEST_F(BlocksTest, ContentThatIsThere_IsNotPutAgainAndLeavesNoBlockBehind) {
  Put(0, kContents);
  Put(0, kContents);
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 1);
  Put(kContents - 4, kContents + 8);  // some are new: the block holds those
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 2);
  EXPECT_EQ(Right(0, kContents + 8).size(), kContents + 8);
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

TEST_F(BlocksTest, ContentThatGoes_GivesItsBytesBackAndLeavesTheRestRight) {
  Put(0, kContents);
  clock.Advance(std::chrono::hours(1));
  const int64_t whole = Int("SELECT length(data) FROM block");
  std::set<uint64_t> left = All();
  for (uint64_t number = 0; number < kContents; number += 3) {
    Remove(number);
    left.erase(number);
    EXPECT_EQ(Right(), left) << "without " << number;
    const int64_t raw = Int("SELECT sum(raw_size) FROM blob");
    EXPECT_LT(Int("SELECT raw_size FROM block") * 3, raw * 4 + 3) << "a quarter may be lost";
  }
  EXPECT_LT(Int("SELECT length(data) FROM block"), whole * 5 / 6);
  EXPECT_TRUE(maintenance().Verify({})->clean());
  for (const uint64_t number : left) {
    Remove(number);
  }
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 0);
  EXPECT_TRUE(Right().empty());
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

// A reader that has the block in memory from before it was written anew.
TEST_F(BlocksTest, BlockThatIsWrittenAnew_IsAnotherOneForReaders) {
  Put(0, kContents);
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(Right(), All());
  for (uint64_t number = 0; number < kContents; number += 2) {
    Remove(number);
  }
  const uint64_t damaged = store->Status().damage[static_cast<size_t>(DamageKind::kBlob)];
  EXPECT_EQ(Right().size(), kContents / 2);
  EXPECT_EQ(store->Status().damage[static_cast<size_t>(DamageKind::kBlob)], damaged);
}

// Numbers of rows are used again: the next block has the number of the one that went.
TEST_F(BlocksTest, BlockInThePlaceOfAnother_IsAnotherOneForReaders) {
  Put(0, 20);
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(Right(0, 20).size(), 20u);
  const int64_t number = Int("SELECT bid FROM block");
  for (uint64_t content = 0; content < 20; ++content) {
    Remove(content);
  }
  Put(20, 40);
  EXPECT_EQ(Int("SELECT bid FROM block"), number);
  EXPECT_EQ(Right(0, 40).size(), 20u);
}

struct Planted {
  std::string sql;
  std::set<std::string> kinds;
  uint64_t lost = 0;
  bool fast = false;  // whether the fast form finds it
};

TEST_F(BlocksTest, EveryPlantedFault_IsFoundAndMendedAndNothingGoodGoes) {
  const std::vector<Planted> rows = {
      {"UPDATE block SET data=zeroblob(length(data))", {"blob"}, kContents, true},
      {"UPDATE block SET data=substr(data, 1, 100)", {"blob"}, kContents, true},
      {"UPDATE block SET data=x''", {"blob"}, kContents, true},
      {"DELETE FROM block", {"blob"}, kContents, true},
      {"UPDATE block SET bid=9", {"blob", "block"}, kContents, true},
      {"UPDATE block SET raw_size=raw_size+1", {"block"}, 0, true},
      {"UPDATE block SET raw_size=1 << 40", {"block"}, 0, true},
      {"UPDATE block SET codec=0", {"block"}, 0, true},
      {"UPDATE block SET codec=2", {"block"}, 0, true},
      {"UPDATE block SET codec=3", {"block"}, 0, true},
      {"UPDATE block SET dict=7", {"block"}, 0, true},
      {"UPDATE block SET id=zeroblob(16)", {"block"}, 0, false},
      {"INSERT INTO block VALUES (9, zeroblob(16), 1, 0, 0, x'00')", {"block"}, 0, true},
      {"UPDATE blob SET at=at+1 WHERE rid=4", {"blob"}, 1, false},
      {"UPDATE blob SET at=1 << 40 WHERE rid=4", {"blob"}, 1, true},
      {"UPDATE blob SET at=-1 WHERE rid=4", {"blob"}, 1, true},
      {"UPDATE blob SET raw_size=raw_size-1 WHERE rid=4", {"blob", "record"}, 1, true},
      {"UPDATE blob SET raw_size=1 << 40 WHERE rid=4", {"blob", "record"}, 1, true},
      {"UPDATE blob SET block=0 WHERE rid=4", {"blob"}, 1, true},
      {"UPDATE blob SET block=99 WHERE rid=4", {"blob"}, 1, true},
      {"UPDATE blob SET codec=0 WHERE rid=4", {"blob"}, 1, true},
      {"UPDATE blob SET dict=7 WHERE rid=4", {"blob_size"}, 0, true},
      {"UPDATE blob SET sum=zeroblob(16) WHERE rid=4", {"blob_size"}, 0, false},
      {"UPDATE blob SET data=x'01' WHERE rid=4", {"blob_size"}, 0, true},
      {"DELETE FROM blob WHERE rid=4", {"dangling", "reference"}, 1, true},
      {"DROP INDEX blob_block", {"schema"}, 0, true},
  };
  for (const Planted& row : rows) {
    SCOPED_TRACE(row.sql);
    BeginAnew();
    Put(0, kContents);
    Sql(row.sql);
    Open();
    EXPECT_EQ(KindsOf(*maintenance().Verify({})), row.kinds);
    EXPECT_EQ(maintenance().Verify({.fast = true})->clean(), !row.fast);
    const Result<RepairReport> repaired = maintenance().Repair({});
    ASSERT_TRUE(repaired.ok()) << ErrorText(repaired.error());
    EXPECT_TRUE(repaired->after.clean()) << FaultText(repaired->after.faults.front());
    EXPECT_EQ(Right().size(), kContents - row.lost);
    EXPECT_EQ(Int("SELECT count(*) FROM entry"), int64_t{kContents} - int64_t(row.lost));
    Put(0, kContents);  // what is lost is made again
    EXPECT_EQ(Right(), All());
    EXPECT_TRUE(maintenance().Verify({})->clean());
  }
}

TEST_F(BlocksTest, DamageThatAReaderMeets_CostsWhatIsDamagedAndItsRecords) {
  Put(0, kContents);
  Sql("UPDATE blob SET at=at+4 WHERE rid=4");
  Open();
  EXPECT_EQ(Right().size(), kContents - 1);
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(Int("SELECT count(*) FROM quarantine WHERE what='blob'"), 1);
  EXPECT_EQ(Int("SELECT count(*) FROM entry"), kContents - 1);
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

// Whoever verifies looks at the file, whatever readers have in memory.
TEST_F(BlocksTest, DamageOfABlockThatIsInMemory_IsFound) {
  Put(0, kContents);
  EXPECT_EQ(Right(), All());
  Sql("UPDATE block SET data=zeroblob(length(data))");
  EXPECT_EQ(KindsOf(*maintenance().Verify({})), std::set<std::string>{"blob"});
  EXPECT_EQ(maintenance().Repair({})->lost.size(), kContents);
  EXPECT_TRUE(Right().empty());
}

// Healed by a put, without a reader in between.
TEST_F(BlocksTest, PutOfDamagedContent_HealsItAloneOrInANewBlock) {
  for (const uint64_t end : {uint64_t{1}, kContents}) {
    SCOPED_TRACE(end);
    BeginAnew();
    Put(0, kContents);
    Sql("UPDATE block SET data=zeroblob(length(data))");
    Open();
    Put(0, end);
    EXPECT_EQ(Right(0, end).size(), end);
    EXPECT_EQ(Int("SELECT count(*) FROM block"), 1) << "an empty one goes";
  }
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

TEST_F(BlocksTest, EachByteOfABlock_GivesTheRightBytesOrAMiss) {
  Put(0, kContents);
  const int64_t size = Int("SELECT length(data) FROM block");
  uint64_t misses = 0;
  for (int64_t at = 1; at <= size; at += 499) {
    Sql("UPDATE block SET data=CAST(substr(data, 1, " + std::to_string(at - 1) +
        ") || x'5a' || substr(data, " + std::to_string(at + 1) + ") AS BLOB)");
    Open();
    misses += kContents - Right().size();  // Right compares bytes
    ASSERT_TRUE(store->Flush().ok());
    Put(0, kContents);
    EXPECT_EQ(Right(), All());
  }
  EXPECT_GT(misses, 0u);
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

TEST_F(BlocksTest, LostDictionary_LosesTheBlocksThatNeedIt) {
  for (uint64_t number = 100; number < 200; ++number) {
    Put(number, number + 1);
  }
  ASSERT_EQ(store->Train()->size(), 1u);
  Put(0, kContents);
  EXPECT_EQ(Int("SELECT count(*) FROM block WHERE codec=2 AND dict<>0"), 1);
  EXPECT_EQ(Int("SELECT count(*) FROM blob WHERE codec=3 AND dict<>0"), kContents);
  EXPECT_TRUE(maintenance().Verify({})->clean());
  Sql("UPDATE dict SET data=zeroblob(length(data))");
  Open();
  EXPECT_TRUE(Right().empty());
  EXPECT_EQ(Right(100, 200).size(), 100u);
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 0);
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 0);
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

TEST_F(BlocksTest, FileThatIsReplaced_KeepsContentInBlocks) {
  Put(0, kContents);
  ASSERT_TRUE(store->Rebuild().ok());
  EXPECT_EQ(Right(), All());
  EXPECT_EQ(Int("SELECT count(*) FROM blob WHERE codec=3"), kContents);
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

TEST_F(BlocksTest, WhatACollectionWouldFree_IsAboutWhatItFrees) {
  for (uint64_t number = 0; number < 2000; number += 100) {
    Put(number, number + 100);
  }
  clock.Advance(std::chrono::hours(2));
  GcOptions options{.older_than_s = 3600};
  options.dry_run = true;
  const uint64_t would = maintenance().Gc(options)->bytes;
  options.dry_run = false;
  const GcReport did = *maintenance().Gc(options);
  EXPECT_EQ(did.records, 2000u);
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 0);
  EXPECT_GT(would, did.bytes / 4);
  EXPECT_LT(would, did.bytes * 2);
}

// What a block has lost and still takes must not make a collection go on for ever.
TEST_F(BlocksTest, CollectionToHalf_LeavesWhatHasRoom) {
  for (uint64_t number = 0; number < 4000; number += 100) {
    Put(number, number + 100);
  }
  clock.Advance(std::chrono::hours(2));
  const uint64_t before = store->UsedBytes();
  const GcReport report = *maintenance().Gc({.to_bytes = before / 2});
  EXPECT_LE(report.used_after, before / 2);
  EXPECT_GT(report.used_after, before / 5);
  EXPECT_GT(Int("SELECT count(*) FROM entry"), 400);
  EXPECT_EQ(Right(0, 4000).size(), static_cast<size_t>(Int("SELECT count(*) FROM blob")));
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

// Whoever else puts, a dictionary that upkeep trains for one, may come when the collector has ended
// and nobody has looked at the size yet.
TEST_F(BlocksTest, CollectionThatOthersPutInto_LeavesWhatHasRoom) {
  for (uint64_t number = 0; number < 2000; number += 100) {
    Put(number, number + 100);
  }
  clock.Advance(std::chrono::hours(2));
  const uint64_t half = store->UsedBytes() / 2;
  uint64_t next = 2000;
  const GcReport report =
      *maintenance().Gc({.to_bytes = half, .on_bytes = [&](uint64_t done, uint64_t all) {
                           if (done == all && next < 2600) {
                             Put(next, next + 300);
                             next += 300;
                           }
                         }});
  EXPECT_EQ(next, 2600u);
  EXPECT_LE(report.used_after, half);
  EXPECT_LE(store->UsedBytes(), half);
  EXPECT_EQ(Right(2000, 2600).size(), 600u) << "what is young stays";
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

TEST_F(BlocksTest, RelaxedContent_IsThereAtOnceAndPutWithItsRowsOrAtAFlush) {
  CompressingStore compressing(*store, *store, &store->dictionaries());
  ASSERT_TRUE(compressing.Put(Items(900, 901), Durability::kDurable, {}).ok());  // it takes puts
  for (uint64_t number = 0; number < kContents; ++number) {
    const Item code = Code(number);
    ASSERT_TRUE(compressing.Put(std::span(&code, 1), Durability::kRelaxed, {}).ok());
    EXPECT_EQ(AsText(compressing.Get(code.key, {})->bytes), AsText(code.value.bytes));
    EXPECT_TRUE(compressing.FindMissing(std::vector<Key>{code.key}, {})->empty());
  }
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 0);
  const Item row = Row(7);
  ASSERT_TRUE(compressing.Put(std::span(&row, 1), Durability::kDurable, {}).ok());
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 1);
  EXPECT_EQ(Int("SELECT count(*) FROM blob WHERE codec=3"), kContents);
  for (uint64_t number = 100; number < 110; ++number) {
    const Item code = Code(number);
    ASSERT_TRUE(compressing.Put(std::span(&code, 1), Durability::kRelaxed, {}).ok());
  }
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 2);
}

TEST_F(BlocksTest, StoreThatOnlyReads_RefusesRelaxedContentToo) {
  Put(0, 1);
  const std::unique_ptr<SqliteStore> reader =
      *SqliteStore::Open({.dir = directory.path(), .read_only = true}, clock, log);
  CompressingStore compressing(*reader, *reader, &reader->dictionaries());
  const Item code = Code(1);
  EXPECT_EQ(compressing.Put(std::span(&code, 1), Durability::kRelaxed, {}).error().reason,
            kReadOnly);
}

}  // namespace
}  // namespace kiln::cache::sqlite
