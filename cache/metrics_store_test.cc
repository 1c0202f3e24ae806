// SPDX-License-Identifier: MIT
#include "cache/metrics_store.h"

#include <gtest/gtest.h>

#include "cache/fault_store.h"
#include "cache/memory_store.h"
#include "cache/record.h"

namespace kiln::cache {
namespace {

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

}  // namespace
}  // namespace kiln::cache
