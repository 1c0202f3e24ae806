// SPDX-License-Identifier: MIT
// Modules that lie in blocks with symbols in the place of ids: what blocks_test.cc shows of other
// content, for what is different of them.
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

constexpr uint32_t kModules = 17;

class ModuleBlocksTest : public testing::Test {
 protected:
  void Open() {
    store.reset();
    store = *SqliteStore::Open({.dir = directory.path(), .writer = {.group_wait = {}}}, clock, log);
  }
  void SetUp() override { BeginAnew(); }
  void BeginAnew() {
    store.reset();
    std::filesystem::remove_all(directory.path());
    Open();
    Put();
  }
  static Item Code(uint32_t number) { return ContentItem(OwnedBlob(ModuleWithOtherIds(number))); }
  static Item Row(uint32_t number) {
    const Item code = Code(number);
    return RecordItem(Level::kSignature, 0, HashBytes(AsBytes(std::to_string(number))),
                      {.products = {{"code", {.id = code.key.id, .size = code.value.raw_size}}}});
  }
  void Put() {
    std::vector<Item> items;
    for (uint32_t number = 0; number < kModules; ++number) {
      items.push_back(Code(number));
      items.push_back(Row(number));
    }
    CompressingStore compressing(*store, *store, &store->dictionaries());
    ASSERT_TRUE(compressing.Put(items, Durability::kDurable, {}).ok());
  }
  // How many are there; each is right.
  uint32_t Right() {
    CompressingStore compressing(*store, *store, &store->dictionaries());
    CheckedStore checked(compressing, *store);
    uint32_t right = 0;
    for (uint32_t number = 0; number < kModules; ++number) {
      const Item code = Code(number);
      const Result<Blob> blob = checked.Get(code.key, {});
      EXPECT_TRUE(!blob.ok() || AsText(blob->bytes) == AsText(code.value.bytes)) << number;
      right += blob.ok() ? 1 : 0;
    }
    return right;
  }
  int64_t Int(std::string_view sql) { return *store->Read({})->connection().QueryInt(sql); }
  void Sql(const std::string& sql) {
    const Result<void> ran = store->Write(
        [&sql](TableWrites& writes) { return writes.connection().Execute(sql.c_str()); }, {});
    ASSERT_TRUE(ran.ok()) << sql;
  }
  void Remove(uint32_t number) {
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
  StoreMaintenance maintenance() { return {*store, clock}; }

  TestDirectory directory;
  FakeClock clock;
  NullLog log;
  std::unique_ptr<SqliteStore> store;
};

TEST_F(ModuleBlocksTest, Modules_AreReadFromABlockThatIsATenth) {
  EXPECT_EQ(Int("SELECT count(*) FROM block"), 1);
  EXPECT_EQ(Int("SELECT count(*) FROM blob WHERE codec=3 AND at<0"), kModules);
  EXPECT_LT(Int("SELECT sum(length(data)) FROM block"), Int("SELECT sum(raw_size) FROM blob") / 10);
  Open();
  EXPECT_EQ(Right(), kModules);
  EXPECT_TRUE(maintenance().Verify({})->clean());
  ASSERT_TRUE(store->Rebuild().ok());
  EXPECT_EQ(Right(), kModules);
  EXPECT_EQ(Int("SELECT count(*) FROM blob WHERE at<0"), kModules);
}

TEST_F(ModuleBlocksTest, ModulesThatGo_GiveTheirBytesBackAndLeaveTheRestRight) {
  clock.Advance(std::chrono::hours(1));
  const int64_t raw = Int("SELECT raw_size FROM block");
  uint32_t left = kModules;
  for (uint32_t number = 0; number < kModules; ++number) {
    if (number % 3 != 1) {
      Remove(number);
      EXPECT_EQ(Right(), --left) << "without " << number;
    }
  }
  EXPECT_LT(Int("SELECT raw_size FROM block"), raw * 2 / 3);
  EXPECT_TRUE(maintenance().Verify({})->clean());
}

TEST_F(ModuleBlocksTest, PlantedFaults_AreFoundAndMendedAndNothingGoodGoes) {
  struct Row {
    std::string sql;
    uint32_t lost = 0;
  };
  for (const Row& row : std::vector<Row>{
           {"UPDATE blob SET at=at-4 WHERE rid=4", 1},
           {"UPDATE blob SET at=at+1 WHERE rid=4", 1},
           {"UPDATE blob SET at=-1-at WHERE rid=4", 1},
           {"UPDATE blob SET at=-1 WHERE rid=4", 1},
           {"UPDATE blob SET at=-(1 << 40) WHERE rid=4", 1},
           {"UPDATE blob SET at=(SELECT at FROM blob WHERE rid=5) WHERE rid=4", 1},
           {"UPDATE blob SET raw_size=raw_size-4 WHERE rid=4", 1},
           {"UPDATE blob SET raw_size=1 << 40 WHERE rid=4", 1},
           {"UPDATE block SET data=zeroblob(length(data))", kModules},
           {"UPDATE block SET raw_size=raw_size+1", 0},
       }) {
    SCOPED_TRACE(row.sql);
    BeginAnew();
    Sql(row.sql);
    Open();
    EXPECT_FALSE(maintenance().Verify({})->clean());
    const Result<RepairReport> repaired = maintenance().Repair({});
    ASSERT_TRUE(repaired.ok()) << ErrorText(repaired.error());
    EXPECT_TRUE(repaired->after.clean());
    EXPECT_EQ(Right(), kModules - row.lost);
    Put();  // what is lost is made again
    EXPECT_EQ(Right(), kModules);
    EXPECT_TRUE(maintenance().Verify({})->clean());
  }
}

TEST_F(ModuleBlocksTest, EachByteOfTheBlock_GivesTheRightBytesOrAMiss) {
  const int64_t size = Int("SELECT length(data) FROM block");
  uint32_t misses = 0;
  for (int64_t at = 1; at <= size; at += size / 12) {
    BeginAnew();
    Sql("UPDATE block SET data=CAST(substr(data, 1, " + std::to_string(at - 1) +
        ") || x'5a' || substr(data, " + std::to_string(at + 1) + ") AS BLOB)");
    Open();
    misses += kModules - Right();  // Right compares bytes
  }
  EXPECT_GT(misses, 0u);
}

// Records have their form in a row of its own: damage of that costs the records, and is mended by
// the next put.
TEST_F(ModuleBlocksTest, DamagedForm_CostsItsRecordsAndIsHealed) {
  EXPECT_EQ(Int("SELECT count(*) FROM form"), 1);
  EXPECT_EQ(Int("SELECT count(*) FROM entry WHERE form<>0 AND length(value)<32"), kModules);
  for (const char* const sql :
       {"UPDATE form SET data=zeroblob(length(data))", "UPDATE form SET data=x''",
        "UPDATE form SET data=CAST(data || x'00' AS BLOB)", "DELETE FROM form",
        "UPDATE form SET form=form+1", "UPDATE entry SET form=form+1", "UPDATE entry SET form=0"}) {
    SCOPED_TRACE(sql);
    BeginAnew();
    Sql(sql);
    Open();
    for (uint32_t number = 0; number < kModules; ++number) {
      EXPECT_FALSE(store->Get(Row(number).key, {}).ok());
    }
    BeginAnew();
    Sql(sql);
    const VerifyReport found = *maintenance().Verify({});
    EXPECT_EQ(found.fault_count, kModules);
    EXPECT_TRUE(maintenance().Repair({})->after.clean());
    Put();
    for (uint32_t number = 0; number < kModules; ++number) {
      EXPECT_TRUE(store->Get(Row(number).key, {}).ok());
    }
    EXPECT_EQ(Right(), kModules);
    EXPECT_TRUE(maintenance().Verify({})->clean());
  }
}

}  // namespace
}  // namespace kiln::cache::sqlite
