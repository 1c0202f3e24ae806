// SPDX-License-Identifier: MIT
#include "compiler/base/bitset.h"

#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::vector<size_t> Members(const Bitset& set) {
  std::vector<size_t> members;
  set.ForEach([&](size_t i) { members.push_back(i); });
  return members;
}

class BitsetOfSize : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(Sizes, BitsetOfSize, testing::Values(1, 63, 64, 65, 128, 256, 300));

TEST_P(BitsetOfSize, RandomSets_AgreeWithStdSet) {
  std::mt19937 random(3);
  const size_t size = GetParam();
  for (int round = 0; round < 20; ++round) {
    Bitset a(size);
    Bitset b(size);
    std::set<size_t> model_a;
    std::set<size_t> model_b;
    for (size_t i = 0; i < size / 2 + 1; ++i) {
      const size_t in_a = random() % size;
      const size_t in_b = random() % size;
      a.Set(in_a);
      model_a.insert(in_a);
      b.Set(in_b);
      model_b.insert(in_b);
    }
    EXPECT_EQ(Members(a), std::vector<size_t>(model_a.begin(), model_a.end()));
    EXPECT_EQ(a.Count(), model_a.size());
    Bitset both = a;
    both |= b;
    EXPECT_TRUE(both.Contains(a) && both.Contains(b));
    EXPECT_EQ(a.Contains(b), both == a);
    Bitset common = a;
    common &= b;
    EXPECT_TRUE(a.Contains(common) && b.Contains(common));
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(both.Test(i), model_a.contains(i) || model_b.contains(i));
      EXPECT_EQ(common.Test(i), model_a.contains(i) && model_b.contains(i));
    }
  }
}

TEST_P(BitsetOfSize, ResetAndClear_Remove) {
  Bitset set(GetParam());
  EXPECT_TRUE(set.empty());
  set.Set(GetParam() - 1);
  EXPECT_FALSE(set.empty());
  set.Reset(GetParam() - 1);
  EXPECT_TRUE(set.empty());
  set.Set(0);
  set.Clear();
  EXPECT_TRUE(set.empty());
}

TEST(Bitset, EqualMembers_EqualHash) {
  Bitset a(200);
  Bitset b(200);
  a.Set(5);
  a.Set(150);
  b.Set(150);
  b.Set(5);
  EXPECT_EQ(a, b);
  EXPECT_EQ(BitsetHash{}(a), BitsetHash{}(b));
  b.Set(6);
  EXPECT_NE(BitsetHash{}(a), BitsetHash{}(b));
}

TEST(Bitset, SizeZero_IsEmpty) {
  EXPECT_TRUE(Bitset(0).empty());
  EXPECT_EQ(Members(Bitset(0)), std::vector<size_t>{});
}

}  // namespace
}  // namespace kiln
