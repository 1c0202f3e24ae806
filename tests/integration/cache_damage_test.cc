// SPDX-License-Identifier: MIT
// Damaged files: every read gives the right bytes or a miss, never wrong bytes, never a crash, and
// the store goes on working. See spec/cache 6.7, 12.
#include <fstream>
#include <iterator>
#include <random>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
#include "tests/integration/cache_records.h"
#include "tests/integration/full_run.h"

namespace kiln::tests {
namespace {

using cache::sqlite::SqliteStore;

constexpr uint64_t kRecords = 24;
constexpr uint64_t kRecordsOfASmallDatabase = 2;
constexpr size_t kPage = 16384;

// The part of the default stack that damage meets.
struct Stack {
  explicit Stack(SqliteStore& sqlite)
      : compressing(sqlite, sqlite, &sqlite.dictionaries()), checked(compressing, sqlite) {}
  cache::CompressingStore compressing;
  cache::CheckedStore checked;
};

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

struct Files {
  std::string database;
  std::string wal;
};

// Puts records [first, end), half of them together, so that their contents lie in a block if there
// are enough; gives what is on disk before the store is closed.
Files PutRecords(const std::filesystem::path& dir, uint64_t first, uint64_t end) {
  SystemClock clock;
  NullLog log;
  const auto store = *SqliteStore::Open({.dir = dir}, clock, log);
  Stack stack(*store);
  std::vector<cache::Item> together;
  for (uint64_t number = first; number < end; ++number) {
    const std::vector<cache::Item> items = NumberedItems(number);
    if (number % 2 == 0) {
      EXPECT_TRUE(stack.checked.Put(items, cache::Durability::kDurable, {}).ok());
    } else {
      together.insert(together.end(), items.begin(), items.end());
    }
  }
  EXPECT_TRUE(stack.checked.Put(together, cache::Durability::kDurable, {}).ok());
  return {.database = ReadFile(dir / "cache.db"), .wal = ReadFile(dir / "cache.db-wal")};
}

// What is thrown away after each reading needs no disk; a file system in memory is quicker.
std::filesystem::path QuickDirectory() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

// A store that was never closed: half of the records are in the database, half in the WAL.
Files MakeFiles(uint64_t records) {
  const TestDirectory directory;
  PutRecords(directory.path(), 0, records / 2);
  Files files = PutRecords(directory.path(), records / 2, records);
  EXPECT_GT(files.database.size(), kPage);
  EXPECT_GT(files.wal.size(), kPage);
  return files;
}

void FlipBits(std::string& bytes, std::mt19937& random) {
  for (uint32_t flips = 1 + random() % 8; flips > 0; --flips) {
    char& byte = bytes[random() % bytes.size()];
    byte = static_cast<char>(static_cast<uint32_t>(byte) ^ 1u << random() % 8);
  }
}

void SwapPages(std::string& bytes, std::mt19937& random) {
  const size_t pages = bytes.size() / kPage;
  const size_t a = random() % pages * kPage;
  const size_t b = random() % pages * kPage;
  const std::string kept = bytes.substr(a, kPage);
  bytes.replace(a, kPage, bytes.substr(b, kPage));
  bytes.replace(b, kPage, kept);
}

// One kind of damage to one of the two files.
void Damage(Files& files, std::mt19937& random) {
  std::string& bytes = random() % 3 == 0 ? files.wal : files.database;
  switch (random() % 6) {
    case 0:
      bytes.resize(random() % bytes.size());
      break;
    case 1:
      bytes.replace(random() % (bytes.size() / kPage) * kPage, kPage, std::string(kPage, '\0'));
      break;
    case 2:
      SwapPages(bytes, random);
      break;
    default:
      FlipBits(bytes, random);
      break;
  }
}

class CacheDamage : public testing::Test {
 protected:
  CacheDamage() {
    for (uint64_t number = 0; number < kRecords; ++number) {
      records.push_back(NumberedItems(number));
    }
  }

  // Opens a store over the files and reads the first records; how many were there.
  void CheckReads(const Files& files, uint64_t count, uint64_t seed) {
    for (const auto& left : std::filesystem::directory_iterator(quick.path())) {
      std::filesystem::remove_all(left.path());
    }
    WriteFile(quick.path() / "cache.db", files.database);
    WriteFile(quick.path() / "cache.db-wal", files.wal);
    auto store = SqliteStore::Open({.dir = quick.path()}, clock, log);
    ASSERT_TRUE(store.ok()) << "seed " << seed << ": " << ErrorText(store.error());
    Stack stack(**store);
    for (uint64_t number = 0; number < count; ++number) {
      const Found found = LookUp(stack.checked, records[number]);
      ASSERT_NE(found, Found::kWrong) << "seed " << seed << " record " << number;
      all += found == Found::kAll ? 1 : 0;
      missing += found == Found::kMissing ? 1 : 0;
    }
    ++readings;
  }

  // What a long test found; its figures stand in docs/bench/CACHE.md.
  void PrintCounts(const char* what) const {
    std::printf("%s: %lu readings, records found %lu, missing %lu, wrong 0\n", what, readings, all,
                missing);
  }

  SystemClock clock;
  NullLog log;
  const TestDirectory quick{QuickDirectory()};
  std::vector<std::vector<cache::Item>> records;
  uint64_t readings = 0;
  uint64_t all = 0;
  uint64_t missing = 0;
};

TEST_F(CacheDamage, SoundFiles_GiveEverything) {
  CheckReads(MakeFiles(kRecords), kRecords, 0);
  EXPECT_EQ(all, kRecords);
}

TEST_F(CacheDamage, DamagedFiles_GiveTheRightBytesOrAMiss) {
  const Files sound = MakeFiles(kRecords);
  for (int round = 0; round < Rounds(60, 100'000); ++round) {
    const auto seed = static_cast<uint32_t>(round + 1);
    std::mt19937 random(seed);
    Files files = sound;
    Damage(files, random);
    ASSERT_NO_FATAL_FAILURE(CheckReads(files, kRecords, seed));
  }
  EXPECT_GT(all, 0u);
  EXPECT_GT(missing, 0u);
  PrintCounts("damaged files");
}

TEST_F(CacheDamage, DamagedContent_IsDroppedWithItsRecordAndComesBack) {
  const TestDirectory directory;
  auto store = *SqliteStore::Open({.dir = directory.path()}, clock, log);
  const std::vector<cache::Item> items = NumberedItems(1);
  ASSERT_TRUE(store->Put(items, cache::Durability::kDurable, {}).ok());
  ASSERT_TRUE(store
                  ->Write(
                      [](cache::sqlite::TableWrites& changes) {
                        return changes.connection().Execute(
                            "UPDATE blob SET data=zeroblob(length(data))");
                      },
                      {})
                  .ok());
  EXPECT_EQ(LookUp(*store, 1), Found::kMissing);
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(store->Status().damage[static_cast<size_t>(cache::DamageKind::kBlob)], 1u);
  for (const cache::Item& item : items) {
    EXPECT_FALSE(store->Get(item.key, {}).ok()) << KeyText(item.key);
  }
  ASSERT_TRUE(store->Put(items, cache::Durability::kDurable, {}).ok());
  EXPECT_EQ(LookUp(*store, 1), Found::kAll);
}

struct RowDamage {
  std::string_view sql;
  cache::DamageKind kind;
};

TEST_F(CacheDamage, DamagedRows_AreCountedByKindAndPutAgain) {
  for (const RowDamage& damage : {
           RowDamage{"UPDATE entry SET value=zeroblob(length(value))", cache::DamageKind::kRecord},
           RowDamage{"UPDATE entry SET space=0, sum=zeroblob(16)", cache::DamageKind::kRecord},
           RowDamage{"UPDATE alias SET sum=sum+1", cache::DamageKind::kAlias},
           RowDamage{"DELETE FROM blob", cache::DamageKind::kDangling},
       }) {
    const TestDirectory directory;
    auto store = *SqliteStore::Open({.dir = directory.path()}, clock, log);
    ASSERT_TRUE(store->Put(NumberedItems(1), cache::Durability::kDurable, {}).ok());
    ASSERT_TRUE(store
                    ->Write(
                        [&damage](cache::sqlite::TableWrites& changes) {
                          return changes.connection().Execute(damage.sql.data());
                        },
                        {})
                    .ok());
    EXPECT_EQ(LookUp(*store, 1), Found::kMissing) << damage.sql;
    EXPECT_GT(store->Status().damage[static_cast<size_t>(damage.kind)], 0u) << damage.sql;
    ASSERT_TRUE(store->Put(NumberedItems(1), cache::Durability::kDurable, {}).ok());
    EXPECT_EQ(LookUp(*store, 1), Found::kAll) << damage.sql;
  }
}

TEST_F(CacheDamage, FileBeyondRepair_IsReplacedAndWhatVerifiesIsSalvaged) {
  const TestDirectory directory;
  PutRecords(directory.path(), 0, kRecords);
  std::string bytes = ReadFile(directory.path() / "cache.db");
  // The root page of the first table's index is no b-tree page any more.
  {
    auto connection = *cache::sqlite::Connection::Open(directory.path() / "cache.db",
                                                       cache::sqlite::OpenMode::kReadOnly);
    const int64_t page =
        *connection.QueryInt("SELECT rootpage FROM sqlite_schema WHERE name='alias_eid'");
    bytes.replace(static_cast<size_t>(page - 1) * kPage, kPage, std::string(kPage, '\x55'));
  }
  WriteFile(directory.path() / "cache.db", bytes);
  auto store = *SqliteStore::Open({.dir = directory.path()}, clock, log);
  // A put needs the index, so it meets the damage.
  EXPECT_FALSE(store->Put(NumberedItems(99), cache::Durability::kDurable, {}).ok());
  Stack stack(*store);
  ASSERT_TRUE(WaitUntil([&] {
    return std::filesystem::exists(directory.path() / "cache.corrupt-1.db") &&
           store->Get(NumberedItems(kRecords - 1)[1].key, {}).ok();
  }));
  for (uint64_t number = 0; number < kRecords; ++number) {
    for (size_t item = 0; item < 2; ++item) {  // content and record; aliases hung on the index
      EXPECT_TRUE(stack.checked.Get(NumberedItems(number)[item].key, {}).ok()) << number;
    }
  }
  EXPECT_TRUE(store->Put(NumberedItems(99), cache::Durability::kDurable, {}).ok());
}

// The child that reads the damaged file is this program (main.cc).
TEST_F(CacheDamage, SalvageInAChild_BringsBackWhatVerifies) {
  const TestDirectory directory;
  auto store = *SqliteStore::Open({.dir = directory.path(), .salvage_program = "/proc/self/exe"},
                                  clock, log);
  for (uint64_t number = 0; number < kRecords; ++number) {
    ASSERT_TRUE(store->Put(NumberedItems(number), cache::Durability::kDurable, {}).ok());
  }
  const Result<std::string> aside = store->Rebuild();
  ASSERT_TRUE(aside.ok()) << ErrorText(aside.error());
  for (uint64_t number = 0; number < kRecords; ++number) {
    EXPECT_EQ(LookUp(*store, number), Found::kAll) << number;
  }
  for (const auto& file : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_NE(file.path().extension(), ".salvage") << "what the child made is gone";
  }
}

TEST_F(CacheDamage, SalvageChildThatDies_CostsWhatItHadNotCopied) {
  const TestDirectory directory;
  auto store =
      *SqliteStore::Open({.dir = directory.path(), .salvage_program = "/bin/false"}, clock, log);
  ASSERT_TRUE(store->Put(NumberedItems(1), cache::Durability::kDurable, {}).ok());
  ASSERT_TRUE(store->Rebuild().ok());
  EXPECT_EQ(LookUp(*store, 1), Found::kMissing);
  ASSERT_TRUE(store->Put(NumberedItems(1), cache::Durability::kDurable, {}).ok());
  EXPECT_EQ(LookUp(*store, 1), Found::kAll);
}

struct FirstPageDamage {
  const char* what;
  size_t at;
  size_t size;
  bool salvaged;  // else it is another version's file by what it says of itself
};

// The file is replaced; what is behind its first page comes back.
TEST_F(CacheDamage, FirstPageThatSqliteDoesNotTake_IsSetAsideAndTheRestSalvaged) {
  const Files sound = MakeFiles(kRecordsOfASmallDatabase);
  for (const FirstPageDamage& damage : {
           FirstPageDamage{"magic", 0, 1, true},
           FirstPageDamage{"page size", 16, 2, true},
           FirstPageDamage{"version that writes", 18, 1, true},
           FirstPageDamage{"version that reads", 19, 1, true},
           FirstPageDamage{"format of the schema", 47, 1, true},
           FirstPageDamage{"encoding of texts", 59, 1, true},
           FirstPageDamage{"header", 0, 100, true},
           FirstPageDamage{"schema", 100, kPage - 100, true},
           FirstPageDamage{"first page", 0, kPage, true},
           FirstPageDamage{"user version", 63, 1, false},
           FirstPageDamage{"application", 68, 1, false},
       }) {
    SCOPED_TRACE(damage.what);
    Files files{.database = sound.database, .wal = {}};
    for (size_t at = damage.at; at < damage.at + damage.size; ++at) {
      files.database[at] = static_cast<char>(~files.database[at]);
    }
    for (const char* program : {"", "/proc/self/exe"}) {
      const TestDirectory directory(QuickDirectory());
      WriteFile(directory.path() / "cache.db", files.database);
      const auto store =
          SqliteStore::Open({.dir = directory.path(), .salvage_program = program}, clock, log);
      ASSERT_TRUE(store.ok()) << ErrorText(store.error());
      ASSERT_TRUE((*store)->Put(records[9], cache::Durability::kDurable, {}).ok());
      EXPECT_EQ(LookUp(**store, records[9]), Found::kAll);
      (*store)->AwaitSalvage({});
      Stack stack(**store);
      EXPECT_EQ(LookUp(stack.checked, records[0]), damage.salvaged ? Found::kAll : Found::kMissing);
    }
  }
}

TEST_F(CacheDamage, FileWithoutAnyPage_IsSetAsideAndTheLogSaysWhyNothingCameBack) {
  for (const char* program : {"", "/proc/self/exe"}) {
    const TestDirectory directory(QuickDirectory());
    WriteFile(directory.path() / "cache.db", std::string(5 * kPage, '\x55'));
    RecordingLog lines;
    const auto store =
        SqliteStore::Open({.dir = directory.path(), .salvage_program = program}, clock, lines);
    ASSERT_TRUE(store.ok()) << ErrorText(store.error());
    (*store)->AwaitSalvage({});
    std::string all_lines;
    for (const std::string& line : lines.Lines()) {
      all_lines += line + "\n";
    }
    EXPECT_NE(all_lines.find("salvage"), std::string::npos) << all_lines;
    EXPECT_TRUE(std::filesystem::exists(directory.path() / "cache.corrupt-1.db"));
  }
}

// The tables are there, but one has another name than our statements say.
TEST_F(CacheDamage, SchemaOfOtherNames_IsSetAsideAndPutsGoOn) {
  const TestDirectory directory;
  PutRecords(directory.path(), 0, kRecordsOfASmallDatabase);
  {
    auto connection = *cache::sqlite::Connection::Open(directory.path() / "cache.db",
                                                       cache::sqlite::OpenMode::kReadWrite);
    ASSERT_TRUE(connection.Execute("ALTER TABLE alias RENAME TO aliaz").ok());
  }
  const auto store = SqliteStore::Open({.dir = directory.path()}, clock, log);
  ASSERT_TRUE(store.ok()) << ErrorText(store.error());
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "cache.corrupt-1.db"));
  ASSERT_TRUE((*store)->Put(records[9], cache::Durability::kDurable, {}).ok());
  EXPECT_EQ(LookUp(**store, records[9]), Found::kAll);
}

// Each byte in turn; the short form takes those of the header, then one of 8,191.
class CacheBytes : public CacheDamage {
 protected:
  void DamageEachByte(const Files& files, std::string& part) {
    constexpr size_t kHeader = 100;
    for (size_t at = 0; at < part.size(); at += FullRun() || at < kHeader ? 1 : 8191) {
      const char sound = part[at];
      part[at] = static_cast<char>(~sound);
      ASSERT_NO_FATAL_FAILURE(CheckReads(files, kRecordsOfASmallDatabase, at));
      part[at] = sound;
    }
    EXPECT_GT(all, 0u);
    PrintCounts("every byte");
  }
};

TEST_F(CacheBytes, EachOfASmallDatabase_IsDetectedOrHarmless) {
  Files files = MakeFiles(kRecordsOfASmallDatabase);
  DamageEachByte(files, files.database);
}

TEST_F(CacheBytes, EachOfItsWal_IsDetectedOrHarmless) {
  Files files = MakeFiles(kRecordsOfASmallDatabase);
  DamageEachByte(files, files.wal);
}

}  // namespace
}  // namespace kiln::tests
