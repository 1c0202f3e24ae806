// SPDX-License-Identifier: MIT
#include "compiler/base/bounded_cache.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Cache = BoundedCache<int, std::string>;

TEST(BoundedCache, Full_ForgetsTheOneUsedLeastLatelyOnly) {
  Cache cache("test", {.entries = 3});
  for (int key : {1, 2, 3}) {
    cache.Put(key, std::to_string(key), 1);
  }
  EXPECT_EQ(cache.Find(1), "1");
  cache.Put(4, "4", 1);
  EXPECT_EQ(cache.Find(2), std::nullopt);
  EXPECT_EQ(cache.Find(1), "1");
  EXPECT_EQ(cache.Find(3), "3");
  EXPECT_EQ(cache.Find(4), "4");
}

TEST(BoundedCache, Bytes_BoundItToo) {
  Cache cache("test", {.bytes = 100});
  cache.Put(1, "a", 60);
  cache.Put(2, "b", 40);
  EXPECT_EQ(cache.Usage().bytes, 100u);
  cache.Put(3, "c", 1);
  EXPECT_EQ(cache.Find(1), std::nullopt);
  EXPECT_EQ(cache.Usage().bytes, 41u);
  cache.Put(4, "too large by itself", 101);
  EXPECT_EQ(cache.Find(4), std::nullopt);
  EXPECT_EQ(cache.Find(2), "b");
  EXPECT_EQ(cache.Find(3), "c");
}

TEST(BoundedCache, UnseenLook_ChangesNoOrder) {
  Cache cache("test", {.entries = 2});
  cache.Put(1, "a", 1);
  cache.Put(2, "b", 1);
  EXPECT_EQ(cache.Find(1, Cache::Use::kUnseen), "a");
  cache.Put(3, "c", 1);
  EXPECT_EQ(cache.Find(1), std::nullopt);
  EXPECT_EQ(cache.Find(2), "b");
}

TEST(BoundedCache, PutAgain_Replaces) {
  Cache cache("test", {.bytes = 10});
  cache.Put(1, "a", 9);
  cache.Put(1, "b", 3);
  EXPECT_EQ(cache.Find(1), "b");
  EXPECT_EQ(cache.Usage().bytes, 3u);
}

TEST(BoundedCache, Usage_CountsWhatWasAsked) {
  Cache cache("test", {.bytes = 10, .entries = 2});
  cache.Put(1, "a", 1);
  (void)cache.Find(1);
  (void)cache.Find(2);
  (void)cache.Find(2, Cache::Use::kUnseen);
  const CacheUsage usage = cache.Usage();
  EXPECT_EQ(usage.name, "test");
  EXPECT_EQ(usage.hits, 1u);
  EXPECT_EQ(usage.misses, 2u);
  EXPECT_EQ(usage.entries, 1u);
  EXPECT_EQ(usage.max_entries, 2u);
  EXPECT_EQ(usage.max_bytes, 10u);
  cache.Clear();
  EXPECT_EQ(cache.Usage().entries, 0u);
}

}  // namespace
}  // namespace kiln
