// SPDX-License-Identifier: MIT
#include "compiler/resolve/queries/dependency_sets.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace kiln::resolve {
namespace {

std::set<size_t> MembersOf(const DependencySets& sets, DependencySet set, size_t size) {
  Bitset members(size);
  sets.AddTo(members, set);
  std::set<size_t> result;
  members.ForEach([&](size_t member) { result.insert(member); });
  return result;
}

// Random unions hold what sets of the standard library hold, whatever the size.
TEST(DependencySets, Unions_AreThoseOfSets) {
  for (const size_t size : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{200}}) {
    DependencySets sets(size);
    std::mt19937 random(static_cast<uint32_t>(size));
    std::vector<std::pair<DependencySet, std::set<size_t>>> known = {{kReadNothing, {}}};
    for (int step = 0; step < 300; ++step) {
      const auto& [a, in_a] = known[random() % known.size()];
      const auto& [b, in_b] = known[random() % known.size()];
      const size_t more = random() % size;
      std::set<size_t> in_all = in_a;
      in_all.insert(in_b.begin(), in_b.end());
      in_all.insert(more);
      const DependencySet all = sets.United(sets.United(a, b), sets.Only(more));
      EXPECT_EQ(MembersOf(sets, all, size), in_all);
      EXPECT_TRUE(sets.Has(all, more));
      EXPECT_EQ(sets.Has(a, more), in_a.contains(more));
      for (const auto& [other, in_other] : known) {
        EXPECT_EQ(other == all, in_other == in_all) << "equal sets are equal words";
      }
      known.emplace_back(all, std::move(in_all));
    }
  }
}

TEST(DependencySets, OfABitset_IsTheSameSet) {
  for (const size_t size : {size_t{64}, size_t{300}}) {
    DependencySets sets(size);
    Bitset members(size);
    DependencySet united = kReadNothing;
    for (const size_t member : {size_t{0}, size_t{5}, size - 1}) {
      members.Set(member);
      united = sets.United(united, sets.Only(member));
    }
    EXPECT_EQ(sets.Of(members), united);
    EXPECT_EQ(sets.Of(Bitset(size)), kReadNothing);
  }
}

TEST(DependencySets, AddTo_LeavesOutWhatTheResultCannotHave) {
  for (const size_t size : {size_t{64}, size_t{65}, size_t{129}}) {
    DependencySets sets(size);
    const DependencySet set = sets.United(sets.Only(0), sets.Only(size - 1));
    EXPECT_EQ(MembersOf(sets, set, size - 1), std::set<size_t>{0});
    EXPECT_EQ(MembersOf(sets, set, size), (std::set<size_t>{0, size - 1}));
  }
}

// The tables of answers held a bit for each option in each row: this is what a set costs now.
TEST(DependencySets, Memory_GrowsWithWhatIsInTheSets) {
  constexpr size_t kOptions = 4096;
  DependencySets sets(kOptions);
  for (size_t round = 0; round < 10; ++round) {
    for (size_t i = 1; i < kOptions; ++i) {
      (void)sets.United(sets.Only(i - 1), sets.Only(i));
    }
  }
  EXPECT_LT(sets.bytes_used(), kOptions * 256);
}

}  // namespace
}  // namespace kiln::resolve
