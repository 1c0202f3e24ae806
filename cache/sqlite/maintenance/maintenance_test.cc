// SPDX-License-Identifier: MIT
// Every kind of fault is planted, found and mended, and nothing good goes; collection takes what it
// should and nothing that somebody holds.
#include "cache/sqlite/maintenance/maintenance.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/sqlite/tables/batch_table.h"
#include "cache/sqlite/tables/explain_table.h"
#include "cache/sqlite/tables/lease_tables.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int kRecords = 12;

Hash128 Id(std::string_view text) { return HashBytes(AsBytes(text)); }

class StoreMaintenanceTest : public testing::Test {
 protected:
  void Open(int64_t max_age_s = 0) {
    store.reset();
    store = *SqliteStore::Open(
        {.dir = directory.path(), .max_age_s = max_age_s, .writer = {.group_wait = {}}}, clock,
        log);
  }
  // Lets records age until none is left that is too old.
  void Age() {
    store->StartAgeing();
    EXPECT_TRUE(WaitUntil([&] { return !store->Collecting(); }));
  }
  bool Has(int i) {  // as a fact, without using it
    Result<ReaderPool::Loan> reader = store->Read({});
    const Result<std::optional<StoredRow>> row = (*reader)->FindRow(Items(i)[3].key);
    return row.ok() && row->has_value();
  }
  void SetUp() override { Open(); }

  // Content that compresses and content that does not; record i names both and "shared".
  static std::vector<Item> Items(int i) {
    const std::string n = std::to_string(i);
    const Item text = ContentItem(CopiedBlob(AsBytes("text " + n + std::string(4000, 'x'))));
    const Item small = ContentItem(CopiedBlob(AsBytes("small " + n)));
    const Item shared = ContentItem(CopiedBlob(AsBytes("shared")));
    const RecordKind kind = i % 4 == 3 ? RecordKind::kSourceError : RecordKind::kOk;
    const Item record = RecordItem(Level::kSignature, 0, Id("s" + n),
                                   {.kind = kind,
                                    .products = {{"code.fragment", DigestOf(text.value.bytes)},
                                                 {"code.vertex", DigestOf(small.value.bytes)},
                                                 {"meta", DigestOf(shared.value.bytes)}},
                                    .cpu_us = 100});
    return {text,
            small,
            shared,
            record,
            AliasItem(0, Id("v" + n), Id("s" + n)),
            MaskItem(0, Id("m" + n), std::vector<std::string>{"fog"})};
  }
  void Put(int from, int end) {
    CompressingStore compressing(*store, *store, &store->dictionaries());
    for (int i = from; i < end; ++i) {
      ASSERT_TRUE(compressing.Put(Items(i), Durability::kDurable, {}).ok());
    }
  }
  // Numbers of the records whose items are all there and right.
  std::set<int> Whole() {
    CompressingStore compressing(*store, *store, &store->dictionaries());
    CheckedStore checked(compressing, *store);
    std::set<int> whole;
    for (int i = 0; i < kRecords; ++i) {
      bool all = true;
      for (const Item& item : Items(i)) {
        const Result<Blob> blob = checked.Get(item.key, {});
        all = all && blob.ok() && AsText(blob->bytes) == AsText(item.value.bytes);
      }
      if (all) {
        whole.insert(i);
      }
    }
    return whole;
  }
  void Sql(const std::string& sql) {
    ASSERT_TRUE(
        store
            ->Write(
                [&sql](TableWrites& writes) { return writes.connection().Execute(sql.c_str()); },
                {})
            .ok())
        << sql;
  }
  VerifyReport Verify(const VerifyOptions& options = {}) {
    const Result<VerifyReport> report = maintenance().Verify(options);
    EXPECT_TRUE(report.ok()) << ErrorText(report.error());
    return *report;
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

TEST_F(StoreMaintenanceTest, SoundStore_IsClean) {
  Put(0, kRecords);
  const auto explain =
      std::make_shared<const ExplainRecord>(ExplainRecord{.slot = {.program = "p"}});
  ExplainTable(*store).Append(std::span(&explain, 1));
  const VerifyReport report = Verify();
  EXPECT_TRUE(report.clean()) << FaultText(report.faults.front());
  EXPECT_EQ(report.blobs, 2u * kRecords + 1);
  EXPECT_EQ(report.records, 2u * kRecords);
  EXPECT_EQ(report.aliases, uint64_t{kRecords});
  EXPECT_EQ(report.orphans, 0u);
  EXPECT_TRUE(Verify({.fast = true}).clean());
  EXPECT_LT(Verify({.fast = true}).bytes, report.bytes);
}

struct Planted {
  std::string sql;
  std::set<std::string> kinds;
  int lost = 0;      // records that cannot be whole any more
  bool fast = true;  // whether the fast form finds it
};

// Row 3 is the record of number 1: records and masks take turns.
TEST_F(StoreMaintenanceTest, EveryPlantedFault_IsFoundAndMendedAndNothingGoodGoes) {
  const std::vector<Planted> rows = {
      {"UPDATE blob SET data=zeroblob(length(data)) WHERE rid=4", {"blob"}, 1, false},
      {"UPDATE blob SET data=CAST('small 2' AS BLOB) WHERE rid=5", {"blob"}, 1, false},
      {"UPDATE blob SET data=zeroblob(length(data)) WHERE id=(SELECT id FROM blob WHERE "
       "raw_size=6)",
       {"blob"},
       kRecords,
       false},
      {"UPDATE blob SET data=x'' WHERE rid=4", {"blob"}, 1, false},
      {"UPDATE blob SET raw_size=raw_size+1 WHERE rid=4", {"blob_size"}, 0},
      {"UPDATE blob SET raw_size=raw_size+1 WHERE rid=5", {"blob_size"}, 0},
      {"UPDATE blob SET codec=0 WHERE rid=4", {"blob_size"}, 0},
      {"UPDATE blob SET codec=2, dict=7 WHERE rid=4", {"blob_size"}, 0},
      {"UPDATE blob SET dict=7 WHERE rid=4", {"blob_size"}, 0},
      {"INSERT INTO dict VALUES (7, zeroblob(16), x'00')", {"dictionary"}, 0},
      {"UPDATE blob SET codec=1 WHERE rid=5", {"blob_size"}, 0, false},
      {"DELETE FROM blob WHERE rid=4", {"dangling", "reference"}, 1},
      {"DELETE FROM blob", {"dangling", "reference"}, kRecords},
      {"UPDATE entry SET value=zeroblob(length(value)) WHERE eid=3", {"record"}, 1},
      {"UPDATE entry SET sum=zeroblob(16) WHERE eid=3", {"record"}, 1},
      {"UPDATE entry SET space=9 WHERE eid=3", {"alias", "record"}, 1},
      {"UPDATE entry SET level=7 WHERE eid=3", {"alias", "record"}, 1},
      {"UPDATE entry SET value=(SELECT value FROM entry WHERE eid=5) WHERE eid=3", {"record"}, 1},
      {"UPDATE entry SET kind=2 WHERE eid=3", {"columns"}, 0},
      {"UPDATE entry SET cost_us=1 WHERE eid=3", {"columns"}, 0},
      {"UPDATE entry SET expires_s=1 WHERE eid=3", {"columns"}, 0},
      {"DELETE FROM ref WHERE eid=3", {"reference"}, 0},
      {"INSERT INTO ref VALUES (3, 1)", {"reference"}, 0},
      {"INSERT INTO ref VALUES (99, 1)", {"reference"}, 0},
      {"INSERT INTO ref VALUES (1, 99)", {"reference"}, 0},
      {"UPDATE alias SET sum=sum+1 WHERE eid=3", {"alias"}, 1},
      {"UPDATE alias SET eid=5 WHERE eid=3", {"alias"}, 1},
      {"UPDATE alias SET eid=99 WHERE eid=3", {"alias"}, 1},
      {"INSERT INTO pin_entry VALUES (99, 1)", {"pin"}, 0},
      {"INSERT INTO explain VALUES (zeroblob(16), 1, x'00')", {"explain"}, 0},
      {"INSERT INTO explain VALUES (x'01', 1, x'00')", {"explain"}, 0},
      {"DROP INDEX entry_lru", {"schema"}, 0},
      {"CREATE TABLE other (x)", {"schema"}, 0},
      {"DROP TABLE quarantine; CREATE TABLE quarantine (qid)", {"schema"}, 0},
  };
  for (const Planted& row : rows) {
    SCOPED_TRACE(row.sql);
    store.reset();
    std::filesystem::remove_all(directory.path());
    Open();
    Put(0, kRecords);
    ASSERT_EQ(Whole().size(), size_t{kRecords});
    Sql(row.sql);
    const VerifyReport found = Verify();
    EXPECT_EQ(KindsOf(found), row.kinds);
    EXPECT_EQ(Verify({.fast = true}).clean(), !row.fast);
    const Result<RepairReport> repaired = maintenance().Repair({});
    ASSERT_TRUE(repaired.ok()) << ErrorText(repaired.error());
    EXPECT_TRUE(repaired->after.clean()) << FaultText(repaired->after.faults.front());
    EXPECT_TRUE(Verify().clean());
    EXPECT_EQ(Whole().size(), size_t{kRecords} - static_cast<size_t>(row.lost));
    EXPECT_EQ(maintenance().Repair({})->mended, 0u);  // nothing is left to do
    Put(0, kRecords);                                 // what is lost is made again
    EXPECT_EQ(Whole().size(), size_t{kRecords});
    EXPECT_TRUE(Verify().clean());
  }
}

TEST_F(StoreMaintenanceTest, DamagedPage_IsFoundAndWhatVerifiesSurvivesWithPinsAndBatches) {
  Put(0, kRecords);
  std::vector<Key> keys;
  keys.reserve(kRecords);
  for (int i = 0; i < kRecords; ++i) {
    keys.push_back(Items(i)[3].key);
  }
  ASSERT_TRUE(PinTable(*store).Add({.name = "release", .note = "why"}, keys).ok());
  const BatchRow batch{.id = Id("b"), .spec = Bytes(3), .state = 1, .counts = Bytes(2)};
  ASSERT_TRUE(BatchTable(*store).Put(batch).ok());
  store.reset();
  const std::string path = (directory.path() / "cache.db").string();
  int64_t page = 0;
  {
    auto connection = *Connection::Open(path, OpenMode::kReadOnly);
    page = *connection.QueryInt("SELECT rootpage FROM sqlite_schema WHERE name='alias_eid'");
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 16384);
    const std::string garbage(16384, '\x55');
    file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  }
  Open();
  EXPECT_FALSE(Verify().clean());
  const Result<RepairReport> repaired = maintenance().Repair({});
  ASSERT_TRUE(repaired.ok()) << ErrorText(repaired.error());
  EXPECT_TRUE(repaired->after.clean());
  if (repaired->rebuilt) {  // unless new indexes were enough
    EXPECT_TRUE(std::filesystem::exists(directory.path() / repaired->set_aside));
  }
  CompressingStore compressing(*store, *store, &store->dictionaries());
  for (int i = 0; i < kRecords; ++i) {
    for (const size_t item : {0, 1, 2, 3, 5}) {  // aliases hung on the page
      EXPECT_TRUE(compressing.Get(Items(i)[item].key, {}).ok()) << i << " " << item;
    }
  }
  const std::vector<Pin> pins = *PinTable(*store).List();
  ASSERT_EQ(pins.size(), 1u);
  EXPECT_EQ(pins[0].records, uint64_t{kRecords});
  EXPECT_EQ(pins[0].note, "why");
  EXPECT_EQ(*BatchTable(*store).Get(batch.id), batch);
}

TEST_F(StoreMaintenanceTest, VerifyOfADirectory_SaysWhatKeepsItClosedAndChangesNothing) {
  struct Row {
    std::string_view what;
    std::function<void(const std::string& path)> plant;
    std::set<std::string> kinds;
  };
  const auto execute = [](const std::string& path, const char* sql) {
    ASSERT_TRUE(Connection::Open(path, OpenMode::kReadWrite)->Execute(sql).ok());
  };
  Put(0, 2);
  store.reset();
  const std::string path = (directory.path() / "cache.db").string();
  for (const Row& row : std::vector<Row>{
           {"sound", [](const std::string&) {}, {}},
           {"another version",
            [&](const std::string& p) { execute(p, "PRAGMA user_version=7"); },
            {"schema"}},
           {"another program",
            [&](const std::string& p) {
              execute(p, "PRAGMA user_version=5");
              execute(p, "PRAGMA application_id=5");
            },
            {"schema"}},
           {"no database",
            [](const std::string& p) { std::ofstream(p) << std::string(20'000, 'x'); },
            {"database"}},
       }) {
    row.plant(path);
    const auto size = std::filesystem::file_size(path);
    const Result<VerifyReport> report = VerifyDirectory(directory.path(), clock, {});
    ASSERT_TRUE(report.ok()) << row.what << ErrorText(report.error());
    EXPECT_EQ(KindsOf(*report), row.kinds) << row.what;
    EXPECT_EQ(std::filesystem::file_size(path), size);
  }
  EXPECT_EQ(VerifyDirectory(directory.path() / "none", clock, {}).error().code,
            ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "none"));
}

TEST_F(StoreMaintenanceTest, VerifyTellsHowFarItIs_OfAllThatIsHashed) {
  Put(0, kRecords);
  struct Row {
    VerifyOptions options;
    bool total_is_known;
  };
  for (Row row : {Row{{}, true}, Row{{.sample_percent = 100}, true}, Row{{.fast = true}, false},
                  Row{{.sample_percent = 50}, false}}) {
    std::vector<std::pair<uint64_t, uint64_t>> told;
    row.options.rows_between = 5;
    row.options.on_bytes = [&](uint64_t done, uint64_t total) { told.emplace_back(done, total); };
    const Result<VerifyReport> report = maintenance().Verify(row.options);
    ASSERT_TRUE(report.ok()) << ErrorText(report.error());
    ASSERT_GT(told.size(), 4u) << "blobs and records";
    const auto last = told.back();
    EXPECT_EQ(last, std::pair(report->bytes, report->bytes)) << "the end";
    EXPECT_TRUE(std::ranges::is_sorted(told, {}, &std::pair<uint64_t, uint64_t>::first));
    told.pop_back();
    for (const auto& [done, total] : told) {
      EXPECT_EQ(total, row.total_is_known ? report->bytes : 0);
    }
  }
}

TEST_F(StoreMaintenanceTest, Stats_CountEverything) {
  Put(0, kRecords);
  ASSERT_TRUE(PinTable(*store).Add({.name = "a"}, std::vector<Key>{Items(1)[3].key}).ok());
  ASSERT_TRUE(LeaseTable(*store).Hold("batch").ok());
  const StoreStats stats = *maintenance().Stats();
  EXPECT_EQ(stats.levels[static_cast<size_t>(Level::kContent)].rows, 2u * kRecords + 1);
  EXPECT_EQ(stats.levels[static_cast<size_t>(Level::kSignature)].rows, uint64_t{kRecords});
  EXPECT_EQ(stats.levels[static_cast<size_t>(Level::kSignature)].kinds,
            (std::array<uint64_t, 4>{9, 3, 0, 0}));
  EXPECT_EQ(stats.levels[static_cast<size_t>(Level::kAlias)].rows, uint64_t{kRecords});
  EXPECT_EQ(stats.levels[static_cast<size_t>(Level::kMask)].rows, uint64_t{kRecords});
  EXPECT_EQ(stats.code_distinct, 2u * kRecords);
  EXPECT_EQ(stats.cost_us, 100u * kRecords);
  EXPECT_GT(stats.raw_bytes, stats.levels[0].bytes);
  EXPECT_EQ(stats.pins, 1u);
  EXPECT_EQ(stats.pinned_records, 1u);
  EXPECT_EQ(stats.leases, 1u);
  EXPECT_GT(stats.used_bytes, 0u);
  EXPECT_FALSE(stats.read_only);
}

TEST_F(StoreMaintenanceTest, GcOfFailures_TakesThemOnly) {
  Put(0, kRecords);
  EXPECT_EQ(maintenance().Gc({.failed = true, .dry_run = true})->records, 3u);
  EXPECT_EQ(Whole().size(), size_t{kRecords});
  EXPECT_EQ(maintenance().Gc({.failed = true})->records, 3u);
  EXPECT_EQ(Whole(), (std::set<int>{0, 1, 2, 4, 5, 6, 8, 9, 10}));
  EXPECT_EQ(maintenance().Gc({.failed = true})->records, 0u);
  EXPECT_TRUE(Verify().clean());
}

TEST_F(StoreMaintenanceTest, GcOfFailuresAmongKeys_LeavesTheOthers) {
  Put(0, kRecords);
  const auto among = std::make_shared<const std::set<Key>>(
      std::set<Key>{Items(2)[3].key, Items(7)[3].key});  // the first is no failure
  EXPECT_EQ(maintenance().Gc({.failed = true, .among = among, .dry_run = true})->records, 1u);
  EXPECT_EQ(maintenance().Gc({.failed = true, .among = among})->records, 1u);
  EXPECT_EQ(Whole(), (std::set<int>{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11}));
}

TEST_F(StoreMaintenanceTest, GcByAge_LeavesYoungPinnedAndLeased) {
  Put(0, 4);
  ASSERT_TRUE(PinTable(*store).Add({.name = "keep"}, std::vector<Key>{Items(1)[3].key}).ok());
  clock.Advance(std::chrono::hours(2));
  Put(4, 6);
  const Result<std::vector<Key>> asked = store->FindMissing(std::vector<Key>{Items(2)[3].key}, {});
  ASSERT_TRUE(asked.ok() && asked->empty());
  const GcOptions hour{.older_than_s = 3600};
  GcOptions dry = hour;
  dry.dry_run = true;
  const GcReport would = *maintenance().Gc(dry);
  const GcReport did = *maintenance().Gc(hour);
  EXPECT_EQ(did.records, 6u);  // records 0 and 3, masks 0 to 3
  EXPECT_EQ(did.kept, 2u);
  EXPECT_EQ(would.records, did.records);
  EXPECT_EQ(would.kept, did.kept);
  const auto has = [&](int i) { return store->Get(Items(i)[3].key, {}).ok(); };
  EXPECT_FALSE(has(0));
  EXPECT_TRUE(has(1));
  EXPECT_TRUE(has(2));
  EXPECT_FALSE(has(3));
  EXPECT_TRUE(has(4));
  EXPECT_TRUE(Verify().clean());
  // A lease whose floor lies before everything keeps everything.
  ASSERT_TRUE(LeaseTable(*store).Hold("batch").ok());
  Sql("UPDATE lease SET floor_q=0");
  clock.Advance(std::chrono::minutes(14));
  EXPECT_EQ(maintenance().Gc({.older_than_s = 1})->records, 0u);
}

// A lease keeps what a session reads, and nobody reads a failure: it is built again.
TEST_F(StoreMaintenanceTest, GcOfFailures_TakesThoseThatALeaseCovers) {
  Put(0, kRecords);  // of which 3, 7 and 11 are failures
  ASSERT_TRUE(PinTable(*store).Add({.name = "keep"}, std::vector<Key>{Items(11)[3].key}).ok());
  ASSERT_TRUE(LeaseTable(*store).Hold("watch").ok());
  Sql("UPDATE lease SET floor_q=0");
  const std::vector<Key> asked{Items(3)[3].key, Items(2)[3].key};  // leased to who asked
  ASSERT_TRUE(store->FindMissing(asked, {})->empty());
  for (const bool dry_run : {true, false}) {
    const GcReport report = *maintenance().Gc({.failed = true, .dry_run = dry_run});
    EXPECT_EQ(report.records, 2u) << dry_run;
    EXPECT_EQ(report.kept, 1u) << "the pin: " << dry_run;
  }
  EXPECT_EQ(Whole(), (std::set<int>{0, 1, 2, 4, 5, 6, 8, 9, 10, 11}));
  EXPECT_EQ(maintenance().Gc({.older_than_s = 0})->records, 0u) << "no failures";
  EXPECT_TRUE(Verify().clean());
}

TEST_F(StoreMaintenanceTest, GcOfOldFailures_LeavesYoungOnes) {
  Put(0, 4);
  clock.Advance(std::chrono::hours(2));
  Put(4, kRecords);
  EXPECT_EQ(maintenance().Gc({.older_than_s = 3600, .failed = true})->records, 1u);
  EXPECT_EQ(maintenance().Gc({.failed = true})->records, 2u);
}

TEST_F(StoreMaintenanceTest, GcToASize_SaysWhatKeepsTheRestAndUntilWhen) {
  const auto now_s = [&] {
    return std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  };
  Put(0, 4);
  ASSERT_TRUE(PinTable(*store).Add({.name = "keep"}, std::vector<Key>{Items(1)[3].key}).ok());
  ASSERT_TRUE(LeaseTable(*store).Hold("batch 7c1e").ok());
  const GcReport leased = *maintenance().Gc({.to_bytes = 1});
  EXPECT_EQ(leased.records, 0u);
  EXPECT_GT(leased.kept, 0u);
  EXPECT_EQ(leased.pinned, 1u);
  ASSERT_EQ(leased.leases.size(), 2u);
  EXPECT_EQ(leased.leases[0].owner, "batch 7c1e");
  EXPECT_EQ(leased.leases[1].owner,
            "use in the last 10 minutes (" + std::to_string(leased.kept) + " records)");
  EXPECT_EQ(leased.leases[0].until_s, now_s() + 15 * 60);
  EXPECT_GE(leased.kept_until_s, leased.leases[0].until_s);
  clock.Advance(std::chrono::seconds(leased.kept_until_s - now_s() + 1));
  const GcReport later = *maintenance().Gc({.to_bytes = 1});
  EXPECT_GT(later.records, 0u);
  EXPECT_EQ(later.kept, later.pinned) << "all that is left is pinned";
  EXPECT_TRUE(later.leases.empty());
  ASSERT_TRUE(PinTable(*store).Remove("keep").ok());
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(maintenance().Gc({.to_bytes = 1})->kept, 0u);
}

TEST_F(StoreMaintenanceTest, MaxAge_RemovesWhatNobodyUsedForSoLong) {
  Open(3600);
  Put(0, 8);
  ASSERT_TRUE(PinTable(*store).Add({.name = "keep"}, std::vector<Key>{Items(1)[3].key}).ok());
  clock.Advance(std::chrono::minutes(59));
  Age();
  EXPECT_EQ(store->Status().aged, 0u);
  EXPECT_TRUE(store->Get(Items(2)[3].key, {}).ok());  // used, though not yet on disk
  clock.Advance(std::chrono::minutes(12));
  Put(8, 9);
  Age();
  std::set<int> left;
  for (int i = 0; i < 9; ++i) {
    if (Has(i)) {
      left.insert(i);
    }
  }
  EXPECT_EQ(left, (std::set<int>{1, 2, 8}));  // pinned, used, young
  EXPECT_EQ(store->Status().aged, 6u + 8u);   // records and masks
  EXPECT_EQ(store->Status().evicted, 0u);
  const std::optional<Removal> removal = store->WhyRemoved(Items(0)[3].key.id);
  ASSERT_TRUE(removal.has_value());
  EXPECT_EQ(removal->by, RemovedBy::kExpiry);
  EXPECT_TRUE(Verify().clean());
}

TEST_F(StoreMaintenanceTest, MaxAge_LeavesWhatALeaseCovers) {
  Open(3600);
  Put(0, 4);
  ASSERT_TRUE(LeaseTable(*store).Hold("batch").ok());
  Sql("UPDATE lease SET floor_q=0");
  clock.Advance(std::chrono::minutes(14));
  Sql("UPDATE lease SET until_s=until_s+7200");  // renewed all the time
  clock.Advance(std::chrono::minutes(90));
  Age();
  EXPECT_EQ(store->Status().aged, 0u);
  Sql("DELETE FROM lease");
  Age();
  EXPECT_EQ(store->Status().aged, 8u);
}

TEST_F(StoreMaintenanceTest, MoreThanASlice_AgesInOnePass) {
  Open(3600);
  for (int i = 0; i < 200; i += 20) {
    Put(i, i + 20);
  }
  clock.Advance(std::chrono::hours(2));
  Age();
  EXPECT_EQ(store->Status().aged, 400u);
}

TEST_F(StoreMaintenanceTest, WithoutMaxAge_NothingIsTooOld) {
  Put(0, 4);
  clock.Advance(std::chrono::hours(24 * 365));
  Age();
  EXPECT_EQ(store->Status().aged, 0u);
  EXPECT_TRUE(Has(0));
}

TEST_F(StoreMaintenanceTest, GcToASize_NamesWhoSentWhatNoResultNames) {
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  const Item item = ContentItem(CopiedBlob(AsBytes(std::string(50'000, 'x'))));
  ASSERT_TRUE(store->sent_room().Admit("token:a", std::span(&item, 1), {}).ok());
  ASSERT_TRUE(store->Put(std::span(&item, 1), Durability::kDurable, {}).ok());
  ASSERT_TRUE(LeaseTable(*store).Hold("batch 7c1e").ok());
  const GcReport report = *maintenance().Gc({.to_bytes = 1});
  ASSERT_EQ(report.leases.size(), 2u);
  EXPECT_EQ(report.leases[0].owner, "content that token:a sent (50000 bytes that no result names)");
  EXPECT_EQ(report.leases[0].until_s, now_s + 3600);
  EXPECT_EQ(report.leases[1].owner, "batch 7c1e");
  EXPECT_GE(report.kept_until_s, now_s + 3600);
}

TEST_F(StoreMaintenanceTest, GcToASize_TakesTheOldestAndVacuumShrinksTheFile) {
  for (int i = 0; i < 200; ++i) {
    const Item content = ContentItem(CopiedBlob(
        AsBytes(std::string(40'000, static_cast<char>('a' + i % 26)) + std::to_string(i))));
    const Item record = RecordItem(Level::kSignature, 0, Id("big" + std::to_string(i)),
                                   {.products = {{"meta", DigestOf(content.value.bytes)}}});
    ASSERT_TRUE(store->Put(std::vector<Item>{content, record}, Durability::kDurable, {}).ok());
    if (i == 99) {
      clock.Advance(std::chrono::hours(1));
    }
  }
  clock.Advance(std::chrono::hours(1));
  const uint64_t used = store->UsedBytes();
  const uint64_t target = used * 6 / 10;
  const GcReport would = *maintenance().Gc({.to_bytes = target, .dry_run = true});
  const GcReport did = *maintenance().Gc({.to_bytes = target, .vacuum = true});
  EXPECT_LE(did.used_after, target);
  EXPECT_NEAR(static_cast<double>(would.records), static_cast<double>(did.records), 25);
  EXPECT_GE(did.records, 70u);
  EXPECT_LE(did.records, 100u);
  EXPECT_TRUE(store->Get({.level = Level::kSignature, .id = Id("big150")}, {}).ok());
  EXPECT_FALSE(store->Get({.level = Level::kSignature, .id = Id("big0")}, {}).ok());
  EXPECT_TRUE(Verify().clean());
  EXPECT_EQ(maintenance().Gc({.to_bytes = used})->records, 0u);
}

TEST_F(StoreMaintenanceTest, EachRow_GivesRecordsBeforeTheirAliasesAndNothingDamaged) {
  Put(0, 4);
  Sql("UPDATE entry SET sum=zeroblob(16) WHERE key=x'" + Id("s2").hex() + "'");
  ASSERT_TRUE(PinTable(*store).Add({.name = "one"}, std::vector<Key>{Items(1)[3].key}).ok());
  const auto walk = [&](const RowFilter& filter) {
    std::vector<Key> keys;
    EXPECT_TRUE(maintenance()
                    .EachRow(filter,
                             [&](const Key& key, ByteView) -> Result<void> {
                               keys.push_back(key);
                               return {};
                             })
                    .ok());
    return keys;
  };
  EXPECT_EQ(walk({}).size(), 10u);  // 3 records with an alias each, 4 masks
  const Key record = Items(1)[3].key;
  const Key alias = Items(1)[4].key;
  EXPECT_EQ(walk({.pin = "one"}), (std::vector<Key>{record, alias}));
  EXPECT_EQ(walk({.since_s = 2'000'000'000}).size(), 0u);
  const Result<void> unknown = maintenance().EachRow(
      {.pin = "none"}, [](const Key&, ByteView) -> Result<void> { return {}; });
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST_F(StoreMaintenanceTest, SecondProcess_MayLookButNotTouch) {
  Put(0, 2);
  const auto second = *SqliteStore::Open({.dir = directory.path(), .read_only = true}, clock, log);
  StoreMaintenance other(*second, clock);
  EXPECT_TRUE(other.Verify({})->clean());
  EXPECT_TRUE(other.Stats()->read_only);
  EXPECT_EQ(other.Repair({}).error().reason, kReadOnly);
  EXPECT_EQ(other.Gc({.failed = true}).error().reason, kReadOnly);
}

}  // namespace
}  // namespace kiln::cache::sqlite
