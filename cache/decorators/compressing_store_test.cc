// SPDX-License-Identifier: MIT
#include "cache/decorators/compressing_store.h"

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/recording_sink.h"

namespace kiln::cache {
namespace {

const std::string kText(5000, 'x');

TEST(CompressingStore, Content_IsSmallerBelowAndEqualAbove) {
  MemoryStore below(nullptr, nullptr, {});
  RecordingSink sink;
  CompressingStore store(below, sink, nullptr);
  const Item item = ContentItem(CopiedBlob(AsBytes(kText)));
  ASSERT_TRUE(store.Put(std::span(&item, 1), Durability::kRelaxed, {}).ok());
  EXPECT_LT(below.Get(item.key, {})->bytes.size(), 100u);
  EXPECT_EQ(AsText(store.Get(item.key, {})->bytes), kText);
}

TEST(CompressingStore, Row_PassesAsItIs) {
  MemoryStore below(nullptr, nullptr, {});
  RecordingSink sink;
  CompressingStore store(below, sink, nullptr);
  const Item item = RowItem({.level = Level::kMask, .id = HashBytes({})}, Bytes(5000));
  ASSERT_TRUE(store.Put(std::span(&item, 1), Durability::kRelaxed, {}).ok());
  EXPECT_EQ(below.Get(item.key, {})->codec, Codec::kRaw);
}

TEST(CompressingStore, DamageBelow_IsAMissAndAReport) {
  MemoryStore below(nullptr, nullptr, {});
  RecordingSink sink;
  CompressingStore store(below, sink, nullptr);
  Item item = ContentItem(CopiedBlob(AsBytes(kText)));
  item.value.codec = Codec::kZstd;  // the bytes are no zstd frame
  ASSERT_TRUE(below.Put(std::span(&item, 1), Durability::kRelaxed, {}).ok());
  EXPECT_EQ(store.Get(item.key, {}).error().code, ErrorCode::kNotFound);
  ASSERT_EQ(sink.Reports().size(), 1u);
  EXPECT_EQ(sink.Reports()[0].kind, DamageKind::kBlob);
}

}  // namespace
}  // namespace kiln::cache
