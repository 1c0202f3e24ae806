// SPDX-License-Identifier: MIT
#include "cache/decorators/checked_store.h"

#include <gtest/gtest.h>

#include "cache/decorators/fault_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/record.h"
#include "cache/recording_sink.h"

namespace kiln::cache {
namespace {

const Item kContent = ContentItem(CopiedBlob(AsBytes("some words of a module")));
const Item kRow = MaskItem(0, HashBytes(AsBytes("key")), std::vector<std::string>{"fog"});

struct Fixture {
  explicit Fixture(const FaultStore::Plan& plan) : faults(bottom, plan), store(faults, sink) {
    const std::vector<Item> items = {kContent, kRow};
    EXPECT_TRUE(bottom.Put(items, Durability::kRelaxed, {}).ok());
  }
  MemoryStore bottom{nullptr, nullptr, {}};
  FaultStore faults;
  RecordingSink sink;
  CheckedStore store;
};

TEST(CheckedStore, Sound_Passes) {
  Fixture fixture({});
  EXPECT_TRUE(fixture.store.Get(kContent.key, {}).ok());
  EXPECT_TRUE(fixture.store.Get(kRow.key, {}).ok());
  EXPECT_TRUE(fixture.sink.Reports().empty());
}

TEST(CheckedStore, FlippedOrTornBelow_IsAMissAndAReport) {
  for (const FaultStore::Plan& plan :
       {FaultStore::Plan{.flip = 1000}, FaultStore::Plan{.tear = 1000}}) {
    Fixture fixture(plan);
    EXPECT_EQ(fixture.store.Get(kContent.key, {}).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(fixture.store.Get(kRow.key, {}).error().code, ErrorCode::kNotFound);
    const std::vector<Damage> reports = fixture.sink.Reports();
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[0].kind, DamageKind::kBlob);
    EXPECT_EQ(reports[0].key, kContent.key);
    EXPECT_EQ(reports[1].kind, DamageKind::kRecord);
  }
}

TEST(CheckedStore, PutOfACallThatMayNotWrite_IsRefused) {
  Fixture fixture({});
  const Item item = ContentItem(CopiedBlob(AsBytes("other")));
  const Error error =
      fixture.store.Put(std::span(&item, 1), Durability::kRelaxed, {.may_write = false}).error();
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(error.reason, kReadOnly);
  EXPECT_FALSE(fixture.bottom.Get(item.key, {}).ok());
}

// Content that took the place of other content has a right sum of its own, and not this one.
TEST(CheckedStore, ContentInThePlaceOfOtherContent_IsAMissAndAReport) {
  Fixture fixture({});
  Item moved = ContentItem(CopiedBlob(AsBytes("other")));
  const Hash128 id = HashBytes(AsBytes("of nobody"));
  moved.key = {.id = id};
  ASSERT_TRUE(fixture.bottom.Put(std::span(&moved, 1), Durability::kRelaxed, {}).ok());
  EXPECT_EQ(fixture.store.Get({.id = id}, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fixture.sink.Reports().size(), 1u);
}

TEST(CheckedStore, PutUnderAWrongId_IsRefused) {
  Fixture fixture({});
  Item item = ContentItem(CopiedBlob(AsBytes("other")));
  item.key.id.bytes[0] ^= 1;
  EXPECT_EQ(fixture.store.Put(std::span(&item, 1), Durability::kDurable, {}).error().code,
            ErrorCode::kInvalidArgument);
  Item row = kRow;
  row.key.id.bytes[0] ^= 1;
  EXPECT_EQ(fixture.store.Put(std::span(&row, 1), Durability::kDurable, {}).error().code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln::cache
