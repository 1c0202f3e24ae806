// SPDX-License-Identifier: MIT
// Id, Table, Arena, StringPool, FlatMap, LruMap.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/arena.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/id.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/string_pool.h"
#include "compiler/base/table.h"

namespace kiln {
namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;

template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <class A>
concept Ordered = requires(A a, A b) {
  a < b;
};

TEST(Id, Types_DoNotMixAndHaveNoOrder) {
  static_assert(Comparable<AppleId, AppleId>);
  static_assert(!Comparable<AppleId, PearId>);
  static_assert(!Ordered<AppleId>);
  static_assert(!std::is_convertible_v<uint32_t, AppleId>);
  EXPECT_FALSE(AppleId{}.valid());
  EXPECT_TRUE(AppleId{0}.valid());
}

TEST(Table, Add_NumbersFromZero) {
  Table<AppleId, std::string> table;
  EXPECT_TRUE(table.empty());
  const AppleId first = table.Add("a");
  const AppleId second = table.Add("b");
  EXPECT_EQ(first.value, 0u);
  EXPECT_EQ(second.value, 1u);
  EXPECT_EQ(table[second], "b");
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.rows().size(), 2u);
  EXPECT_TRUE(table.Contains(second));
  EXPECT_FALSE(table.Contains(AppleId{2}));
  EXPECT_FALSE(table.Contains(AppleId{}));
  table.Clear();
  EXPECT_TRUE(table.empty());
}

TEST(Arena, ManySizes_AlignedAndUntouched) {
  Arena arena(64);
  std::vector<std::span<uint64_t>> spans;
  for (uint64_t i = 0; i < 200; ++i) {
    arena.Allocate(i % 7, 1);
    const std::vector<uint64_t> rows(i % 20, i);
    spans.push_back(arena.Copy(std::span<const uint64_t>(rows)));
  }
  for (uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(spans[i].size(), i % 20);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(spans[i].data()) % alignof(uint64_t), 0u);
    EXPECT_TRUE(std::ranges::all_of(spans[i], [i](uint64_t row) { return row == i; }));
  }
}

TEST(Arena, Clear_StartsAgain) {
  Arena arena(64);
  EXPECT_EQ(*arena.New<int>(7), 7);
  EXPECT_EQ(arena.Copy("text"), "text");
  EXPECT_EQ(arena.bytes_used(), 8u);
  arena.Clear();
  EXPECT_EQ(arena.bytes_used(), 0u);
  EXPECT_EQ(arena.Copy("again"), "again");
}

TEST(StringPool, EqualText_EqualIdAndStableView) {
  StringPool<AppleId> pool;
  const AppleId first = pool.Intern("name 0");
  const std::string_view view = pool[first];
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(pool.Intern("name " + std::to_string(i)).value, static_cast<uint32_t>(i));
  }
  EXPECT_EQ(pool.size(), 5000u);
  EXPECT_EQ(pool[first].data(), view.data());
  EXPECT_EQ(pool.Find("name 4999").value, 4999u);
  EXPECT_FALSE(pool.Find("name 5000").valid());
  EXPECT_EQ(pool[pool.Intern("")], "");
}

// Every key collides.
struct OneHash {
  uint64_t operator()(uint32_t) const { return 42; }
};

TEST(FlatMap, RandomInserts_AgreeWithMap) {
  std::mt19937 random(7);
  FlatMap<uint32_t, uint32_t> flat;
  FlatMap<uint32_t, uint32_t, OneHash> colliding;
  std::map<uint32_t, uint32_t> model;
  for (uint32_t i = 0; i < 2000; ++i) {
    const uint32_t key = random() % 700;
    const bool fresh = model.emplace(key, i).second;
    EXPECT_EQ(flat.Insert(key, i).second, fresh);
    EXPECT_EQ(colliding.Insert(key, i).second, fresh);
  }
  EXPECT_EQ(flat.size(), model.size());
  for (uint32_t key = 0; key < 800; ++key) {
    const auto expected = model.find(key);
    EXPECT_EQ(flat.Contains(key), expected != model.end());
    if (expected != model.end()) {
      EXPECT_EQ(*flat.Find(key), expected->second);
      EXPECT_EQ(*colliding.Find(key), expected->second);
    }
  }
}

TEST(FlatMap, FindOrMake_MakesOnlyNewKeys) {
  FlatMap<std::string, int> map;
  int made = 0;
  const auto make = [&] { return ++made; };
  EXPECT_EQ(*map.FindOrMake("a", make).first, 1);
  EXPECT_EQ(*map.FindOrMake("a", make).first, 1);
  EXPECT_EQ(made, 1);
  map["b"] += 5;
  EXPECT_EQ(map["b"], 5);
  map.Clear();
  EXPECT_EQ(map.Find("a"), nullptr);
}

TEST(FlatMap, IdKeys_AreFound) {
  FlatMap<AppleId, int> map;
  map.Reserve(100);
  map.Insert(AppleId{3}, 30);
  EXPECT_EQ(*map.Find(AppleId{3}), 30);
  EXPECT_EQ(map.Find(AppleId{4}), nullptr);
}

// What LruMap says it does, by looking at everything each time.
class SlowLru {
 public:
  const uint32_t* Find(uint32_t key) {
    const auto row = std::ranges::find(rows_, key, &Row::key);
    if (row == rows_.end()) {
      return nullptr;
    }
    std::rotate(rows_.begin(), row, row + 1);
    return &rows_.front().value;
  }
  void Add(uint32_t key, uint32_t value, uint64_t cost) {
    rows_.insert(rows_.begin(), {key, value, cost});
  }
  bool Erase(uint32_t key) {
    return std::erase_if(rows_, [&](const Row& row) { return row.key == key; }) != 0;
  }
  void DropOldest() { rows_.pop_back(); }
  size_t size() const { return rows_.size(); }
  uint64_t cost() const {
    uint64_t cost = 0;
    for (const Row& row : rows_) {
      cost += row.cost;
    }
    return cost;
  }

 private:
  struct Row {
    uint32_t key;
    uint32_t value;
    uint64_t cost;
  };
  std::vector<Row> rows_;  // latest first
};

template <class Hash>
void ExpectRandomStepsAgree() {
  std::mt19937 random(11);
  LruMap<uint32_t, uint32_t, Hash> map;
  SlowLru model;
  for (uint32_t i = 0; i < 20'000; ++i) {
    const uint32_t key = random() % 90;
    const uint32_t step = random() % 10;
    if (step == 0) {
      ASSERT_EQ(map.Erase(key), model.Erase(key));
    } else if (step == 1 && !map.empty()) {
      map.DropOldest();
      model.DropOldest();
    } else {
      const uint32_t* const found = map.Find(key);
      const uint32_t* const expected = model.Find(key);
      ASSERT_EQ(found == nullptr, expected == nullptr) << "step " << i;
      if (found != nullptr) {
        ASSERT_EQ(*found, *expected);
      } else if (step < 6) {
        ASSERT_EQ(map.Add(key, i, key), i);
        model.Add(key, i, key);
      }
    }
    ASSERT_EQ(map.size(), model.size());
    ASSERT_EQ(map.cost(), model.cost());
  }
  while (!map.empty()) {  // the same order to the end
    map.DropOldest();
    model.DropOldest();
    for (uint32_t key = 0; key < 90; ++key) {
      ASSERT_EQ(map.Find(key) == nullptr, model.Find(key) == nullptr);
    }
  }
}

TEST(LruMap, RandomSteps_AgreeWithASlowOne) { ExpectRandomStepsAgree<FlatHash>(); }
TEST(LruMap, AllKeysCollide_RandomStepsAgreeWithASlowOne) { ExpectRandomStepsAgree<OneHash>(); }

TEST(LruMap, TextKeys_AreFoundByTheirViews) {
  LruMap<std::string, int> map;
  map.Add("a", 1, 10);
  map.Add("b", 2, 20);
  EXPECT_EQ(*map.Find(std::string_view("a")), 1);
  map.DropOldest();
  EXPECT_EQ(map.Find(std::string_view("b")), nullptr);
  EXPECT_EQ(map.cost(), 10u);
  map.Clear();
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.Find(std::string_view("a")), nullptr);
}

}  // namespace
}  // namespace kiln
