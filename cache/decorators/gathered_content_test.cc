// SPDX-License-Identifier: MIT
// What waits, who is given it, and that nothing gets lost between the two.
#include "cache/decorators/gathered_content.h"

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "cache/compression/content_blocks.h"
#include "cache/record.h"
#include "cache/test_contents.h"

namespace kiln::cache {
namespace {

Item Code(uint64_t number) { return ContentItem(OwnedBlob(LikeCode(number))); }

Item RowThatNames(const Item& content) {
  return RecordItem(Level::kSignature, 0, content.key.id,
                    {.products = {{"code", DigestOf(content.value.bytes)}}});
}

std::vector<GatheredContent::Group> Add(GatheredContent& gathered, const Item& item) {
  return gathered.Add(std::span(&item, 1));
}

TEST(GatheredContent, Content_IsFoundUntilItsGroupIsDone) {
  GatheredContent gathered;
  const Item item = Code(1);
  EXPECT_TRUE(Add(gathered, item).empty());
  EXPECT_EQ(AsText(gathered.Find(item.key.id)->bytes), AsText(item.value.bytes));
  std::vector<GatheredContent::Group> groups = gathered.TakeAll();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(gathered.Find(item.key.id).has_value());
  groups[0].Done();
  EXPECT_FALSE(gathered.Find(item.key.id).has_value());
  EXPECT_TRUE(gathered.TakeAll().empty());
}

TEST(GatheredContent, FullGroup_GoesToWhoAddedTheNext) {
  GatheredContent gathered;
  uint64_t bytes = 0;
  size_t added = 0;
  for (uint64_t number = 0;; ++number) {
    const Item item = Code(number);
    std::vector<GatheredContent::Group> full = Add(gathered, item);
    if (!full.empty()) {
      ASSERT_EQ(full.size(), 1u);
      EXPECT_EQ(full[0].items().size(), added);
      EXPECT_GT(bytes + item.value.bytes.size(), kBlockBytes);
      full[0].Done();
      EXPECT_TRUE(gathered.Find(item.key.id).has_value()) << "the next group has it";
      return;
    }
    bytes += item.value.bytes.size();
    ++added;
    ASSERT_LE(bytes, kBlockBytes);
  }
}

TEST(GatheredContent, EqualContent_WaitsOnce) {
  GatheredContent gathered;
  (void)Add(gathered, Code(1));
  (void)Add(gathered, Code(1));
  std::vector<GatheredContent::Group> groups = gathered.TakeAll();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].items().size(), 1u);
  (void)Add(gathered, Code(1));
  groups[0].Done();
  EXPECT_TRUE(gathered.TakeAll().empty());
}

TEST(GatheredContent, Row_TakesTheKindThatItNamesAndNoOther) {
  GatheredContent gathered;
  const Item code = Code(1);
  const Item text = ContentItem(CopiedBlob(AsBytes("some text")));
  (void)Add(gathered, code);
  (void)Add(gathered, text);
  const Item row = RowThatNames(text);
  std::vector<GatheredContent::Group> groups = gathered.TakeWith(std::span(&row, 1));
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].items()[0].key, text.key);
  groups[0].Done();
  EXPECT_TRUE(gathered.TakeWith(std::span(&row, 1)).empty());
  EXPECT_TRUE(gathered.Find(code.key.id).has_value());
}

TEST(GatheredContent, GroupThatIsDropped_WaitsForSomebodyElse) {
  GatheredContent gathered;
  const Item item = Code(1);
  (void)Add(gathered, item);
  { const std::vector<GatheredContent::Group> dropped = gathered.TakeAll(); }
  EXPECT_TRUE(gathered.Find(item.key.id).has_value());
  std::vector<GatheredContent::Group> groups = gathered.TakeAll();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].items()[0].key, item.key);
  groups[0].Done();
}

// A store that never takes anything must not make the daemon grow.
TEST(GatheredContent, GroupsThatNobodyCanPut_AreDroppedInTheEnd) {
  GatheredContent gathered;
  uint64_t number = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 100; ++i) {
      (void)Add(gathered, Code(number++));  // full groups are dropped, and so given back
    }
  }
  std::vector<GatheredContent::Group> groups = gathered.TakeAll();
  ASSERT_EQ(groups.size(), 1u);
  uint64_t bytes = 0;
  for (const Item& item : groups[0].items()) {
    bytes += item.value.bytes.size();
  }
  EXPECT_LT(bytes, 10 * kBlockBytes);
  EXPECT_FALSE(gathered.Find(Code(number / 2).key.id).has_value());
  groups[0].Done();
}

TEST(GatheredContent, RowOfWhatAnotherPuts_WaitsUntilItHas) {
  GatheredContent gathered;
  const Item item = Code(1);
  (void)Add(gathered, item);
  std::vector<GatheredContent::Group> taken = gathered.TakeAll();
  std::latch begun(1);
  bool was_done = false;
  std::atomic<bool> done{false};
  std::jthread waiter([&] {
    const Item row = RowThatNames(item);
    begun.count_down();
    const auto groups = gathered.TakeWith(std::span(&row, 1));
    was_done = done.load();
    EXPECT_TRUE(groups.empty());
  });
  begun.wait();
  done = true;
  taken[0].Done();
  waiter.join();
  EXPECT_TRUE(was_done);
}

// Two that need both kinds, of which each could hold one: nobody waits in a circle.
TEST(GatheredContent, ManyThreads_PutEachContentExactlyOnceAndEnd) {
  GatheredContent gathered;
  std::mutex mutex;
  std::multiset<std::string> put;
  const auto put_all = [&](std::vector<GatheredContent::Group> groups) {
    for (GatheredContent::Group& group : groups) {
      {
        const std::lock_guard lock(mutex);
        for (const Item& item : group.items()) {
          put.insert(item.key.id.hex());
        }
      }
      group.Done();
    }
  };
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEach = 200;
  {
    std::vector<std::jthread> threads;
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (uint64_t i = 0; i < kEach; ++i) {
          const Item code = Code(thread * kEach + i);
          const Item text =
              ContentItem(CopiedBlob(AsBytes("text " + std::to_string(thread * kEach + i))));
          put_all(Add(gathered, code));
          put_all(Add(gathered, text));
          if (i % 7 == 0) {
            const std::vector<Item> rows = {RowThatNames(code), RowThatNames(text)};
            put_all(gathered.TakeWith(rows));
            EXPECT_FALSE(gathered.Find(code.key.id).has_value());
          }
        }
      });
    }
  }
  put_all(gathered.TakeAll());
  EXPECT_EQ(put.size(), 2 * kThreads * kEach);
  EXPECT_EQ(std::set<std::string>(put.begin(), put.end()).size(), put.size());
}

}  // namespace
}  // namespace kiln::cache
