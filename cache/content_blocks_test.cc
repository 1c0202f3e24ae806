// SPDX-License-Identifier: MIT
// What goes into blocks, and what a block is.
#include "cache/content_blocks.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "cache/codec.h"
#include "cache/record.h"
#include "cache/test_contents.h"

namespace kiln::cache {
namespace {

std::vector<Item> Codes(uint64_t first, uint64_t end) {
  std::vector<Item> items;
  for (uint64_t number = first; number < end; ++number) {
    items.push_back(ContentItem(OwnedBlob(LikeCode(number))));
  }
  return items;
}

// What the item says of itself by what is stored.
std::string Stored(const Item& item) {
  if (item.block == nullptr) {
    return std::string(AsText(Decompress(item.value)->bytes));
  }
  const Result<Blob> raw = Decompress(*item.block);
  EXPECT_TRUE(raw.ok());
  return std::string(AsText(raw->bytes).substr(item.at, item.value.raw_size));
}

TEST(InBlocks, SimilarContent_SharesABlockWithEachContentAtItsPlace) {
  const std::vector<Item> items = Codes(0, 20);
  const std::vector<Item> stored = InBlocks(items, nullptr);
  ASSERT_EQ(stored.size(), items.size());
  uint64_t alone = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    ASSERT_NE(stored[i].block, nullptr);
    EXPECT_EQ(stored[i].block, stored[0].block);
    EXPECT_EQ(Stored(stored[i]), AsText(items[i].value.bytes));
    EXPECT_EQ(stored[i].key, items[i].key);
    alone += Compress(items[i].value).bytes.size();
  }
  EXPECT_LT(stored[0].block->bytes.size() * 2, alone);
  EXPECT_EQ(stored[0].block->sum, HashBytes(stored[0].block->bytes));
}

TEST(InBlocks, MoreThanABlock_IsSeveralInTheOrderOfTheItems) {
  const std::vector<Item> items = Codes(0, 300);
  const std::vector<Item> stored = InBlocks(items, nullptr);
  std::vector<const Blob*> blocks;
  for (const Item& item : stored) {
    if (blocks.empty() || blocks.back() != item.block.get()) {
      blocks.push_back(item.block.get());
    }
    EXPECT_LE(item.block->raw_size, kBlockBytes);
    EXPECT_EQ(Stored(item).size(), item.value.raw_size);
  }
  EXPECT_GT(blocks.size(), 2u);
  EXPECT_EQ(std::set<const Blob*>(blocks.begin(), blocks.end()).size(), blocks.size());
}

TEST(InBlocks, SameItems_GiveTheSameBytes) {
  const std::vector<Item> items = Codes(0, 40);
  const std::vector<Item> once = InBlocks(items, nullptr);
  const std::vector<Item> again = InBlocks(items, nullptr);
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(once[i].block->sum, again[i].block->sum);
    EXPECT_EQ(once[i].at, again[i].at);
  }
}

TEST(InBlocks, FewRowsLargeAndIncompressibleContent_LieInNone) {
  std::vector<Item> items = Codes(0, kFewestInBlock - 1);
  items.push_back(MaskItem(0, HashBytes({}), std::vector<std::string>{"fog"}));
  items.push_back(ContentItem(OwnedBlob(Bytes(kMostInBlock + 1))));
  std::mt19937_64 random(1);
  for (int i = 0; i < 8; ++i) {
    Bytes noise;
    while (noise.size() < 4000) {
      AppendLittle<uint64_t>(noise, random());
    }
    items.push_back(ContentItem(OwnedBlob(std::move(noise))));
  }
  for (const Item& item : InBlocks(items, nullptr)) {
    EXPECT_EQ(item.block, nullptr) << KeyText(item.key);
    if (item.value.raw_size > kMostInBlock) {
      EXPECT_EQ(item.value.codec, Codec::kZstd);
    }
  }
}

TEST(InBlocks, KindsWithADictionary_UseItForBlocks) {
  const std::vector<Bytes> samples = LikeCodes(1000, 1200);
  const DictionaryPtr dictionary = Dictionary::Make(TrainDictionary(samples, size_t{16} << 10));
  ASSERT_NE(dictionary, nullptr);
  class One final : public DictionarySource {
   public:
    explicit One(DictionaryPtr dictionary) : dictionary_(std::move(dictionary)) {}
    Result<DictionaryPtr> Find(uint32_t) override { return dictionary_; }
    DictionaryPtr Current(ContentKind kind) override {
      return kind == ContentKind::kCode ? dictionary_ : nullptr;
    }

   private:
    DictionaryPtr dictionary_;
  } source(dictionary);
  const std::vector<Item> items = Codes(0, 10);
  const std::vector<Item> stored = InBlocks(items, &source);
  EXPECT_EQ(stored[0].block->codec, Codec::kZstdDictionary);
  EXPECT_LT(stored[0].block->bytes.size(), InBlocks(items, nullptr)[0].block->bytes.size());
  const Result<Blob> raw = Decompress(*stored[0].block, dictionary.get());
  ASSERT_TRUE(raw.ok());
  EXPECT_EQ(AsText(raw->bytes.first(items[0].value.raw_size)), AsText(items[0].value.bytes));
}

}  // namespace
}  // namespace kiln::cache
