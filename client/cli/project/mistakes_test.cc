// SPDX-License-Identifier: MIT
#include "client/cli/project/mistakes.h"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

PlacedDiagnostic At(const std::string& path, uint32_t line, const std::string& message = "wrong") {
  PlacedDiagnostic diagnostic;
  diagnostic.code = "RPL6022";
  diagnostic.message = message;
  diagnostic.primary = {.path = path, .line = line, .column = 5, .end_line = line, .end_column = 6};
  return diagnostic;
}

TEST(MistakeList, PlaceCodeAndMessage_AreTheMistake) {
  MistakeList list;
  EXPECT_TRUE(list.Add("b", At("x.rpl", 3)));
  EXPECT_FALSE(list.Add("a", At("x.rpl", 3)));
  EXPECT_FALSE(list.Add("a", At("x.rpl", 3)));
  EXPECT_TRUE(list.Add("a", At("x.rpl", 3, "otherwise wrong")));
  EXPECT_TRUE(list.Add("a", At("x.rpl", 2)));
  EXPECT_TRUE(list.Add("a", At("w.rpl", 3)));
  const std::vector<Mistake> sorted = list.Sorted();
  ASSERT_EQ(sorted.size(), 4u);
  EXPECT_EQ(MistakeName(sorted[0].diagnostic), "w.rpl:3:5 [RPL6022]");
  EXPECT_EQ(MistakeName(sorted[1].diagnostic), "x.rpl:2:5 [RPL6022]");
  EXPECT_EQ(sorted[2].programs, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(sorted[2].first, "b");
}

TEST(MistakeList, Variants_AreNoOtherMistake) {
  PlacedDiagnostic of_some = At("x.rpl", 3);
  of_some.variants = PlacedVariants{.failing = "1", .total = "2", .condition = {}, .example = {}};
  MistakeList list;
  EXPECT_TRUE(list.Add("a", At("x.rpl", 3)));
  EXPECT_FALSE(list.Add("a", of_some));
}

// Of a daemon that makes them up. What is not kept is shown each time.
TEST(MistakeList, WithoutEnd_IsBounded) {
  MistakeList list;
  PlacedDiagnostic one;
  one.code = "RPL6022";
  for (int i = 0; i < 10'001; ++i) {
    one.message = std::to_string(i);
    EXPECT_TRUE(list.Add("rock", one));
  }
  EXPECT_EQ(list.all().size(), 10'000u);
  EXPECT_TRUE(list.Add("rock", one));
  one.message = "0";
  EXPECT_FALSE(list.Add("rock", one));
  MistakeList large;
  for (int i = 0; i < 100; ++i) {
    one.message = std::string(1 << 20, 'x') + std::to_string(i);
    EXPECT_TRUE(large.Add("rock", one));
  }
  EXPECT_LT(large.all().size(), 64u);
}

TEST(ProgramsText, IsCutWhenItIsLong) {
  const std::set<std::string> four = {"a", "b", "c", "d"};
  std::set<std::string> more = four;
  more.insert({"e", "f"});
  EXPECT_EQ(ProgramsText({"a"}), "a");
  EXPECT_EQ(ProgramsText(four), "a, b, c, d");
  EXPECT_EQ(ProgramsText(more), "a, b, c and 3 more");
  EXPECT_EQ(ProgramsText(more, 20), "a, b, c, d, e, f");
}

}  // namespace
}  // namespace kiln::cli
