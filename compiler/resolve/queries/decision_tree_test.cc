// SPDX-License-Identifier: MIT
#include "compiler/resolve/queries/decision_tree.h"

#include <array>

#include <gtest/gtest.h>

namespace kiln::resolve {
namespace {

Bitset Reads(std::initializer_list<uint32_t> options) {
  Bitset set(4);
  for (const uint32_t option : options) {
    set.Set(option);
  }
  return set;
}

using Values = std::array<uint32_t, 4>;
constexpr std::array<uint32_t, 4> kInOrder = {0, 1, 2, 3};

TEST(DecisionTree, Empty_FindsNothing) {
  const DecisionTree tree;
  EXPECT_EQ(tree.Find({}, Values{1, 2, 3, 4}), DecisionTree::kNone);
}

TEST(DecisionTree, NothingRead_HoldsForAllValues) {
  DecisionTree tree;
  DecisionTree::Root root;
  tree.Add(root, Reads({}), kInOrder, Values{1, 2, 3, 4}, 7);
  EXPECT_EQ(tree.Find(root, Values{}), 7u);
}

TEST(DecisionTree, OptionsThatWereNotRead_DoNotMatter) {
  DecisionTree tree;
  DecisionTree::Root root;
  tree.Add(root, Reads({1, 3}), kInOrder, Values{0, 1, 0, 1}, 0);
  const struct {
    Values values;
    uint32_t found;
  } rows[] = {{{0, 1, 0, 1}, 0},
              {{9, 1, 9, 1}, 0},
              {{0, 0, 0, 1}, DecisionTree::kNone},
              {{0, 1, 0, 0}, DecisionTree::kNone}};
  for (const auto& row : rows) {
    EXPECT_EQ(tree.Find(root, row.values), row.found);
  }
}

// Option 0 guards option 1; the tree has met only the other order of reading.
TEST(DecisionTree, CaseThatReadOtherOptions_StandsBehindThoseThatAreThere) {
  DecisionTree tree;
  DecisionTree::Root root;
  tree.Add(root, Reads({0, 1}), std::array{1u, 0u}, Values{1, 5}, 0);
  tree.Add(root, Reads({0}), kInOrder, Values{0, 5}, 1);
  EXPECT_EQ(tree.Find(root, Values{0, 5}), 1u);
  EXPECT_EQ(tree.Find(root, Values{0, 6}), DecisionTree::kNone);  // right, but not known yet
  tree.Add(root, Reads({0}), kInOrder, Values{0, 6}, 1);
  EXPECT_EQ(tree.Find(root, Values{0, 6}), 1u);
  EXPECT_EQ(tree.Find(root, Values{1, 5}), 0u);
}

TEST(DecisionTree, OrderThatMissesOptions_IsCompleted) {
  DecisionTree tree;
  DecisionTree::Root root;
  tree.Add(root, Reads({0, 2}), std::array{2u}, Values{4, 0, 8}, 3);
  EXPECT_EQ(tree.Find(root, Values{4, 1, 8}), 3u);
  EXPECT_EQ(tree.Find(root, Values{5, 1, 8}), DecisionTree::kNone);
}

TEST(DecisionTree, ManyRoots_ShareNothing) {
  DecisionTree tree;
  DecisionTree::Root first;
  DecisionTree::Root second;
  tree.Add(first, Reads({0}), kInOrder, Values{1}, 0);
  tree.Add(second, Reads({1}), kInOrder, Values{1, 2}, 1);
  EXPECT_EQ(tree.Find(first, Values{1, 2}), 0u);
  EXPECT_EQ(tree.Find(second, Values{3, 2}), 1u);
}

}  // namespace
}  // namespace kiln::resolve
