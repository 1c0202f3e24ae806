// SPDX-License-Identifier: MIT
#include "cache/leases/bounded_pins.h"

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache/call_bounds.h"
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
    std::string name;
    bool taken;
  } table[] = {{"", false},
               {"n", true},
               {std::string(kMaxPinName, 'n'), true},
               {std::string(kMaxPinName + 1, 'n'), false},
               {"release 1.0 \xc3\xa9", true},
               {"a\x1b[31mb", false},
               {"a\nb", false},
               {"a\xe2\x80\xae"
                "b",
                false},  // U+202E
               {"a\xff", false}};
  for (const auto& row : table) {
    const Result<uint64_t> added = bounded.Add({.name = row.name}, keys);
    EXPECT_EQ(added.ok(), row.taken) << row.name;
    EXPECT_EQ(ReasonOf(added), row.taken ? "" : "MALFORMED_REQUEST") << row.name;
  }
}

TEST_F(BoundedPinsTest, NoteTable) {
  BoundedPins bounded(pins_, pins_, store_, 1 << 30);
  const std::vector<Key> keys = {RecordOf("a")};
  const struct {
    std::string note;
    bool taken;
  } table[] = {{"", true},
               {std::string(kMaxPinNote, 'n'), true},
               {std::string(kMaxPinNote + 1, 'n'), false},
               {"a\nb", false}};
  for (const auto& row : table) {
    EXPECT_EQ(ReasonOf(bounded.Add({.name = "n", .note = row.note}, keys)),
              row.taken ? "" : "MALFORMED_REQUEST")
        << row.note.size();
  }
}

TEST_F(BoundedPinsTest, NameOfAnother_IsNotTaken) {
  BoundedPins bounded(pins_, pins_, store_, 1 << 30);
  const std::vector<Key> keys = {RecordOf("a")};
  const Actor one{.id = "tenant:a", .any = false}, two{.id = "tenant:b", .any = false}, admin;
  ASSERT_TRUE(bounded.Add({.name = "p", .owner = one.id}, keys).ok());
  EXPECT_EQ(ReasonOf(bounded.Add({.name = "p", .owner = two.id}, keys)), kNotYours);
  EXPECT_EQ(ReasonOf(bounded.Add({.name = "p"}, keys)), kNotYours);
  EXPECT_EQ(*PinOwnerFor(bounded, "p", one), one.id);
  EXPECT_EQ(PinOwnerFor(bounded, "p", two).error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(*PinOwnerFor(bounded, "p", admin), one.id) << "an admin acts for whom it belongs to";
  EXPECT_EQ(*PinOwnerFor(bounded, "free", two), two.id);
}

// The last names are the owner's, and one principal cannot have all of the others'.
TEST_F(BoundedPinsTest, NumberTable) {
  BoundedPins bounded(pins_, pins_, store_, 1 << 30);
  size_t made = 0;
  const struct {
    const char* owner;
    size_t taken;
  } table[] = {{"tenant:a", kMaxPins / 2}, {"tenant:b", kMaxPins / 4}, {"owner", kMaxPins / 4}};
  for (const auto& row : table) {
    for (size_t i = 1; i < row.taken; ++i) {
      ASSERT_TRUE(pins_.Add({.name = std::to_string(made++), .owner = row.owner}, {}).ok());
    }
    const std::string last = std::to_string(made++);
    EXPECT_EQ(ReasonOf(bounded.Add({.name = last, .owner = row.owner}, {})), "") << row.owner;
    EXPECT_EQ(ReasonOf(bounded.Add({.name = "more", .owner = row.owner}, {})), kTooManyPins)
        << row.owner;
    EXPECT_EQ(ReasonOf(bounded.Add({.name = last, .owner = row.owner}, {})), "")
        << "the same name again is no other";
  }
}

// Of the share of all pins one that is not the owner has half.
TEST_F(BoundedPinsTest, Share_IsDividedBetweenOwners) {
  BoundedPins bounded(pins_, pins_, store_, CacheFor(2, 0));
  const auto add = [&](const char* name, const char* owner) {
    return ReasonOf(bounded.Add({.name = name, .owner = owner}, std::vector<Key>{RecordOf(name)}));
  };
  EXPECT_EQ(add("a", "tenant:a"), "");
  EXPECT_EQ(add("b", "tenant:a"), kPinsTooLarge);
  EXPECT_EQ(add("b", "tenant:b"), kPinsTooLarge) << "the last quarter is the owner's";
  EXPECT_EQ(add("b", "owner"), "");
  EXPECT_EQ(add("c", "owner"), kPinsTooLarge);
}

// Whoever pins waits for what others have pinned to be looked up, so that happens once.
TEST_F(BoundedPinsTest, Others_AreLookedUpOnce) {
  BoundedPins bounded(pins_, pins_, store_, CacheFor(1000, 0));
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(
        bounded.Add({.name = "p" + std::to_string(i)}, std::vector<Key>{RecordOf("a")}).ok());
  }
  pins_.walks = 0;
  EXPECT_TRUE(bounded.Add({.name = "next"}, std::vector<Key>{RecordOf("b")}).ok());
  EXPECT_LE(pins_.walks, 2u) << "the last one, and the name itself";
  EXPECT_TRUE(bounded.Remove("p3").ok());
  EXPECT_TRUE(bounded.Add({.name = "p3"}, std::vector<Key>{RecordOf("a"), RecordOf("b")}).ok());
  pins_.walks = 0;
  EXPECT_TRUE(bounded.Add({.name = "last"}, std::vector<Key>{RecordOf("c")}).ok());
  EXPECT_LE(pins_.walks, 2u) << "p3, and the name itself";
}

// Calls back, once, when something is read.
class CallingStore final : public BlobStore {
 public:
  explicit CallingStore(BlobStore& below) : below_(below) {}
  Result<Blob> Get(const Key& key, const Call& call) override {
    if (const auto then = std::exchange(on_get, nullptr); then != nullptr) {
      then();
    }
    return below_.Get(key, call);
  }
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override {
    return below_.Put(items, durability, call);
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const Key>) override {}

  std::function<void()> on_get;

 private:
  BlobStore& below_;
};

// While one looks up what he pins, others pin: nothing is held over it. What they change of the
// same name counts.
TEST_F(BoundedPinsTest, OthersPinWhileOneLooksUp) {
  struct Row {
    std::string meanwhile;  // pinned by another
    std::string record;
    uint64_t room;  // records
    std::string reason;
  };
  for (const Row& row : {Row{"other", "c", 2, ""}, Row{"mine", "c", 2, ""},
                         Row{"other", "c", 1, kPinsTooLarge}, Row{"mine", "c", 1, kPinsTooLarge}}) {
    FakePins pins(store_);
    CallingStore calling(store_);
    BoundedPins bounded(pins, pins, calling, CacheFor(row.room, 0));
    calling.on_get = [&] {
      EXPECT_TRUE(
          bounded.Add({.name = row.meanwhile}, std::vector<Key>{RecordOf(row.record)}).ok());
    };
    EXPECT_EQ(ReasonOf(bounded.Add({.name = "mine"}, std::vector<Key>{RecordOf("a")})), row.reason)
        << row.meanwhile << row.room;
  }
}

// A list of what is not there costs look-ups, which end with the caller.
TEST_F(BoundedPinsTest, LookUpOfWhatIsNotThere_IsStopped) {
  std::stop_source caller;
  caller.request_stop();
  const std::vector<Key> keys(1000, RecordOf("none"));
  CallingStore calling(store_);
  size_t looked = 0;
  calling.on_get = [&looked] { ++looked; };
  SystemClock clock;
  EXPECT_FALSE(WhileWanted({.stop = caller.get_token()}, kAnyBytes, clock, [&] {
                 return HeldByKeys(calling, keys, {});
               }).ok());
  EXPECT_EQ(looked, 0U);
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
