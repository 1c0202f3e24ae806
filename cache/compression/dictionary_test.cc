// SPDX-License-Identifier: MIT
// Dictionaries and the two users of them in this folder: the codec and CompressingStore.
#include "cache/compression/dictionary.h"

#include <gtest/gtest.h>

#include "cache/compression/codec.h"
#include "cache/decorators/compressing_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/recording_sink.h"
#include "cache/test_contents.h"

namespace kiln::cache {
namespace {

constexpr size_t kSmall = size_t{8} << 10;

DictionaryPtr Trained(uint64_t first = 0) {
  return Dictionary::Make(TrainDictionary(LikeCodes(first, first + 60), kSmall));
}

TEST(Dictionary, ContentKinds_AreToldByTheFirstBytes) {
  struct Row {
    std::string content;
    ContentKind kind;
  };
  for (const Row& row : std::vector<Row>{
           {std::string("\x03\x02\x23\x07\x00\x03\x01\x00", 8), ContentKind::kCode},
           {"kilnmod1\x01", ContentKind::kImage},
           {"void main () {}\n\tx\r\n", ContentKind::kText},
           {"\n\x04main\x12", ContentKind::kData},
           {"", ContentKind::kText},
       }) {
    EXPECT_EQ(ContentKindOf(AsBytes(row.content)), row.kind) << row.content;
  }
}

TEST(Dictionary, SameSamples_GiveTheSameBytes) {
  const Bytes first = TrainDictionary(LikeCodes(0, 60), kSmall);
  EXPECT_EQ(first, TrainDictionary(LikeCodes(0, 60), kSmall));
  EXPECT_NE(Trained(0)->number(), Trained(100)->number());
  EXPECT_EQ(Trained()->id(), HashBytes(first));
}

TEST(Dictionary, TooLittleToLearnFrom_GivesNone) {
  EXPECT_TRUE(TrainDictionary(LikeCodes(0, 15), kSmall).empty());
  EXPECT_TRUE(TrainDictionary(LikeCodes(0, 60)).empty());  // for its full size
  EXPECT_TRUE(TrainDictionary(std::vector<Bytes>(), kSmall).empty());
}

TEST(Dictionary, BytesOfSomethingElse_AreNone) {
  EXPECT_EQ(Dictionary::Make({}), nullptr);
  EXPECT_EQ(Dictionary::Make(LikeCode(1)), nullptr);
  const DictionaryPtr whole = Trained();
  EXPECT_EQ(Dictionary::Make(Bytes(whole->bytes().begin(), whole->bytes().begin() + 20)), nullptr);
}

TEST(Dictionary, ContentOfItsKind_BecomesSmallerAndComesBack) {
  const DictionaryPtr dictionary = Trained();
  const Blob raw = OwnedBlob(LikeCode(1000));
  const Blob plain = Compress(raw);
  const Blob stored = Compress(raw, *dictionary);
  EXPECT_EQ(stored.codec, Codec::kZstdDictionary);
  EXPECT_LT(stored.bytes.size(), plain.bytes.size());
  EXPECT_EQ(DictionaryInFrame(stored.bytes), dictionary->number());
  EXPECT_EQ(DictionaryInFrame(plain.bytes), std::nullopt);
  const Result<Blob> back = Decompress(stored, dictionary.get());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(AsText(back->bytes), AsText(raw.bytes));
  EXPECT_FALSE(Decompress(stored).ok());
  EXPECT_FALSE(Decompress(stored, Trained(100).get()).ok());
}

// A source with one dictionary, or with none and a reason.
struct OneDictionary final : DictionarySource {
  Result<DictionaryPtr> Find(uint32_t number) override {
    if (lost) {
      return Error{.code = lost_as, .context = "lost"};
    }
    EXPECT_EQ(number, dictionary->number());
    return dictionary;
  }
  DictionaryPtr Current(ContentKind kind) override {
    return kind == ContentKind::kCode ? dictionary : nullptr;
  }
  DictionaryPtr dictionary = Trained();
  bool lost = false;
  ErrorCode lost_as = ErrorCode::kNotFound;
};

// Refuses what needs a dictionary, as a store does that has lost it.
struct WithoutDictionaries final : BlobStore {
  Result<Blob> Get(const Key& key, const Call& call) override { return below.Get(key, call); }
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override {
    for (const Item& item : items) {
      if (item.value.codec == Codec::kZstdDictionary) {
        return Error{.code = ErrorCode::kFailedPrecondition,
                     .context = "gone",
                     .reason = std::string(kDictionaryGone)};
      }
    }
    return below.Put(items, durability, call);
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key>, const Call&) override {
    return std::vector<Key>();
  }
  void Touch(std::span<const Key>) override {}
  MemoryStore below{nullptr, nullptr, {}};
};

TEST(CompressingStore, ContentOfAKindWithDictionary_UsesIt) {
  MemoryStore below(nullptr, nullptr, {});
  RecordingSink sink;
  OneDictionary dictionaries;
  CompressingStore store(below, sink, &dictionaries);
  const Item code = ContentItem(OwnedBlob(LikeCode(5)));
  const Item text = ContentItem(CopiedBlob(AsBytes(std::string(5000, 'x'))));
  const std::vector<Item> items = {code, text};
  ASSERT_TRUE(store.Put(items, Durability::kRelaxed, {}).ok());
  EXPECT_EQ(below.Get(code.key, {})->codec, Codec::kZstdDictionary);
  EXPECT_EQ(below.Get(text.key, {})->codec, Codec::kZstd);
  for (const Item& item : items) {
    EXPECT_EQ(AsText(store.Get(item.key, {})->bytes), AsText(item.value.bytes));
  }
}

TEST(CompressingStore, LostDictionary_IsDamageAndOneThatCannotBeReadIsAMissOnly) {
  MemoryStore below(nullptr, nullptr, {});
  RecordingSink sink;
  OneDictionary dictionaries;
  CompressingStore store(below, sink, &dictionaries);
  const Item code = ContentItem(OwnedBlob(LikeCode(5)));
  ASSERT_TRUE(store.Put(std::span(&code, 1), Durability::kRelaxed, {}).ok());
  dictionaries.lost = true;
  dictionaries.lost_as = ErrorCode::kUnavailable;
  EXPECT_EQ(store.Get(code.key, {}).error().code, ErrorCode::kNotFound);
  CompressingStore without(below, sink, nullptr);
  EXPECT_EQ(without.Get(code.key, {}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(sink.Reports().empty());
  dictionaries.lost_as = ErrorCode::kNotFound;
  EXPECT_EQ(store.Get(code.key, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(sink.Reports().size(), 1u);
}

TEST(CompressingStore, DictionaryThatTheStoreHasLost_IsNotUsedForAPut) {
  WithoutDictionaries below;
  RecordingSink sink;
  OneDictionary dictionaries;
  CompressingStore store(below, sink, &dictionaries);
  const Item code = ContentItem(OwnedBlob(LikeCode(5)));
  ASSERT_TRUE(store.Put(std::span(&code, 1), Durability::kDurable, {}).ok());
  EXPECT_EQ(AsText(store.Get(code.key, {})->bytes), AsText(code.value.bytes));
}

}  // namespace
}  // namespace kiln::cache
