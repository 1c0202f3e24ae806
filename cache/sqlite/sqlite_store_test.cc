// SPDX-License-Identifier: MIT
// The store as its callers see it: BlobStore's contract on SQLite.
#include "cache/sqlite/sqlite_store.h"

#include <algorithm>
#include <fstream>
#include <future>
#include <stop_token>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "cache/record.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {
namespace {

using StorePtr = std::unique_ptr<SqliteStore>;

Item Content(std::string_view text) { return ContentItem(CopiedBlob(AsBytes(text))); }
Hash128 Id(std::string_view text) { return HashBytes(AsBytes(text)); }

Record RecordOf(const std::vector<Product>& products) {
  return {.kind = RecordKind::kOk, .products = products, .cpu_us = 10, .build_id = "b"};
}

Item Signature(std::string_view key, std::string_view content) {
  return RecordItem(Level::kSignature, 0, Id(key), RecordOf({{"meta", DigestOf(content)}}));
}

Result<PutResult> PutAll(BlobStore& store, const std::vector<Item>& items) {
  return store.Put(items, Durability::kDurable, {});
}

class SqliteStoreTest : public testing::Test {
 protected:
  StorePtr Open() {
    Result<StorePtr> store = SqliteStore::Open(options, hand_clock, log);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : ErrorText(store.error()));
    return store.ok() ? *std::move(store) : nullptr;
  }

  TestDirectory directory;
  FakeClock hand_clock;
  RecordingLog log;
  SqliteOptions options{.dir = directory.path() / "cache",
                        .writer = {.group_wait = Duration::zero()}};
};

// Longer values are read by parts, so a call that is over does not wait for the rest.
TEST_F(SqliteStoreTest, LongContent_IsReadByParts) {
  for (const size_t size : {size_t{1 << 20} - 1, size_t{1 << 20}, size_t{5 << 20} + 3}) {
    std::string text(size, 'x');
    for (size_t i = 0; i < size; i += 4093) {
      text[i] = static_cast<char>('a' + i % 26);
    }
    const Item item = Content(text);
    const StorePtr store = Open();
    ASSERT_EQ(PutAll(*store, {item})->added, 1u) << size;
    const Result<Blob> blob = store->Get(item.key, {});
    ASSERT_TRUE(blob.ok()) << size << ": " << ErrorText(blob.error());
    EXPECT_TRUE(AsText(blob->bytes) == text) << size;
    std::stop_source stop;
    stop.request_stop();
    SystemClock clock;
    const StopScope scope({.stop = stop.get_token()}, clock);
    if (size > (size_t{4} << 20)) {
      EXPECT_THROW((void)store->Get(item.key, {}), Stopped);
    }
  }
}

TEST_F(SqliteStoreTest, DurablePut_IsThereAfterReopening) {
  const std::vector<Item> items = {Content("words"), Signature("s", "words"),
                                   AliasItem(0, Id("v"), Id("s"))};
  ASSERT_EQ(PutAll(*Open(), items)->added, 3u);
  const StorePtr store = Open();
  for (const Item& item : items) {
    const Result<Blob> blob = store->Get(item.key, {});
    ASSERT_TRUE(blob.ok()) << KeyText(item.key);
    EXPECT_EQ(AsText(blob->bytes), AsText(item.value.bytes));
    EXPECT_EQ(blob->sum, item.value.sum);
  }
  EXPECT_EQ(PutAll(*store, items)->present, 3u);
}

TEST_F(SqliteStoreTest, RelaxedPut_IsThereAfterClosing) {
  const Item item = Content("words");
  ASSERT_TRUE(Open()->Put(std::span(&item, 1), Durability::kRelaxed, {}).ok());
  EXPECT_TRUE(Open()->Get(item.key, {}).ok());
}

TEST_F(SqliteStoreTest, EmptyContent_IsContent) {
  const StorePtr store = Open();
  ASSERT_TRUE(PutAll(*store, {Content("")}).ok());
  EXPECT_EQ(store->Get(Content("").key, {})->bytes.size(), 0u);
}

TEST_F(SqliteStoreTest, RowWithoutItsContent_IsRefusedAndTheRestOfTheGroupIsNot) {
  const StorePtr store = Open();
  const Result<PutResult> refused = PutAll(*store, {Content("other"), Signature("s", "absent")});
  EXPECT_EQ(refused.error().reason, kRefsMissing);
  EXPECT_FALSE(store->Get(Content("other").key, {}).ok());  // all of a call or nothing
  const Result<PutResult> alias = PutAll(*store, {AliasItem(0, Id("v"), Id("s"))});
  EXPECT_EQ(alias.error().reason, kRefsMissing);
  EXPECT_TRUE(PutAll(*store, {Content("fine")}).ok());
}

TEST_F(SqliteStoreTest, RecordThatHidesARef_IsRefused) {
  const StorePtr store = Open();
  Item item = Signature("s", "words");
  item.refs.clear();
  EXPECT_EQ(PutAll(*store, {Content("words"), item}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SqliteStoreTest, WrongIdOrGarbageRow_IsRefused) {
  const StorePtr store = Open();
  Item content = Content("words");
  content.key.id.bytes[3] ^= 1;
  EXPECT_EQ(PutAll(*store, {content}).error().code, ErrorCode::kInvalidArgument);
  const Item garbage = RowItem({.level = Level::kModule, .id = Id("m")}, Bytes(20));
  EXPECT_EQ(PutAll(*store, {garbage}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SqliteStoreTest, OtherResultForAKey_FirstStaysAndIsCounted) {
  const StorePtr store = Open();
  ASSERT_TRUE(PutAll(*store, {Content("a"), Content("b"), Signature("s", "a")}).ok());
  const Result<PutResult> again = PutAll(*store, {Signature("s", "b")});
  EXPECT_EQ(again->nondeterminism, 1u);
  EXPECT_EQ(store->Status().nondeterminism, 1u);
  EXPECT_EQ(AsText(store->Get(Signature("s", "a").key, {})->bytes),
            AsText(Signature("s", "a").value.bytes));
}

TEST_F(SqliteStoreTest, EqualResultOfAnotherBuild_IsPresent) {
  const StorePtr store = Open();
  ASSERT_TRUE(PutAll(*store, {Content("a"), Signature("s", "a")}).ok());
  Record other = RecordOf({{"meta", DigestOf("a")}});
  other.cpu_us = 99;
  other.build_id = "c";
  const Result<PutResult> again =
      PutAll(*store, {RecordItem(Level::kSignature, 0, Id("s"), other)});
  EXPECT_EQ(again->present, 1u);
  EXPECT_EQ(again->nondeterminism, 0u);
}

TEST_F(SqliteStoreTest, Poison_ExpiresAndGivesWayToAResult) {
  const StorePtr store = Open();
  const Item poison =
      RecordItem(Level::kSignature, 0, Id("s"), Record{.kind = RecordKind::kPoison});
  ASSERT_TRUE(PutAll(*store, {poison}).ok());
  EXPECT_TRUE(store->Get(poison.key, {}).ok());
  hand_clock.Advance(std::chrono::hours(25));
  EXPECT_FALSE(store->Get(poison.key, {}).ok());
  ASSERT_EQ(PutAll(*store, {poison})->added, 1u);
  ASSERT_EQ(PutAll(*store, {Content("a"), Signature("s", "a")})->added, 2u);
  EXPECT_EQ(PutAll(*store, {poison})->present, 1u);  // and does not come back
  EXPECT_EQ(SummarizeRow(Level::kSignature, store->Get(poison.key, {})->bytes)->kind,
            RecordKind::kOk);
}

TEST_F(SqliteStoreTest, PoisonAndResultInOneCall_AliasLeadsToTheResult) {
  const StorePtr store = Open();
  const Item poison =
      RecordItem(Level::kSignature, 0, Id("s"), Record{.kind = RecordKind::kPoison});
  const Item alias = AliasItem(0, Id("v"), Id("s"));
  ASSERT_TRUE(PutAll(*store, {Content("a"), poison, Signature("s", "a"), alias}).ok());
  EXPECT_TRUE(store->Get(alias.key, {}).ok());
}

TEST_F(SqliteStoreTest, Spaces_AreApart) {
  const StorePtr store = Open();
  const Item one = RowItem({.level = Level::kMask, .space = 1, .id = Id("m")},
                           EncodeMask(std::vector<std::string>{"fog"}));
  ASSERT_TRUE(PutAll(*store, {one}).ok());
  Key other = one.key;
  other.space = 2;
  EXPECT_FALSE(store->Get(other, {}).ok());
}

TEST_F(SqliteStoreTest, FindMissing_GivesAbsentKeysInOrder) {
  const StorePtr store = Open();
  ASSERT_TRUE(
      PutAll(*store, {Content("a"), Signature("s", "a"), AliasItem(0, Id("v"), Id("s"))}).ok());
  const std::vector<Key> keys = {Content("x").key, Content("a").key, Signature("s", "a").key,
                                 Signature("t", "a").key, AliasItem(0, Id("v"), Id("s")).key};
  EXPECT_EQ(*store->FindMissing(keys, {}), (std::vector<Key>{keys[0], keys[3]}));
}

TEST_F(SqliteStoreTest, ManyThreads_PutAndGetTheirOwn) {
  SystemClock clock;
  options.writer.group_wait = std::chrono::milliseconds(1);
  const StorePtr store = *SqliteStore::Open(options, clock, log);
  const auto work = [&store](int thread) {
    int found = 0;
    for (int i = 0; i < 50; ++i) {
      const std::string text = std::to_string(thread) + "/" + std::to_string(i);
      const std::vector<Item> items = {Content(text), Content("shared"), Signature(text, text)};
      found += PutAll(*store, items).ok() && store->Get(items[2].key, {}).ok() &&
                       store->Get(items[0].key, {}).ok()
                   ? 1
                   : 0;
    }
    return found;
  };
  std::vector<std::future<int>> threads;
  threads.reserve(8);
  for (int thread = 0; thread < 8; ++thread) {
    threads.push_back(std::async(std::launch::async, work, thread));
  }
  for (std::future<int>& thread : threads) {
    EXPECT_EQ(thread.get(), 50);
  }
  const SqliteStatus status = store->Status();
  EXPECT_EQ(status.grouped_requests, 400u);
  EXPECT_LT(status.groups, 400u);  // commits were shared
}

// Nobody would come back from a wait of an hour.
TEST_F(SqliteStoreTest, PutOfAWholeGroup_WaitsForNobodyElse) {
  options.writer.group_wait = std::chrono::hours(1);
  const StorePtr store = Open();
  std::vector<Item> items;
  for (uint32_t i = 0; i < options.writer.group_items; ++i) {
    items.push_back(Content(std::to_string(i)));
  }
  EXPECT_EQ(PutAll(*store, items)->added, options.writer.group_items);
  // The access times that closing writes make this one whole.
  items.pop_back();
  ASSERT_TRUE(store->Put(items, Durability::kRelaxed, {}).ok());
}

TEST_F(SqliteStoreTest, SecondProcessOnTheDirectory_OnlyReadsAndSaysWho) {
  const StorePtr first = Open();
  ASSERT_TRUE(PutAll(*first, {Content("words")}).ok());
  const StorePtr second = Open();  // flock belongs to the open file, so this counts as another
  EXPECT_TRUE(second->Status().read_only);
  EXPECT_EQ(second->Status().owner, ::getpid());
  EXPECT_TRUE(second->Get(Content("words").key, {}).ok());
  EXPECT_EQ(PutAll(*second, {Content("other")}).error().reason, kReadOnly);
  const std::vector<std::string> lines = log.Lines();
  EXPECT_EQ(std::ranges::count_if(lines,
                                  [](const std::string& line) {
                                    return line.find("held by pid") != std::string::npos;
                                  }),
            1);
}

TEST_F(SqliteStoreTest, SecondDaemonOnTheDirectory_IsToldThePid) {
  const StorePtr first = Open();
  options.must_own = true;
  const Result<StorePtr> second = SqliteStore::Open(options, hand_clock, log);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().reason, kLocked);
  EXPECT_NE(second.error().context.find("pid " + std::to_string(::getpid())), std::string::npos);
}

TEST_F(SqliteStoreTest, NetworkFileSystem_IsRefusedByName) {
  options.file_system_type = [](const std::filesystem::path&) { return 0x6969L; };
  const Result<StorePtr> store = SqliteStore::Open(options, hand_clock, log);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().reason, "NETWORK_FILE_SYSTEM");
  EXPECT_NE(store.error().context.find("NFS"), std::string::npos);
}

TEST_F(SqliteStoreTest, Files_ArePrivate) {
  const StorePtr store = Open();
  ASSERT_TRUE(PutAll(*store, {Content("words")}).ok());
  using std::filesystem::perms;
  const perms others = perms::group_all | perms::others_all;
  EXPECT_EQ(std::filesystem::status(options.dir).permissions() & others, perms::none);
  for (const auto& file : std::filesystem::directory_iterator(options.dir)) {
    EXPECT_EQ(file.status().permissions() & others, perms::none) << file.path();
  }
}

TEST_F(SqliteStoreTest, FileThatIsNoDatabase_IsSetAsideAndAFreshOneStarts) {
  std::filesystem::create_directories(options.dir);
  std::ofstream(options.dir / "cache.db") << std::string(5000, 'x');
  const StorePtr store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_TRUE(PutAll(*store, {Content("words")}).ok());
  EXPECT_EQ(std::filesystem::file_size(options.dir / "cache.corrupt-1.db"), 5000u);
  EXPECT_FALSE(log.Lines().empty());
}

// The next cache.db would be recovered from the log of the old one.
TEST_F(SqliteStoreTest, DatabaseWhoseWalCannotBeMoved_StaysWhereItIs) {
  std::filesystem::create_directories(options.dir / "cache.v7.db-wal" / "full");
  std::ofstream(options.dir / "cache.db") << "old";
  std::ofstream(options.dir / "cache.db-wal") << "log";
  EXPECT_FALSE(SetAside(options.dir, "cache.v7").ok());
  EXPECT_EQ(std::filesystem::file_size(options.dir / "cache.db"), 3u);
  EXPECT_EQ(std::filesystem::file_size(options.dir / "cache.db-wal"), 3u);
  // No log at all is the usual case.
  std::filesystem::remove(options.dir / "cache.db-wal");
  EXPECT_TRUE(SetAside(options.dir, "cache.v7").ok());
  EXPECT_EQ(std::filesystem::file_size(options.dir / "cache.v7.db"), 3u);
}

TEST_F(SqliteStoreTest, OtherSchemaVersion_IsSetAsideAndComesBack) {
  const std::filesystem::path file = options.dir / "cache.db";
  ASSERT_TRUE(PutAll(*Open(), {Content("ours")}).ok());
  std::filesystem::rename(file, options.dir / "cache.v5.db");  // as a kiln of version 7 did
  {
    std::ofstream(file).flush();
    Connection connection = *Connection::Open(file, OpenMode::kReadWrite);
    ASSERT_TRUE(connection
                    .Execute("PRAGMA application_id=0x4B494C4E; PRAGMA user_version=7;"
                             "CREATE TABLE t (x)")
                    .ok());
  }
  const StorePtr store = Open();
  EXPECT_TRUE(store->Get(Content("ours").key, {}).ok());
  EXPECT_TRUE(std::filesystem::exists(options.dir / "cache.v7.db"));
  EXPECT_FALSE(std::filesystem::exists(options.dir / "cache.v5.db"));
}

// Each would run inside statements of ours, some of them without an end.
TEST_F(SqliteStoreTest, FileWithAProgramInItsSchema_IsSetAside) {
  constexpr const char* kEndless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r)";
  const std::string rows[] = {
      std::string("DROP TABLE pin; CREATE VIEW pin AS ") + kEndless + " SELECT n AS pin FROM r",
      std::string("CREATE TRIGGER t AFTER INSERT ON blob BEGIN INSERT INTO meta SELECT 'z'||n, 1 "
                  "FROM (") +
          kEndless + " SELECT n FROM r); END",
      "CREATE INDEX zz ON entry (length(hex(zeroblob(400000000))))",
      "ALTER TABLE lease ADD COLUMN g ANY GENERATED ALWAYS AS (length(hex(zeroblob(300000000))))",
  };
  for (const std::string& sql : rows) {
    SCOPED_TRACE(sql);
    std::filesystem::remove_all(options.dir);
    ASSERT_TRUE(PutAll(*Open(), {Content("words")}).ok());
    {
      // As another program leaves it: nothing is prohibited there.
      sqlite3* db = nullptr;
      ASSERT_EQ(sqlite3_open((options.dir / "cache.db").c_str(), &db), SQLITE_OK);
      EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
          << sqlite3_errmsg(db);
      sqlite3_close(db);
    }
    const StorePtr store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_TRUE(std::filesystem::exists(options.dir / "cache.corrupt-1.db"));
    EXPECT_FALSE(store->Get(Content("words").key, {}).ok());
    EXPECT_TRUE(PutAll(*store, {Content("words")}).ok());
  }
}

TEST_F(SqliteStoreTest, ValueBeyondEveryContent_IsRefusedBySqliteItself) {
  ASSERT_TRUE(PutAll(*Open(), {Content("words")}).ok());
  Connection connection = *Connection::Open(options.dir / "cache.db", OpenMode::kReadOnly);
  EXPECT_EQ(*connection.QueryInt("SELECT length(zeroblob(268435456))"), 268'435'456);
  EXPECT_FALSE(connection.QueryInt("SELECT length(hex(zeroblob(268435456)))").ok());
}

TEST_F(SqliteStoreTest, FilesThatAreSetAside_CountAndMakeRoomOldestFirst) {
  ASSERT_TRUE(PutAll(*Open(), {Content("ours")}).ok());
  const auto put_aside = [&](const char* name, size_t bytes) {
    std::ofstream(options.dir / name) << std::string(bytes, 'x');
  };
  const auto is_there = [&](const char* name) {
    return std::filesystem::exists(options.dir / name);
  };
  put_aside("cache.v7.db", 3'000'000);
  put_aside("cache.corrupt-1.db", 1'000'000);
  const StorePtr store = Open();
  const uint64_t own = store->UsedBytes() - 4'000'000;
  EXPECT_GT(own, 0u);
  EXPECT_LT(own, 1'000'000u);
  store->StartCollecting(own + 4'000'000);  // they fit
  EXPECT_TRUE(is_there("cache.corrupt-1.db"));
  EXPECT_FALSE(is_there("cache.v7.db"));  // more than half of what there may be
  put_aside("cache.v7.db", 300'000);
  store->StartCollecting(own + 1'000'000);
  EXPECT_FALSE(is_there("cache.corrupt-1.db"));
  EXPECT_TRUE(is_there("cache.v7.db"));
  EXPECT_EQ(store->UsedBytes(), own + 300'000);
  EXPECT_TRUE(store->Get(Content("ours").key, {}).ok());
}

TEST_F(SqliteStoreTest, FileOfAnotherApplication_IsKeptUnderItsName) {
  std::filesystem::create_directories(options.dir);
  std::ofstream(options.dir / "cache.db").flush();
  {
    Connection connection = *Connection::Open(options.dir / "cache.db", OpenMode::kReadWrite);
    ASSERT_TRUE(connection
                    .Execute("PRAGMA application_id=0x1234; PRAGMA user_version=1;"
                             "CREATE TABLE t (x)")
                    .ok());
  }
  ASSERT_NE(Open(), nullptr);
  EXPECT_TRUE(std::filesystem::exists(options.dir / "cache.v1-app1234.db"));
}

TEST_F(SqliteStoreTest, Pragmas_AreThoseOfTheSpecification) {
  const StorePtr store = Open();
  Connection connection = *Connection::Open(options.dir / "cache.db", OpenMode::kReadOnly);
  EXPECT_EQ(*connection.QueryInt("PRAGMA page_size"), 16384);
  EXPECT_EQ(*connection.QueryInt("PRAGMA auto_vacuum"), 2);
  EXPECT_EQ(*connection.QueryText("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(*connection.QueryInt("PRAGMA application_id"), 0x4B494C4E);
  EXPECT_EQ(*connection.QueryInt("PRAGMA user_version"), 5);
  ASSERT_TRUE(store
                  ->Write(
                      [](TableWrites& writes) -> Result<void> {
                        Connection& writer = writes.connection();
                        EXPECT_EQ(*writer.QueryInt("PRAGMA synchronous"), 2);
                        EXPECT_EQ(*writer.QueryInt("PRAGMA wal_autocheckpoint"), 0);
                        EXPECT_EQ(*writer.QueryInt("PRAGMA cache_size"), -16384);
                        EXPECT_EQ(*writer.QueryInt("PRAGMA mmap_size"), 0);
                        EXPECT_EQ(*writer.QueryInt("PRAGMA trusted_schema"), 0);
                        return {};
                      },
                      {})
                  .ok());
}

TEST_F(SqliteStoreTest, LongWal_IsCutBack) {
  options.writer.wal = {.passive = 1 << 20, .restart = 2 << 20, .truncate = 4 << 20};
  const StorePtr store = Open();
  int64_t longest = 0;
  uintmax_t on_disk = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(PutAll(*store, {Content(std::to_string(i) + std::string(100'000, 'x'))}).ok());
    longest = std::max(longest, store->Status().wal_bytes);
    on_disk = std::max(on_disk, std::filesystem::file_size(store->dir() / "cache.db-wal"));
  }
  EXPECT_GT(longest, 0);
  EXPECT_LE(longest, 8 << 20);
  EXPECT_LE(on_disk, uintmax_t{8} << 20);
  EXPECT_GT(store->UsedBytes(), 19u << 20);
}

TEST_F(SqliteStoreTest, CancelledPut_Returns) {
  const StorePtr store = Open();
  std::stop_source stop;
  stop.request_stop();
  const Item item = Content("words");
  const Result<PutResult> stored =
      store->Put(std::span(&item, 1), Durability::kDurable, {.stop = stop.get_token()});
  EXPECT_TRUE(stored.ok() || stored.error().code == ErrorCode::kCancelled);
}

}  // namespace
}  // namespace kiln::cache::sqlite
