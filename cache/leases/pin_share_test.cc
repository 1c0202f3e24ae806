// SPDX-License-Identifier: MIT
// Records and content are counted once, however many keys and pins name them.
#include "cache/leases/pin_share.h"

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/leases/fake_pins.h"
#include "cache/record.h"

namespace kiln::cache {
namespace {

Hash128 Id(std::string_view text) { return HashBytes(AsBytes(text)); }
Key SignatureOf(std::string_view name) {
  return {.level = Level::kSignature, .space = 0, .id = Id(name)};
}
Key AliasOf(std::string_view name) { return {.level = Level::kAlias, .space = 0, .id = Id(name)}; }

// Records "a" and "b" share content of 100 bytes; "a" has 20 of its own, and the alias "variant".
struct Rows {
  Rows() {
    const Item shared = ContentItem(CopiedBlob(AsBytes(std::string(100, 's'))));
    const Item own = ContentItem(CopiedBlob(AsBytes(std::string(20, 'o'))));
    const Item a = RecordItem(Level::kSignature, 0, Id("a"),
                              {.products = {{"code.vertex", DigestOf(shared.value.bytes)},
                                            {"meta", DigestOf(own.value.bytes)}}});
    const Item b = RecordItem(Level::kSignature, 0, Id("b"),
                              {.products = {{"code.vertex", DigestOf(shared.value.bytes)}}});
    const std::vector<Item> items = {shared, own, a, b, AliasItem(0, Id("variant"), Id("a"))};
    EXPECT_TRUE(store.Put(items, Durability::kRelaxed, {}).ok());
  }
  uint64_t SizeOf(std::string_view name) { return store.Get(SignatureOf(name), {})->bytes.size(); }

  MemoryStore store{nullptr, nullptr, {}};
};

TEST(PinShare, HeldByKeysTable) {
  Rows rows;
  const uint64_t a = rows.SizeOf("a");
  const uint64_t b = rows.SizeOf("b");
  const struct {
    const char* name;
    std::vector<Key> keys;
    size_t records;
    uint64_t bytes;
  } table[] = {
      {"nothing", {}, 0, 0},
      {"a key of nothing", {SignatureOf("none"), AliasOf("none")}, 0, 0},
      {"a record", {SignatureOf("a")}, 1, a + 120},
      {"a record and its alias", {SignatureOf("a"), AliasOf("variant")}, 1, a + 120},
      {"the alias alone", {AliasOf("variant")}, 1, a + 120},
      {"a record twice", {SignatureOf("b"), SignatureOf("b")}, 1, b + 100},
      {"shared content", {SignatureOf("a"), SignatureOf("b")}, 2, a + b + 120},
  };
  for (const auto& row : table) {
    const Result<PinUsage> held = HeldByKeys(rows.store, row.keys, {});
    ASSERT_TRUE(held.ok()) << row.name;
    EXPECT_EQ(held->records.size(), row.records) << row.name;
    EXPECT_EQ(held->bytes, row.bytes) << row.name;
  }
}

TEST(PinShare, OfAPin_LeavesAliasesOut) {
  Rows rows;
  FakePins pins(rows.store, {{"release", {AliasOf("variant"), SignatureOf("a")}}});
  const Result<PinUsage> held = HeldByPin(pins, "release");
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(held->records, std::set<Key>{SignatureOf("a")});
  EXPECT_EQ(held->bytes, rows.SizeOf("a") + 120);
}

TEST(PinShare, EightyPercent_IsTheShareOfAllTogether) {
  Rows rows;
  FakePins pins(rows.store, {{"old", {SignatureOf("b")}}, {"release", {SignatureOf("a")}}});
  const uint64_t a = rows.SizeOf("a") + 120;
  const uint64_t b = rows.SizeOf("b") + 100;
  PinSizes sizes(pins);
  const Result<PinShare> third = ShareWith(sizes, pins, "third", 10, 1000);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->total, a + b + 10);
  EXPECT_EQ(third->allowed, 800U);
  ASSERT_EQ(third->others.size(), 2U);
  EXPECT_EQ(third->others[0].name + third->others[1].name, "releaseold");
  EXPECT_EQ(third->others[0].bytes, a);
  EXPECT_EQ(third->others[1].bytes, b);
  // A pin that is made anew counts as what it will be, not as what it was.
  EXPECT_EQ(ShareWith(sizes, pins, "release", 10, 1000)->total, b + 10);
  EXPECT_TRUE(ShareWith(sizes, pins, "third", 800 - a - b, 1000)->fits());
  EXPECT_FALSE(ShareWith(sizes, pins, "third", 800 - a - b + 1, 1000)->fits());
}

}  // namespace
}  // namespace kiln::cache
