// SPDX-License-Identifier: MIT
#include "cache/decorators/memory_store.h"

#include <gtest/gtest.h>

#include "cache/decorators/fault_store.h"
#include "cache/recording_sink.h"

namespace kiln::cache {
namespace {

Item Content(std::string_view text) { return ContentItem(CopiedBlob(AsBytes(text))); }

Result<PutResult> PutOne(BlobStore& store, const Item& item) {
  return store.Put(std::span(&item, 1), Durability::kRelaxed, {});
}

TEST(MemoryStore, Put_IsFoundAgain) {
  MemoryStore store(nullptr, nullptr, {});
  const Item item = Content("words");
  ASSERT_TRUE(PutOne(store, item).ok());
  const Result<Blob> found = store.Get(item.key, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(AsText(found->bytes), "words");
  EXPECT_EQ(store.Get(Content("other").key, {}).error().code, ErrorCode::kNotFound);
}

TEST(MemoryStore, Full_DropsTheLeastRecentlyUsed) {
  MemoryStore store(nullptr, nullptr, {.max_bytes = 3200});
  const std::vector<Item> items = {Content(std::string(800, 'a')), Content(std::string(800, 'b')),
                                   Content(std::string(800, 'c')), Content(std::string(800, 'd'))};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(PutOne(store, items[i]).ok());
  }
  ASSERT_TRUE(store.Get(items[0].key, {}).ok());
  ASSERT_TRUE(PutOne(store, items[3]).ok());
  EXPECT_TRUE(store.Get(items[0].key, {}).ok());
  EXPECT_FALSE(store.Get(items[1].key, {}).ok());
  EXPECT_LE(store.bytes(), 3200u);
}

// Who may not write decides nothing about what goes next, and fills nothing.
TEST(MemoryStore, LooksOfWhoMayNotWrite_AreNoUse) {
  const std::vector<Item> items = {Content(std::string(800, 'a')), Content(std::string(800, 'b')),
                                   Content(std::string(800, 'c')), Content(std::string(800, 'd'))};
  MemoryStore below(nullptr, nullptr, {});
  ASSERT_TRUE(below.Put(items, Durability::kRelaxed, {}).ok());
  MemoryStore store(&below, nullptr, {.max_bytes = 3200});
  ASSERT_TRUE(store.Get(items[3].key, {.may_write = false}).ok());
  EXPECT_EQ(store.bytes(), 0u);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(store.Get(items[i].key, {}).ok());
  }
  EXPECT_TRUE(store.Get(items[0].key, {.deadline = kAtOnce, .may_write = false}).ok());
  ASSERT_TRUE(store.Get(items[3].key, {}).ok());  // the fourth: the one used least lately goes
  EXPECT_FALSE(store.Get(items[0].key, {.deadline = kAtOnce}).ok());
  EXPECT_TRUE(store.Get(items[1].key, {.deadline = kAtOnce}).ok());
}

TEST(MemoryStore, ContentOfAnotherSize_IsNotThere) {
  MemoryStore store(nullptr, nullptr, {});
  const Item item = Content("words");
  ASSERT_TRUE(PutOne(store, item).ok());
  Key key = item.key;
  EXPECT_EQ(key.size, 5u);
  key.size = kAnySize;
  EXPECT_TRUE(store.Get(key, {}).ok());
  key.size = 6;
  EXPECT_EQ(store.Get(key, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.FindMissing(std::span(&key, 1), {})->size(), 1u);
}

TEST(MemoryStore, BlobDroppedWhileHeld_StaysAlive) {
  MemoryStore store(nullptr, nullptr, {.max_bytes = 1200});
  const Item item = Content(std::string(800, 'a'));
  ASSERT_TRUE(PutOne(store, item).ok());
  const Blob held = *store.Get(item.key, {});
  ASSERT_TRUE(PutOne(store, Content(std::string(800, 'b'))).ok());
  EXPECT_FALSE(store.Get(item.key, {}).ok());
  EXPECT_EQ(AsText(held.bytes), std::string(800, 'a'));
}

TEST(MemoryStore, AtOnce_DoesNotAskBelow) {
  MemoryStore below(nullptr, nullptr, {});
  const Item item = Content("words");
  ASSERT_TRUE(PutOne(below, item).ok());
  MemoryStore store(&below, nullptr, {});
  EXPECT_EQ(store.Get(item.key, {.deadline = kAtOnce}).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(store.bytes(), 0u);
  ASSERT_TRUE(store.Get(item.key, {}).ok());
  EXPECT_TRUE(store.Get(item.key, {.deadline = kAtOnce}).ok());
}

TEST(MemoryStore, Miss_IsFilledFromBelow) {
  MemoryStore below(nullptr, nullptr, {});
  const Item item = Content("words");
  ASSERT_TRUE(PutOne(below, item).ok());
  MemoryStore store(&below, nullptr, {});
  ASSERT_TRUE(store.Get(item.key, {}).ok());
  EXPECT_GT(store.bytes(), 0u);
}

TEST(MemoryStore, BelowIsUnavailable_RemembersAndSaysSo) {
  MemoryStore bottom(nullptr, nullptr, {});
  FaultStore below(bottom, {.fail = 1000});
  MemoryStore store(&below, nullptr, {});
  const Item item = Content("words");
  EXPECT_EQ(PutOne(store, item).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(store.Get(item.key, {}).ok());
}

TEST(MemoryStore, Damage_IsForgottenAndPassedOn) {
  RecordingSink sink;
  MemoryStore store(nullptr, &sink, {});
  const Item item = Content("words");
  ASSERT_TRUE(PutOne(store, item).ok());
  store.Report({.kind = DamageKind::kBlob, .key = item.key});
  EXPECT_FALSE(store.Get(item.key, {}).ok());
  EXPECT_EQ(store.bytes(), 0u);
  EXPECT_EQ(sink.Reports().size(), 1u);
}

TEST(MemoryStore, FindMissing_KeepsTheOrder) {
  MemoryStore store(nullptr, nullptr, {});
  const std::vector<Item> items = {Content("a"), Content("b"), Content("c")};
  ASSERT_TRUE(PutOne(store, items[1]).ok());
  const std::vector<Key> keys = {items[2].key, items[1].key, items[0].key};
  EXPECT_EQ(*store.FindMissing(keys, {}), (std::vector<Key>{items[2].key, items[0].key}));
}

}  // namespace
}  // namespace kiln::cache
