// SPDX-License-Identifier: MIT
#include "cache/decorators/limited_store.h"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"

namespace kiln::cache {
namespace {

class FakeCollectable final : public Collectable {
 public:
  uint64_t UsedBytes() const override { return used; }
  uint64_t FreeDiskBytes() const override { return free; }
  void StartCollecting(uint64_t target_bytes) override { target = target_bytes; }
  void MakeRoom(uint64_t target_bytes, const Call& /*call*/) override {
    wanted = target_bytes;
    used -= std::min(used, unnamed);
    unnamed = 0;
  }

  uint64_t used = 0;
  uint64_t free = uint64_t{1} << 40;
  std::optional<uint64_t> target;
  uint64_t unnamed = 0;
  std::optional<uint64_t> wanted;
};

struct Case {
  std::string_view name;
  uint64_t used;
  uint64_t free;
  bool accepted;
  std::optional<uint64_t> target;
};

TEST(LimitedStore, Watermarks_DecideWhatAPutDoes) {
  constexpr uint64_t kPlenty = 1'000'000;
  const std::vector<Case> cases = {
      {"empty", 0, kPlenty, true, std::nullopt},
      {"below high", 9499, kPlenty, true, std::nullopt},
      {"at high", 9500, kPlenty, true, 8500},
      {"below the bound", 9999, kPlenty, true, 8500},
      {"at the bound", 10000, kPlenty, false, 8500},
      {"disk nearly full", 5000, 900, true, 4900},
      {"disk nearly full, nothing to give", 50, 900, true, 0},
  };
  for (const Case& c : cases) {
    MemoryStore below(nullptr, nullptr, {});
    FakeCollectable collectable;
    collectable.used = c.used;
    collectable.free = c.free;
    LimitedStore store(below, collectable, {.max_bytes = 10000, .min_free_bytes = 1000});
    const Item item = ContentItem(CopiedBlob(AsBytes("x")));
    const Result<PutResult> stored = store.Put(std::span(&item, 1), Durability::kDurable, {});
    EXPECT_EQ(stored.ok(), c.accepted) << c.name;
    EXPECT_EQ(collectable.target, c.target) << c.name;
    if (!stored.ok()) {
      EXPECT_EQ(stored.error().code, ErrorCode::kFull) << c.name;
    }
    EXPECT_EQ(store.Get(item.key, {}).ok(), c.accepted) << c.name;
  }
}

// Nobody is refused while there is content that no record names.
TEST(LimitedStore, ContentThatNoRecordNames_MakesRoomAtTheBound) {
  const struct {
    uint64_t used, unnamed;
    bool accepted;
    std::optional<uint64_t> wanted;
  } table[] = {{9999, 500, true, std::nullopt}, {10000, 500, true, 9500}, {10000, 0, false, 9500}};
  for (const auto& row : table) {
    MemoryStore below(nullptr, nullptr, {});
    FakeCollectable collectable;
    collectable.used = row.used;
    collectable.unnamed = row.unnamed;
    LimitedStore store(below, collectable, {.max_bytes = 10000, .min_free_bytes = 1000});
    const Item item = ContentItem(CopiedBlob(AsBytes("x")));
    EXPECT_EQ(store.Put(std::span(&item, 1), Durability::kDurable, {}).ok(), row.accepted);
    EXPECT_EQ(collectable.wanted, row.wanted);
  }
}

}  // namespace
}  // namespace kiln::cache
