// SPDX-License-Identifier: MIT
#include "cache/store.h"

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

TEST(Store, KeyText_NamesLevelSpaceAndId) {
  const Key key{.level = Level::kSignature, .space = 3, .id = HashBytes({})};
  EXPECT_EQ(KeyText(key), "signature/3/e3b0c44298fc1c149afbf4c8996fb924");
}

TEST(Store, ContentItem_IsKeyedByItsBytes) {
  const Item item = ContentItem(CopiedBlob(AsBytes("words")));
  EXPECT_EQ(item.key, (Key{.level = Level::kContent, .space = 0, .id = DigestOf("words").id}));
  EXPECT_EQ(AsText(item.value.bytes), "words");
  EXPECT_EQ(item.value.raw_size, 5u);
}

TEST(Store, RowSum_DependsOnEverythingThatLeadsToTheValue) {
  const Key key{.level = Level::kMask, .space = 1, .id = HashBytes({})};
  const Hash128 sum = RowSum(key, AsBytes("v"));
  Key other = key;
  other.level = Level::kRecipe;
  EXPECT_NE(sum, RowSum(other, AsBytes("v")));
  other = key;
  other.space = 2;
  EXPECT_NE(sum, RowSum(other, AsBytes("v")));
  other = key;
  other.id.bytes[15] ^= 1;
  EXPECT_NE(sum, RowSum(other, AsBytes("v")));
  EXPECT_NE(sum, RowSum(key, AsBytes("w")));
}

}  // namespace
}  // namespace kiln::cache
