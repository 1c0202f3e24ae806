// SPDX-License-Identifier: MIT
// What goes into blocks, and what a block is.
#include "cache/compression/content_blocks.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "cache/compression/codec.h"
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

std::vector<Item> Modules(uint32_t count) {
  std::vector<Item> items;
  for (uint32_t i = 0; i < count; ++i) {
    items.push_back(ContentItem(OwnedBlob(ModuleWithOtherIds(i))));
  }
  return items;
}

// The content of the item, as a reader of its block takes it out.
std::optional<Blob> TakenOut(const Item& item, uint64_t place, uint64_t size) {
  const Result<Blob> raw = Decompress(*item.block);
  EXPECT_TRUE(raw.ok());
  const std::optional<SymbolTable> symbols = SymbolTable::Read(raw->bytes);
  return ContentIn(raw->bytes, symbols.has_value() ? &*symbols : nullptr, place, size);
}

TEST(InBlocks, ModulesWhoseIdsDiffer_ShareSymbolsAndComeOutAsTheyWentIn) {
  const std::vector<Item> items = Modules(24);
  const std::vector<Item> stored = InBlocks(items, nullptr);
  Bytes joined;
  for (size_t i = 0; i < items.size(); ++i) {
    ASSERT_NE(stored[i].block, nullptr);
    EXPECT_TRUE(IsPlaceOfModule(stored[i].at));
    const uint64_t size = items[i].value.raw_size;
    const std::optional<Blob> content = TakenOut(stored[i], stored[i].at, size);
    ASSERT_TRUE(content.has_value()) << i;
    EXPECT_TRUE(std::ranges::equal(content->bytes, items[i].value.bytes)) << i;
    EXPECT_FALSE(TakenOut(stored[i], stored[i].at, size - 4).has_value());
    EXPECT_FALSE(TakenOut(stored[i], stored[i].at, size + 4).has_value());
    Append(joined, items[i].value.bytes);
  }
  EXPECT_LT(stored[0].block->bytes.size() * 2, Compress(OwnedBlob(joined)).bytes.size());
}

TEST(InBlocks, ModuleThatCannotBeSaid_LiesBesideTheOthersAsItIs) {
  std::vector<Item> items = Modules(12);
  items.push_back(ContentItem(OwnedBlob(LikeCode(5))));
  Bytes odd = LikeCode(6);
  odd.push_back(std::byte{1});
  items.push_back(ContentItem(OwnedBlob(odd)));
  items.push_back(Modules(13).back());
  const std::vector<Item> stored = InBlocks(items, nullptr);
  for (size_t i = 0; i < items.size(); ++i) {
    ASSERT_NE(stored[i].block, nullptr);
    EXPECT_EQ(IsPlaceOfModule(stored[i].at), i != 12 && i != 13);
    const std::optional<Blob> content = TakenOut(stored[i], stored[i].at, items[i].value.raw_size);
    ASSERT_TRUE(content.has_value()) << i;
    EXPECT_TRUE(std::ranges::equal(content->bytes, items[i].value.bytes)) << i;
  }
}

TEST(InBlocks, ModulesThatRepeatEachOther_NeedNoSymbols) {
  std::vector<Item> items;
  const Bytes module = SampleModule(1);
  for (uint8_t i = 0; i < 20; ++i) {
    Bytes bytes = module;
    bytes[12] = std::byte{i};
    items.push_back(ContentItem(OwnedBlob(std::move(bytes))));
  }
  for (const Item& item : InBlocks(items, nullptr)) {
    ASSERT_NE(item.block, nullptr);
    EXPECT_FALSE(IsPlaceOfModule(item.at));
  }
}

// Places and sizes come from rows, which may be damaged.
TEST(ContentIn, HostilePlacesAndSizes_GiveNothing) {
  const std::vector<Item> stored = InBlocks(Modules(12), nullptr);
  const Result<Blob> raw = Decompress(*stored[0].block);
  const std::optional<SymbolTable> symbols = SymbolTable::Read(raw->bytes);
  ASSERT_TRUE(symbols.has_value() && IsPlaceOfModule(stored[3].at));
  const uint64_t place = stored[3].at;
  const uint64_t size = stored[3].value.raw_size;
  const uint64_t end = raw->bytes.size();
  EXPECT_TRUE(ContentIn(raw->bytes, &*symbols, place, size).has_value());
  EXPECT_FALSE(ContentIn(raw->bytes, nullptr, place, size).has_value()) << "no symbols";
  EXPECT_FALSE(ContentIn(raw->bytes, &*symbols, place, kMostInBlock + 4).has_value());
  EXPECT_FALSE(ContentIn(raw->bytes, &*symbols, place, ~uint64_t{0}).has_value());
  for (const uint64_t at : {end - 3, end, end + 1, uint64_t{1} << 40, ~uint64_t{0} >> 1}) {
    EXPECT_FALSE(ContentIn(raw->bytes, &*symbols, ~at, size).has_value()) << at;
    EXPECT_FALSE(ContentIn(raw->bytes, nullptr, at, size).has_value()) << at;
  }
  EXPECT_TRUE(ContentIn(raw->bytes, nullptr, end, 0).has_value());
  for (uint64_t at = 0; at < end; at += 3) {
    const std::optional<Blob> other = ContentIn(raw->bytes, &*symbols, ~at, size);
    EXPECT_TRUE(!other.has_value() || other->bytes.size() == size);
  }
}

}  // namespace
}  // namespace kiln::cache
