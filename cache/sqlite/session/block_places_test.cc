// SPDX-License-Identifier: MIT
#include "cache/sqlite/session/block_places.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::cache::sqlite {
namespace {

Hash128 Id(uint64_t number) { return HashBytes(AsBytes(std::to_string(number))); }
BlockName Block(int64_t number) { return {.number = number, .id = Id(1'000)}; }

// Contents 10 n to 10 n + 9 lie in block n.
std::vector<ContentPlace> PlacesOf(uint64_t block) {
  std::vector<ContentPlace> places;
  for (uint64_t i = 0; i < 10; ++i) {
    places.push_back({.id = Id(10 * block + i), .at = i, .raw_size = 4});
  }
  return places;
}

class BlockPlacesTest : public testing::Test {
 protected:
  void Keep(int64_t number) {
    places.BeginRead();
    (void)places.IsWanted(Block(number));
    places.Keep(Block(number), PlacesOf(static_cast<uint64_t>(number)));
  }
  // The block, or 0.
  int64_t BlockOf(uint64_t content) {
    const std::optional<BlockPlaces::Found> found = places.Find(Id(content));
    return found.has_value() ? found->block.number : 0;
  }

  std::atomic<uint64_t> changes = 7;
  BlockPlaces places{&changes};
};

TEST_F(BlockPlacesTest, BlockIsAskedForAgain_ItsRowsAreWanted) {
  places.BeginRead();
  EXPECT_FALSE(places.IsWanted(Block(1)));
  EXPECT_FALSE(places.IsWanted(Block(2)));
  EXPECT_TRUE(places.IsWanted(Block(1)));
  places.Keep(Block(1), PlacesOf(1));
  EXPECT_FALSE(places.IsWanted(Block(1)));
}

TEST_F(BlockPlacesTest, RowsAreKept_EachContentIsFoundInAnyOrder) {
  Keep(1);
  Keep(2);
  for (const uint64_t content : {10, 20, 11, 21, 19, 10, 25}) {
    EXPECT_EQ(BlockOf(content), static_cast<int64_t>(content / 10)) << content;
    EXPECT_EQ(places.Find(Id(content))->place.at, content % 10) << content;
  }
  EXPECT_EQ(BlockOf(30), 0);
}

TEST_F(BlockPlacesTest, FileChanges_NothingIsBelieved) {
  Keep(1);
  ++changes;
  EXPECT_EQ(BlockOf(10), 0);
  Keep(1);
  EXPECT_EQ(BlockOf(10), 1);
}

// The read may or may not have seen it.
TEST_F(BlockPlacesTest, FileChangesWhileItIsRead_NothingIsBelieved) {
  places.BeginRead();
  (void)places.IsWanted(Block(1));
  ++changes;
  places.Keep(Block(1), PlacesOf(1));
  EXPECT_EQ(BlockOf(10), 0);
}

TEST_F(BlockPlacesTest, ManyBlocks_TheLastOnesAreKept) {
  Keep(1);
  for (int64_t number = 2; number <= 5; ++number) {
    (void)BlockOf(10);  // block 1 stays in use
    Keep(number);
  }
  EXPECT_EQ(BlockOf(10), 1);
  EXPECT_EQ(BlockOf(20), 0);
  EXPECT_EQ(BlockOf(50), 5);
}

TEST_F(BlockPlacesTest, MoreRowsThanABlockHas_AreNotKept) {
  places.BeginRead();
  (void)places.IsWanted(Block(1));
  places.Keep(Block(1), std::vector<ContentPlace>(BlockPlaces::kMostRows + 1));
  EXPECT_FALSE(places.Find(Hash128{}).has_value());
}

TEST(BlockPlaces, NobodyTellsChanges_NothingIsKept) {
  BlockPlaces places;
  places.BeginRead();
  EXPECT_FALSE(places.IsWanted(Block(1)));
  EXPECT_FALSE(places.IsWanted(Block(1)));
  places.Keep(Block(1), PlacesOf(1));
  EXPECT_FALSE(places.Find(Id(10)).has_value());
}

}  // namespace
}  // namespace kiln::cache::sqlite
