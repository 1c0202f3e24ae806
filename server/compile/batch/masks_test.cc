// SPDX-License-Identifier: MIT
#include "server/compile/batch/masks.h"

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/key.h"
#include "cache/record.h"

namespace kiln::compile {
namespace {

using Names = MaskList::Names;

std::string OptionName(uint32_t i) { return "o" + std::to_string(1000 + i); }

// Sixty-four masks: { o1000 }, { o1001 }, …
MaskList Full() {
  MaskList list;
  for (uint32_t i = 0; i < cache::kMaxMasks; ++i) {
    EXPECT_EQ(list.Add({OptionName(i)}), std::optional(i));
  }
  return list;
}

TEST(MaskList, WhatIsThere_IsNotAddedAgain) {
  MaskList list;
  EXPECT_EQ(list.Add({"a"}), std::optional(0u));
  EXPECT_EQ(list.Add({"a", "b"}), std::optional(1u));
  EXPECT_EQ(list.Add({"a"}), std::nullopt);
  EXPECT_EQ(list.Of({"a"}), Names({"a"}));
}

TEST(MaskList, MoreThan64_WidenTheClosest) {
  MaskList list = Full();
  EXPECT_EQ(list.Add({OptionName(7), "z"}), std::optional(7u));
  EXPECT_EQ(list.all().size(), cache::kMaxMasks);
  EXPECT_EQ(list.Of({OptionName(7), "z"}), Names({OptionName(7), "z"}));
  EXPECT_EQ(list.Of({OptionName(7)}), Names({OptionName(7), "z"}));
  EXPECT_EQ(list.Add({"z"}), std::nullopt) << "a mask has all of it";
  EXPECT_EQ(list.Of({"z"}), Names({OptionName(7), "z"}));
}

class StoredMasksTest : public testing::Test {
 protected:
  Names Add(StoredMasks& masks, const Names& live) {
    std::vector<cache::Item> items;
    Names mask = masks.Add(entry, live, items, {});
    EXPECT_TRUE(store.Put(items, cache::Durability::kRelaxed, {}).ok());
    return mask;
  }

  const Hash128 entry = HashBytes(AsBytes(std::string_view("entry")));
  cache::MemoryStore store{nullptr, nullptr, {}};
};

TEST_F(StoredMasksTest, AnotherProcess_SeesThemInOrderAndAddsBehindThem) {
  StoredMasks first(store);
  Add(first, {"a"});
  Add(first, {"b"});
  StoredMasks second(store);
  EXPECT_EQ(Add(second, {"c"}), Names({"c"}));
  const StoredMasks::MasksPtr read = StoredMasks(store).Of(entry, {});
  EXPECT_TRUE(read->stored);
  EXPECT_EQ(read->list.all(), std::vector<Names>({{"a"}, {"b"}, {"c"}}));
}

TEST_F(StoredMasksTest, MoreThan64_AreMergedInTheStore) {
  StoredMasks masks(store);
  for (uint32_t i = 0; i < cache::kMaxMasks; ++i) {
    Add(masks, {OptionName(i)});
  }
  EXPECT_EQ(Add(masks, {OptionName(3), "x"}), Names({OptionName(3), "x"}));
  const StoredMasks::MasksPtr read = StoredMasks(store).Of(entry, {});
  EXPECT_EQ(read->list.all().size(), cache::kMaxMasks);
  EXPECT_EQ(read->list.all()[3], Names({OptionName(3), "x"}));
}

}  // namespace
}  // namespace kiln::compile
