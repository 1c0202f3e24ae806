// SPDX-License-Identifier: MIT
// A store that is full of records which are too young to be collected.
#include "cache/sqlite/maintenance/record_room.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "cache/leases/on_behalf.h"
#include "cache/record.h"
#include "cache/sqlite/sqlite_store.h"
#include "cache/sqlite/tables/lease_tables.h"
#include "compiler/base/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

constexpr size_t kBytes = 200'000;  // of each record, with its content

class RecordRoomTest : public testing::Test {
 protected:
  void SetUp() override { Open(0); }

  void Open(uint64_t max_bytes, const char* folder = "cache") {
    store.reset();
    store = *SqliteStore::Open({.dir = directory.path() / folder,
                                .max_bytes = max_bytes,
                                .writer = {.group_wait = Duration::zero()}},
                               clock, log);
  }

  // Content that does not compress, and the record that names it.
  static std::vector<Item> Made(const std::string& name, size_t bytes = kBytes) {
    std::mt19937 noise(std::hash<std::string>()(name));
    Bytes content(bytes);
    std::ranges::generate(content, [&] { return static_cast<std::byte>(noise()); });
    const Record record{.kind = RecordKind::kOk,
                        .products = {{"meta", DigestOf(content)}},
                        .cpu_us = 10,
                        .build_id = "b"};
    return {ContentItem(CopiedBlob(content)),
            RecordItem(Level::kSignature, 0, HashBytes(AsBytes(name)), record)};
  }

  Result<PutResult> Put(const char* principal, const std::string& name, size_t bytes = kBytes) {
    const OnBehalfOf scope(principal);
    return store->Put(Made(name, bytes), Durability::kDurable, {});
  }

  bool Has(const std::string& name) {
    const Key key{.level = Level::kSignature, .id = HashBytes(AsBytes(name))};
    return store->Get(key, {}).ok();
  }
  // Which of "a1 a2 …" are there.
  std::string There(const std::vector<std::string>& names) {
    std::string there;
    for (const std::string& name : names) {
      there += Has(name) ? (there.empty() ? "" : " ") + name : "";
    }
    return there;
  }

  TestDirectory directory;
  FakeClock clock;
  RecordingLog log;
  std::unique_ptr<SqliteStore> store;
};

const std::vector<std::string> kAll = {"a1", "a2", "a3", "a4", "b1", "b2", "o1"};

TEST_F(RecordRoomTest, RoomIsMade_OfWhoeverHasMost) {
  for (const std::string& name : kAll) {
    const char* const who = name[0] == 'a' ? "token:a" : name[0] == 'b' ? "token:b" : "owner";
    ASSERT_TRUE(Put(who, name).ok());
  }
  EXPECT_EQ(store->made().Shares().size(), 2u) << "nobody takes room from the owner";
  EXPECT_GE(store->made().Of("token:a"), 4 * kBytes);
  store->MakeRoom(store->UsedBytes() - kBytes / 2, {});
  EXPECT_EQ(There(kAll), "a2 a3 a4 b1 b2 o1") << "the oldest, content and all";
  store->MakeRoom(store->UsedBytes() - 5 * kBytes / 2, {});
  EXPECT_EQ(There(kAll), "a4 b2 o1") << "those who have as much come down together";
}

TEST_F(RecordRoomTest, RecordsOfNobody_GoLeastLatelyUsedFirst) {
  ASSERT_TRUE(Put("owner", "o1").ok());
  clock.Advance(std::chrono::minutes(3));
  ASSERT_TRUE(Put("owner", "o2").ok());
  clock.Advance(std::chrono::minutes(1));
  store->MakeRoom(store->UsedBytes(), {});
  EXPECT_EQ(There({"o1", "o2"}), "o1 o2") << "there is room";
  store->MakeRoom(store->UsedBytes() - kBytes / 2, {});
  EXPECT_EQ(There({"o1", "o2"}), "o2");
  store->MakeRoom(0, {});
  EXPECT_EQ(There({"o1", "o2"}), "");
}

// One who has no more than his share keeps what a lease covers; one who has more does not.
TEST_F(RecordRoomTest, LeasesKeep_WithinAShare) {
  const std::vector<std::string> names = {"a1", "a2", "a3", "a4", "a5"};
  for (const bool beyond : {false, true}) {
    Open(beyond ? 8 * kBytes : 40 * kBytes, beyond ? "beyond" : "within");
    ASSERT_TRUE(LeaseTable(*store).Hold("batch 7c1e").ok());
    for (const std::string& name : names) {
      ASSERT_TRUE(Put("token:a", name).ok());
    }
    store->MakeRoom(store->UsedBytes() - kBytes / 2, {});
    EXPECT_EQ(There(names), beyond ? "a2 a3 a4 a5" : "a1 a2 a3 a4 a5");
  }
}

TEST_F(RecordRoomTest, PinnedRecords_Stay) {
  ASSERT_TRUE(Put("token:a", "a1").ok());
  const Key key{.level = Level::kSignature, .id = HashBytes(AsBytes(std::string("a1")))};
  ASSERT_TRUE(PinTable(*store).Add({.name = "release"}, std::span(&key, 1)).ok());
  store->MakeRoom(0, {});
  EXPECT_TRUE(Has("a1"));
}

// No put leads beyond the bound, however large it is and however many wait.
TEST_F(RecordRoomTest, PutBeyondTheBound_IsRefusedAndMakesRoomBelowIt) {
  constexpr uint64_t kMost = 6 * kBytes;
  Open(kMost);
  const Result<PutResult> refused = Put("token:a", "large", kMost + 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kFull);
  EXPECT_EQ(refused.error().reason, "CACHE_FULL");
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(Put("token:a", "a" + std::to_string(i)).ok()) << i;
    EXPECT_LE(store->UsedBytes(), kMost) << i;
  }
  EXPECT_FALSE(Has("a0"));
  EXPECT_TRUE(Has("a11"));
  ASSERT_TRUE(Put("token:b", "b1").ok()) << "another is not refused for the sake of these";
  EXPECT_TRUE(Has("b1"));
}

TEST_F(RecordRoomTest, PutsThatWait_CountBeforeTheyAreWritten) {
  constexpr uint64_t kMost = 6 * kBytes;
  Open(kMost);
  for (int i = 0; i < 40; ++i) {
    const std::vector<Item> items = Made("r" + std::to_string(i));
    (void)store->Put(items, Durability::kRelaxed, {});
  }
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_LE(store->UsedBytes(), kMost);
}

}  // namespace
}  // namespace kiln::cache::sqlite
