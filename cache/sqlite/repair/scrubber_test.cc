// SPDX-License-Identifier: MIT
#include "cache/sqlite/repair/scrubber.h"

#include <set>

#include <gtest/gtest.h>

#include "cache/record.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int kRows = 500;
constexpr std::chrono::hours kDay{24};

class ScrubberTest : public testing::Test {
 protected:
  ScrubberTest() {
    store = *SqliteStore::Open({.dir = directory.path()}, clock, log);
    std::vector<Item> items;
    for (int i = 0; i < kRows; ++i) {
      const std::string text = "words " + std::to_string(i);
      items.push_back(ContentItem(CopiedBlob(AsBytes(text))));
      const std::vector<std::string> names{text};
      items.push_back(MaskItem(0, HashBytes(AsBytes(text)), names));
    }
    EXPECT_TRUE(store->Put(items, Durability::kDurable, {}).ok());
  }
  void Sql(const char* sql) {
    EXPECT_TRUE(store
                    ->Write(
                        [sql](TableWrites& writes) -> Result<void> {
                          KILN_TRY(Statement statement, writes.connection().Prepare(sql));
                          Query query(statement);
                          return query.Run();
                        },
                        {})
                    .ok());
  }
  std::vector<Damage> Run(Scrubber& scrubber, Duration passed) {
    Result<ReaderPool::Loan> reader = store->Read({});
    return scrubber.Run(reader->connection(), **reader, passed);
  }

  TestDirectory directory;
  SystemClock clock;
  NullLog log;
  std::unique_ptr<SqliteStore> store;
};

TEST_F(ScrubberTest, SoundRows_AreNoDamage) {
  Scrubber scrubber(1);
  EXPECT_TRUE(Run(scrubber, 1000 * kDay).empty());
}

TEST_F(ScrubberTest, AThousandthOfADay_IsRead) {
  Sql("UPDATE blob SET data=x'00'");
  Scrubber scrubber(1);
  size_t found = 0;
  for (int tick = 0; tick < 100 * 2880; tick += 288) {  // a tenth of a day at once, for 100 days
    found += Run(scrubber, Duration(kDay) / 10).size();
  }
  EXPECT_NEAR(static_cast<double>(found), kRows * 0.001 * 100, 1);
}

TEST_F(ScrubberTest, DamagedRowsOfEitherKind_AreFound) {
  Sql("UPDATE blob SET data=x'00' WHERE rid%100=7");
  Sql("UPDATE entry SET sum=zeroblob(16) WHERE eid%100=7");
  Scrubber scrubber(1);
  std::set<DamageKind> kinds;
  for (const Damage& damage : Run(scrubber, 2000 * kDay)) {
    kinds.insert(damage.kind);
  }
  EXPECT_EQ(kinds, (std::set{DamageKind::kBlob, DamageKind::kRecord}));
}

TEST_F(ScrubberTest, EmptyStore_IsNoProblem) {
  Sql("DELETE FROM blob");
  Sql("DELETE FROM entry");
  Scrubber scrubber(1);
  EXPECT_TRUE(Run(scrubber, 1000 * kDay).empty());
}

}  // namespace
}  // namespace kiln::cache::sqlite
