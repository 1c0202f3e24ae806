// SPDX-License-Identifier: MIT
#include "cache/leases/bounded_pins.h"

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/leases/fake_pins.h"
#include "cache/leases/pin_share.h"
#include "cache/record.h"

namespace kiln::cache {
namespace {

constexpr uint64_t kContent = 1000;  // bytes that each record keeps beside itself

Hash128 Id(std::string_view text) { return HashBytes(AsBytes(text)); }
Key RecordOf(std::string_view name) {
  return {.level = Level::kSignature, .space = 0, .id = Id(name)};
}

class BoundedPinsTest : public testing::Test {
 protected:
  BoundedPinsTest() {
    for (const char name : {'a', 'b', 'c'}) {
      const Item content = ContentItem(CopiedBlob(AsBytes(std::string(kContent, name))));
      const Item record =
          RecordItem(Level::kSignature, 0, Id(std::string(1, name)),
                     {.products = {{"code.vertex", DigestOf(content.value.bytes)}}});
      bytes_ = kContent + record.value.bytes.size();
      EXPECT_TRUE(store_.Put(std::vector<Item>{content, record}, Durability::kRelaxed, {}).ok());
    }
  }

  // A cache of which 80 % are `records` of those above, and `more` bytes.
  uint64_t CacheFor(uint64_t records, uint64_t more) const {
    return ((records * bytes_ + more) * 100 + 79) / 80 + 100;
  }
  static std::string ReasonOf(const Result<uint64_t>& added) {
    return added.ok() ? "" : added.error().reason;
  }

  MemoryStore store_{nullptr, nullptr, MemoryStore::Options{.max_bytes = 1 << 20}};
  FakePins pins_{store_};
  uint64_t bytes_ = 0;  // of one record and its content
};

TEST_F(BoundedPinsTest, NameTable) {
  BoundedPins bounded(pins_, pins_, store_, 1 << 30);
  const std::vector<Key> keys = {RecordOf("a")};
  const struct {
    uint64_t size;
    bool taken;
  } table[] = {{0, false}, {1, true}, {kMaxPinName, true}, {kMaxPinName + 1, false}};
  for (const auto& row : table) {
    const Result<uint64_t> added = bounded.Add({.name = std::string(row.size, 'n')}, keys);
    EXPECT_EQ(added.ok(), row.taken) << row.size;
    EXPECT_EQ(ReasonOf(added), row.taken ? "" : "MALFORMED_REQUEST") << row.size;
  }
}

TEST_F(BoundedPinsTest, Share_CountsAllPinsAndWhatANameHoldsAlready) {
  BoundedPins bounded(pins_, pins_, store_, CacheFor(2, 0));
  EXPECT_TRUE(bounded.Add({.name = "one"}, std::vector<Key>{RecordOf("a")}).ok());
  EXPECT_TRUE(bounded.Add({.name = "one"}, std::vector<Key>{RecordOf("a")}).ok()) << "again";
  EXPECT_TRUE(bounded.Add({.name = "two"}, std::vector<Key>{RecordOf("b")}).ok());
  const Result<uint64_t> third = bounded.Add({.name = "three"}, std::vector<Key>{RecordOf("c")});
  EXPECT_EQ(ReasonOf(third), kPinsTooLarge);
  EXPECT_NE(third.error().context.find("one ("), std::string::npos) << third.error().context;
  EXPECT_EQ(ReasonOf(bounded.Add({.name = "two"}, std::vector<Key>{RecordOf("c")})), kPinsTooLarge)
      << "it would hold b and c";
  EXPECT_EQ(bounded.List()->size(), 2U) << "what is refused pins nothing";
  EXPECT_TRUE(bounded.Remove("one").ok());
  EXPECT_TRUE(bounded.Add({.name = "three"}, std::vector<Key>{RecordOf("c")}).ok());
}

}  // namespace
}  // namespace kiln::cache
