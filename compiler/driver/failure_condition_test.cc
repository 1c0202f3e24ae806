// SPDX-License-Identifier: MIT
#include "compiler/driver/failure_condition.h"

#include <functional>

#include <gtest/gtest.h>

namespace kiln::driver {
namespace {

const std::vector<Axis> kAxes = {
    {.name = "skinning", .is_flag = true, .values = {"false", "true"}},
    {.name = "instancing", .is_flag = true, .values = {"false", "true"}},
    {.name = "quality", .values = {"\"low\"", "\"mid\"", "\"high\""}},
};

// Which variants fail, as a function of skinning, instancing and quality.
std::string Condition(const std::function<bool(bool, bool, int)>& fails) {
  std::vector<bool> failing;
  for (const bool skinning : {false, true}) {
    for (const bool instancing : {false, true}) {
      for (int quality = 0; quality < 3; ++quality) {
        failing.push_back(fails(skinning, instancing, quality));
      }
    }
  }
  return ShortestCondition(EveryCombination(kAxes), failing);
}

TEST(ShortestCondition, EachShape_HasNoSuperfluousLiteral) {
  EXPECT_EQ(Condition([](bool, bool, int) { return true; }), "");
  EXPECT_EQ(Condition([](bool, bool, int) { return false; }), "");
  EXPECT_EQ(Condition([](bool s, bool, int) { return s; }), "skinning");
  EXPECT_EQ(Condition([](bool, bool i, int) { return !i; }), "!instancing");
  EXPECT_EQ(Condition([](bool, bool, int q) { return q == 2; }), "quality == \"high\"");
  EXPECT_EQ(Condition([](bool, bool, int q) { return q != 1; }), "quality != \"mid\"");
  EXPECT_EQ(Condition([](bool s, bool i, int) { return s && !i; }), "skinning && !instancing");
  EXPECT_EQ(Condition([](bool s, bool i, int) { return s || i; }), "skinning || instancing");
  EXPECT_EQ(Condition([](bool s, bool i, int q) { return s && i && q == 0; }),
            "skinning && instancing && quality == \"low\"");
  EXPECT_EQ(Condition([](bool s, bool i, int) { return s == i; }),
            "!skinning && !instancing || skinning && instancing");
}

// A row of skinning and instancing, and whether it fails.
struct Row {
  uint32_t skinning, instancing;
  bool fails;
};

std::string ConditionOf(const std::vector<Row>& rows) {
  TriedVariants tried{.axes = {kAxes[0], kAxes[1]}, .values = {}};
  std::vector<bool> failing;
  for (const Row& row : rows) {
    tried.values.push_back(row.skinning);
    tried.values.push_back(row.instancing);
    failing.push_back(row.fails);
  }
  return ShortestCondition(tried, failing);
}

TEST(ShortestCondition, ExcludedCombinations_MayFallOnEitherSide) {
  EXPECT_EQ(ConditionOf({{0, 0, false}, {1, 0, true}, {1, 1, true}}), "skinning");
  EXPECT_EQ(ConditionOf({{0, 0, false}, {1, 1, true}}), "skinning");
  EXPECT_EQ(ConditionOf({{0, 0, false}, {0, 1, false}, {1, 1, true}}), "skinning");
}

TEST(ShortestCondition, VariantsThatDoNotSayAValue_AreNoGroundForALiteral) {
  EXPECT_EQ(ConditionOf({{0, kNoValue, false}, {1, kNoValue, true}}), "skinning");
  EXPECT_EQ(ConditionOf({{kNoValue, kNoValue, false}, {kNoValue, kNoValue, true}}), "");
}

TEST(ShortestCondition, WhatNothingShortTells_HasNone) {
  std::vector<Axis> axes;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    axes.push_back({.name = name, .is_flag = true, .values = {"false", "true"}});
  }
  std::vector<bool> odd;
  for (uint32_t i = 0; i < 32; ++i) {
    odd.push_back(__builtin_popcount(i) % 2 == 1);
  }
  EXPECT_EQ(ShortestCondition(EveryCombination(axes), odd), "");
}

}  // namespace
}  // namespace kiln::driver
