// SPDX-License-Identifier: MIT
// A store trains dictionaries, keeps old ones readable, and loses at most what needed a lost one.
#include "cache/sqlite/tables/dictionaries.h"

#include <set>

#include <gtest/gtest.h>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/sqlite/maintenance/maintenance.h"
#include "cache/test_contents.h"
#include "compiler/base/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

class DictionariesTest : public testing::Test {
 protected:
  void Open(bool read_only = false) {
    store.reset();
    store = *SqliteStore::Open(
        {.dir = directory.path(), .writer = {.group_wait = {}}, .read_only = read_only}, clock,
        log);
  }
  void SetUp() override { Open(); }

  static std::vector<Item> Items(uint64_t number) {
    const Item code = ContentItem(OwnedBlob(LikeCode(number)));
    return {code, RecordItem(Level::kSignature, 0, HashBytes(AsBytes(std::to_string(number))),
                             {.products = {{"code", DigestOf(code.value.bytes)}}})};
  }
  void Put(uint64_t first, uint64_t end) {
    CompressingStore compressing(*store, *store, &store->dictionaries());
    for (uint64_t number = first; number < end; ++number) {
      ASSERT_TRUE(compressing.Put(Items(number), Durability::kDurable, {}).ok());
    }
  }
  // How many of these are there; what is there is right.
  uint64_t Right(uint64_t first, uint64_t end) {
    CompressingStore compressing(*store, *store, &store->dictionaries());
    CheckedStore checked(compressing, *store);
    uint64_t right = 0;
    for (uint64_t number = first; number < end; ++number) {
      const Result<Blob> blob = checked.Get(Items(number)[0].key, {});
      EXPECT_TRUE(!blob.ok() || AsText(blob->bytes) == AsText(Items(number)[0].value.bytes));
      right += blob.ok() ? 1 : 0;
    }
    return right;
  }
  void Train(size_t count) {
    const Result<std::vector<TrainedDictionary>> trained = store->Train();
    ASSERT_TRUE(trained.ok()) << ErrorText(trained.error());
    ASSERT_EQ(trained->size(), count);
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
  void Scan() {
    store->StartScan();
    ASSERT_TRUE(store->Flush().ok());  // the writer has had its slice before the second group
    ASSERT_TRUE(store->Flush().ok());
  }
  StoreMaintenance maintenance() { return {*store, clock}; }

  TestDirectory directory;
  FakeClock clock;
  NullLog log;
  std::unique_ptr<SqliteStore> store;
};

constexpr std::string_view kWithDictionary = "SELECT count(*) FROM blob WHERE codec=2 AND dict<>0";

TEST_F(DictionariesTest, TooLittleContent_TrainsNone) {
  Put(0, 10);
  Train(0);
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 0);
}

TEST_F(DictionariesTest, NewContent_IsSmallerAndOldContentStaysReadableForEver) {
  Put(0, 80);
  const Result<std::vector<TrainedDictionary>> trained = store->Train();
  ASSERT_EQ(trained->size(), 1u);
  EXPECT_EQ(trained->front().kind, ContentKind::kCode);
  EXPECT_LT(trained->front().after_bytes, trained->front().before_bytes);
  Put(80, 160);
  EXPECT_EQ(Int(kWithDictionary), 80);
  EXPECT_LT(Int("SELECT sum(length(data)) FROM blob WHERE codec=2"),
            Int("SELECT sum(length(data)) FROM blob WHERE codec<>2") * 9 / 10);
  // Another version, with other content.
  Sql("DELETE FROM meta WHERE k='dict.code'");
  Open();
  Put(160, 260);
  Train(1);
  Put(260, 300);
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 2);
  for (const bool read_only : {false, true}) {
    Open(read_only);
    EXPECT_EQ(Right(0, 300), 300u);
    EXPECT_TRUE(maintenance().Verify({})->clean());
    EXPECT_TRUE(maintenance().Verify({.fast = true})->clean());
  }
}

TEST_F(DictionariesTest, StoreThatIsOpenedAgain_GoesOnWithItsDictionary) {
  Put(0, 80);
  Train(1);
  Open();
  Put(80, 100);
  EXPECT_EQ(Int(kWithDictionary), 20);
}

TEST_F(DictionariesTest, TrainingAgain_ChangesNothingUnlessItIsWorthIt) {
  Put(0, 80);
  EXPECT_TRUE(*TrainingIsDue(store->Read({})->connection()));
  Train(1);
  EXPECT_FALSE(*TrainingIsDue(store->Read({})->connection()));
  Train(0);
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 1);
  Put(80, 170);
  EXPECT_TRUE(*TrainingIsDue(store->Read({})->connection()));
}

TEST_F(DictionariesTest, LostOrDamagedDictionary_LosesWhatNeededItAndNothingElse) {
  for (const std::string& sql : std::vector<std::string>{
           "DELETE FROM dict",
           "UPDATE dict SET id=zeroblob(16)",
           "UPDATE dict SET data=zeroblob(length(data))",
           "UPDATE dict SET data=substr(data, 1, 100)",
           "UPDATE dict SET dict=dict+1",
       }) {
    SCOPED_TRACE(sql);
    store.reset();
    std::filesystem::remove_all(directory.path());
    Open();
    Put(0, 80);
    Train(1);
    Put(80, 100);
    Sql(sql);
    EXPECT_FALSE(maintenance().Verify({})->clean());
    EXPECT_FALSE(maintenance().Verify({.fast = true})->clean());
    Open();  // nothing is in memory
    EXPECT_EQ(Right(0, 80), 80u);
    EXPECT_EQ(Right(80, 90), 0u);
    ASSERT_TRUE(store->Flush().ok());
    EXPECT_EQ(Int("SELECT count(*) FROM quarantine WHERE what='blob'"), 10);
    EXPECT_EQ(Int("SELECT count(*) FROM entry"), 90);  // no record without its content
    const Result<RepairReport> repaired = maintenance().Repair({});
    ASSERT_TRUE(repaired.ok());
    EXPECT_TRUE(repaired->after.clean()) << FaultText(repaired->after.faults.front());
    EXPECT_EQ(Right(0, 100), 80u);
    Put(80, 100);  // what is lost is made again
    EXPECT_EQ(Right(0, 100), 100u);
  }
}

TEST_F(DictionariesTest, DictionaryThatGoesMissingUnderAPut_IsNotUsed) {
  Put(0, 80);
  Train(1);
  Sql("DELETE FROM dict");
  Put(80, 90);
  EXPECT_EQ(Int(kWithDictionary), 0);
  Open();
  EXPECT_EQ(Right(0, 90), 90u);
}

TEST_F(DictionariesTest, EachByteOfADictionary_GivesTheRightBytesOrAMiss) {
  Put(0, 80);
  Train(1);
  Put(80, 82);
  const int64_t size = Int("SELECT length(data) FROM dict");
  for (int64_t at = 1; at <= size; at += 211) {
    Sql("UPDATE dict SET data=CAST(substr(data, 1, " + std::to_string(at - 1) +
        ") || x'5a' || substr(data, " + std::to_string(at + 1) + ") AS BLOB)");
    Open();
    EXPECT_LE(Right(80, 82), 2u);  // Right compares bytes
    EXPECT_EQ(Right(0, 80), 80u);
    Put(80, 82);
  }
}

TEST_F(DictionariesTest, DictionaryThatNobodyNeeds_GoesWithTheOrphans) {
  Put(0, 80);
  Train(1);
  Put(80, 81);
  Scan();
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 1);  // needed and current
  Sql("DELETE FROM meta WHERE k='dict.code'");
  Scan();
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 1);  // needed
  Sql("DELETE FROM blob WHERE codec=2; DELETE FROM ref; DELETE FROM entry");
  Scan();
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 0);
}

// A content that is healed keeps its place in the file, which the sweep may have passed.
TEST_F(DictionariesTest, DictionaryThatContentBehindTheSweepNeeds_Stays) {
  Put(0, 80);
  Train(1);
  std::vector<Item> others;
  for (int i = 0; i < 1000; ++i) {
    others.push_back(ContentItem(CopiedBlob(AsBytes("other " + std::to_string(i)))));
  }
  ASSERT_TRUE(store->Put(others, Durability::kDurable, {}).ok());
  Scan();  // the first thousand
  Sql("UPDATE blob SET data=zeroblob(length(data)) WHERE rid<=20");
  Put(0, 20);
  ASSERT_GT(Int("SELECT count(*) FROM blob WHERE rid<=20 AND dict<>0"), 0);
  Sql("DELETE FROM meta WHERE k='dict.code'");
  Scan();  // the rest
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 1);
  EXPECT_EQ(Right(0, 80), 80u);
  // The next sweep meets the content itself.
  Scan();
  Scan();
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 1);
  Open();
  EXPECT_EQ(Right(0, 80), 80u);
}

// One more than are kept pushes out the one that was used longest ago, and no other.
TEST_F(DictionariesTest, OneMoreThanAreKept_PushesOutTheOldest) {
  const auto add = [&](uint64_t number) {
    std::vector<Bytes> samples;
    for (uint64_t i = 0; i < 60; ++i) {
      samples.push_back(LikeCode(number * 1000 + i));
    }
    const DictionaryPtr made = Dictionary::Make(TrainDictionary(samples, 4096));
    EXPECT_NE(made, nullptr);
    EXPECT_TRUE(store
                    ->Write(
                        [&](TableWrites& writes) -> Result<void> {
                          KILN_TRY(Statement insert, writes.connection().Prepare(
                                                         "INSERT INTO dict VALUES (?1, ?2, ?3)"));
                          return Query(insert)
                              .Bind(int64_t{made->number()})
                              .Bind(made->id())
                              .Bind(made->bytes())
                              .Run();
                        },
                        {})
                    .ok());
    return made->number();
  };
  std::vector<uint32_t> numbers;
  for (uint64_t i = 0; i < 17; ++i) {
    numbers.push_back(add(i));
  }
  ASSERT_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(), 17u);
  Result<ReaderPool::Loan> reader = store->Read({});
  // Of a connection there are four, of the store sixteen. Pointers are held, so that none is made
  // anew at the address of another.
  const auto check = [&](size_t kept, const auto& find) {
    std::vector<DictionaryPtr> found;
    for (size_t i = 0; i < kept; ++i) {
      found.push_back(find(numbers[i]));
    }
    EXPECT_EQ(find(numbers[0]), found[0]);  // the latest now
    const DictionaryPtr next = find(numbers[kept]);
    EXPECT_EQ(find(numbers[0]), found[0]);
    EXPECT_EQ(find(numbers[kept - 1]), found[kept - 1]);
    EXPECT_NE(find(numbers[1]), found[1]);  // went
  };
  check(4, [&](uint32_t number) { return *(*reader)->FindDictionary(number); });
  check(16, [&](uint32_t number) { return *store->dictionaries().Find(number); });
}

TEST_F(DictionariesTest, FileThatIsReplaced_KeepsContentAndLeavesDictionariesBehind) {
  Put(0, 80);
  Train(1);
  Put(80, 100);
  ASSERT_TRUE(store->Rebuild().ok());
  EXPECT_EQ(Right(0, 100), 100u);
  EXPECT_EQ(Int("SELECT count(*) FROM dict"), 0);
  EXPECT_TRUE(maintenance().Verify({})->clean());
  Put(100, 110);
  EXPECT_EQ(Right(0, 110), 110u);
}

}  // namespace
}  // namespace kiln::cache::sqlite
