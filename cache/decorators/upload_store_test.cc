// SPDX-License-Identifier: MIT
#include "cache/decorators/upload_store.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"

namespace kiln::cache {
namespace {

using Place = UploadStore::Place;

// Takes what it is told to, and forgets nothing.
class FakeRoom final : public ContentRoom {
 public:
  Result<std::vector<Hash128>> Admit(std::string_view owner, std::span<const Item> contents,
                                     const Call& /*call*/) override {
    owners.emplace_back(owner);
    if (refusal.has_value()) {
      return *refusal;
    }
    std::vector<Hash128> counted;
    for (const Item& item : contents) {
      counted.push_back(item.key.id);
    }
    return counted;
  }
  void Forget(std::span<const Hash128> contents) override { forgotten += contents.size(); }

  std::optional<Error> refusal;
  std::vector<std::string> owners;
  size_t forgotten = 0;
};

class FullStore final : public BlobStore {
 public:
  Result<Blob> Get(const Key& key, const Call& call) override { return below.Get(key, call); }
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override {
    return refusal.has_value() ? Result<PutResult>(*refusal) : below.Put(items, durability, call);
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override {
    return below.FindMissing(keys, call);
  }
  void Touch(std::span<const Key> keys) override { below.Touch(keys); }

  std::optional<Error> refusal;
  MemoryStore below{nullptr, nullptr, {}};
};

class UploadStoreTest : public testing::Test {
 protected:
  static Item Content(const std::string& name, size_t bytes) {
    std::string text = name;
    text.resize(bytes, ' ');
    return ContentItem(CopiedBlob(AsBytes(text)));
  }
  Result<uint64_t> Upload(std::string_view owner, const Item& item,
                          Place place = Place::kMemoryToo) {
    return store.Upload(owner, std::span(&item, 1), place, {});
  }
  bool Has(const Item& item) {
    const bool found = store.Get(item.key, {}).ok();
    EXPECT_EQ(store.FindMissing(std::span(&item.key, 1), {})->empty(), found);
    return found;
  }

  static constexpr uint64_t kHeld = uint64_t{1} << 20;
  FakeClock clock;
  FakeRoom room;
  FullStore below;
  UploadStore store{below, &room, clock, kHeld};
  const Error full{.code = ErrorCode::kFull, .context = "full", .reason = "CACHE_FULL"};
};

TEST_F(UploadStoreTest, WhatTheStoreTakes_IsCountedAndNotHeld) {
  const Item item = Content("a", 100);
  EXPECT_EQ(*Upload("token:a", item), 1u);
  EXPECT_EQ(*Upload("token:a", item), 0u);
  EXPECT_TRUE(Has(item));
  EXPECT_EQ(room.owners, (std::vector<std::string>{"token:a", "token:a"}));
  EXPECT_EQ(store.Usage().entries, 0u);
}

TEST_F(UploadStoreTest, WhatTheStoreRefuses_IsHeldIfMemoryWillDo) {
  const struct {
    const char* what;
    Error error;
    Place place;
    bool ok;
  } table[] = {
      {"full", full, Place::kMemoryToo, true},
      {"busy", {.code = ErrorCode::kBusy, .context = "busy"}, Place::kMemoryToo, true},
      {"read-only",
       {.code = ErrorCode::kFailedPrecondition, .context = "ro", .reason = std::string(kReadOnly)},
       Place::kMemoryToo,
       true},
      {"wrong", {.code = ErrorCode::kInvalidArgument, .context = "bad"}, Place::kMemoryToo, false},
      {"to be stored", full, Place::kStore, false},
  };
  for (const auto& row : table) {
    below.refusal = row.error;
    room.forgotten = 0;
    const Item item = Content(row.what, 100);
    const Result<uint64_t> stored = Upload("token:a", item, row.place);
    EXPECT_EQ(stored.ok(), row.ok) << row.what;
    EXPECT_EQ(Has(item), row.ok) << row.what;
    EXPECT_EQ(room.forgotten, 1u) << row.what;
  }
}

// A sender beyond his share is refused by the store, by memory as well, and costs nobody anything.
TEST_F(UploadStoreTest, MemoryIsDivided_AndWhatIsAcknowledgedStays) {
  room.refusal = full;
  const Item victim = Content("victim", 1000);
  ASSERT_TRUE(Upload("token:b", victim).ok());
  std::vector<Item> stored;
  std::optional<Error> refused;
  for (int i = 0; i < 20 && !refused.has_value(); ++i) {
    const Item item = Content("noise" + std::to_string(i), 100'000);
    const Result<uint64_t> done = Upload("token:a", item);
    if (done.ok()) {
      stored.push_back(item);
    } else {
      refused = done.error();
      EXPECT_FALSE(Has(item));
    }
  }
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code, ErrorCode::kFull);
  EXPECT_EQ(refused->reason, "CACHE_FULL");
  EXPECT_EQ(stored.size(), 5u);  // half of it
  for (const Item& item : stored) {
    EXPECT_TRUE(Has(item));
  }
  EXPECT_TRUE(Has(victim));
  EXPECT_TRUE(Upload("owner", Content("owner", 400'000)).ok());
  clock.Advance(std::chrono::seconds(UploadStore::kYoungSeconds));
  EXPECT_TRUE(Upload("token:a", Content("later", 100'000)).ok());
  EXPECT_FALSE(Has(stored[0]));
}

TEST_F(UploadStoreTest, StoreWithoutFile_HoldsAll) {
  UploadStore alone(below, nullptr, clock, kHeld);
  const Item item = Content("a", 100);
  EXPECT_EQ(*alone.Upload("token:a", std::span(&item, 1), Place::kStore, {}), 1u);
  EXPECT_TRUE(alone.Get(item.key, {}).ok());
  EXPECT_FALSE(below.Get(item.key, {}).ok());
  EXPECT_EQ(alone.Usage().entries, 1u);
}

}  // namespace
}  // namespace kiln::cache
