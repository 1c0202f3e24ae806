// SPDX-License-Identifier: MIT
#include "cache/decorators/metrics_store.h"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "cache/decorators/fault_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/record.h"

namespace kiln::cache {
namespace {

// Fails in a given way, if there is one.
class Failing final : public BlobStore {
 public:
  explicit Failing(std::optional<ErrorCode> code) : code_(code) {}
  Result<Blob> Get(const Key&, const Call&) override { return Answer<Blob>(); }
  Result<PutResult> Put(std::span<const Item>, Durability, const Call&) override {
    return Answer<PutResult>();
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key>, const Call&) override {
    return Answer<std::vector<Key>>();
  }
  void Touch(std::span<const Key> keys) override { touched += keys.size(); }
  size_t touched = 0;

 private:
  template <class T>
  Result<T> Answer() const {
    return code_.has_value() ? Result<T>(Error{.code = *code_, .context = "so"}) : Result<T>(T{});
  }
  const std::optional<ErrorCode> code_;
};

TEST(MetricsStore, Calls_AreCountedByLevelAndOutcome) {
  FakeClock clock;
  MemoryStore below(nullptr, nullptr, {});
  MetricsStore store(below, clock);
  const std::vector<Item> items = {
      ContentItem(CopiedBlob(AsBytes("12345"))),
      MaskItem(0, HashBytes({}), {}),
  };
  ASSERT_TRUE(store.Put(items, Durability::kRelaxed, {}).ok());
  EXPECT_TRUE(store.Get(items[0].key, {}).ok());
  EXPECT_TRUE(store.Get(items[0].key, {}).ok());
  EXPECT_FALSE(store.Get({.id = HashBytes({})}, {}).ok());
  const std::vector<Key> keys = {items[0].key, {.id = HashBytes({})}};
  EXPECT_EQ(store.FindMissing(keys, {})->size(), 1u);

  const MetricsSnapshot snapshot = store.Snapshot();
  const auto& content = snapshot.levels[static_cast<size_t>(Level::kContent)];
  EXPECT_EQ(content.hits, 2u);
  EXPECT_EQ(content.misses, 1u);
  EXPECT_EQ(content.hit_bytes, 10u);
  EXPECT_EQ(content.put_items, 1u);
  EXPECT_EQ(content.put_bytes, 5u);
  EXPECT_EQ(snapshot.levels[static_cast<size_t>(Level::kMask)].put_items, 1u);
  EXPECT_EQ(snapshot.asked, 2u);
  EXPECT_EQ(snapshot.missing, 1u);
  EXPECT_EQ(snapshot.get.count, 3u);
  EXPECT_EQ(snapshot.put.count, 1u);
}

TEST(MetricsStore, Failures_AreNotMisses) {
  FakeClock clock;
  MemoryStore bottom(nullptr, nullptr, {});
  FaultStore below(bottom, {.fail = 1000});
  MetricsStore store(below, clock);
  EXPECT_FALSE(store.Get({.id = HashBytes({})}, {}).ok());
  EXPECT_FALSE(store.Put({}, Durability::kRelaxed, {}).ok());
  const MetricsSnapshot snapshot = store.Snapshot();
  EXPECT_EQ(snapshot.levels[0].failed_gets, 1u);
  EXPECT_EQ(snapshot.levels[0].misses, 0u);
  EXPECT_EQ(snapshot.failed_puts, 1u);
}

TEST(MetricsStore, Latency_FallsIntoItsBucket) {
  FakeClock clock;
  MemoryStore bottom(nullptr, nullptr, {});
  FaultStore below(bottom, {.delay = 1000,
                            .on_delay = [&clock] { clock.Advance(std::chrono::microseconds(5)); }});
  MetricsStore store(below, clock);
  EXPECT_FALSE(store.Get({.id = HashBytes({})}, {}).ok());
  const MetricsSnapshot snapshot = store.Snapshot();
  EXPECT_EQ(snapshot.get.buckets[3], 1u);  // 4 to 7 µs
  EXPECT_EQ(snapshot.get.total_us, 5u);
}

TEST(MetricsStore, EveryAnswer_CountsOnceUnderItsResult) {
  const std::vector<std::pair<std::optional<ErrorCode>, std::string_view>> table = {
      {std::nullopt, "ok"},
      {ErrorCode::kNotFound, "miss"},
      {ErrorCode::kUnavailable, "unavailable"},
      {ErrorCode::kDeadlineExceeded, "deadline"},
      {ErrorCode::kCancelled, "cancelled"},
      {ErrorCode::kCorrupt, "corrupt"},
      {ErrorCode::kFull, "refused"},
      {ErrorCode::kInvalidArgument, "refused"},
  };
  FakeClock clock;
  for (const auto& [code, name] : table) {
    Failing below(code);
    MetricsStore store(below, clock);
    const std::array<Key, 2> keys{};
    EXPECT_EQ(store.Get({}, {}).ok(), !code.has_value());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(store.Put({}, Durability::kDurable, {}).ok(), !code.has_value());
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(store.FindMissing(keys, {}).ok(), !code.has_value());
    }
    store.Touch(keys);
    EXPECT_EQ(below.touched, 2u);
    const CallCounts counts = store.Calls();
    for (uint32_t op = 0; op < kStoreOpCount; ++op) {
      for (uint32_t result = 0; result < kCallResultCount; ++result) {
        const bool here = CallResultName(static_cast<CallResult>(result)) == name;
        EXPECT_EQ(counts[op][result], here ? op + 1 : 0)
            << name << " " << StoreOpName(static_cast<StoreOp>(op)) << " " << result;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::cache
