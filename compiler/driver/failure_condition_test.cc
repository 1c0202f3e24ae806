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
  return ShortestCondition(kAxes, failing);
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

}  // namespace
}  // namespace kiln::driver
