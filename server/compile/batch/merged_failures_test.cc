// SPDX-License-Identifier: MIT
#include "server/compile/batch/merged_failures.h"

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

resolve::OptionSetting Flag(const char* name, bool value) {
  return {.name = name, .scope = {}, .kind = ir::OptionKind::kFlag, .bits = value ? 1U : 0U};
}

resolve::OptionSetting Word(const char* name, const char* value) {
  return {.name = name, .scope = {}, .kind = ir::OptionKind::kEnum, .bits = 0, .text = value};
}

PlacedDiagnostic Says(const char* message, uint32_t line) {
  PlacedDiagnostic diagnostic{.code = "RPL6022", .message = message};
  diagnostic.primary = {.path = "a.rpl", .bytes = {}, .line = line};
  return diagnostic;
}

// fog x quality; each point stands for three variants.
BatchPoints Points() {
  BatchPoints points;
  for (const bool fog : {false, true}) {
    for (const char* quality : {"low", "high"}) {
      points.points.Add({.options = {Flag("fog", fog), Word("quality", quality)}, .served = 3});
    }
  }
  points.variants = 12;
  return points;
}

const std::vector<std::string> kDeclared = {"quality", "fog", "unused"};

TEST(MergedFailures, EqualMessages_AreOneWithCountsConditionAndExample) {
  MergedFailures failures;
  failures.Add(3, std::vector{Says("second", 9), Says("first", 1)});
  failures.Add(2, std::vector{Says("second", 9)});
  failures.Add(3, std::vector{Says("second", 9), Says("first", 1)});  // for another target
  EXPECT_EQ(failures.Failing(Points()), 6U);
  const std::vector<MergedFailure> merged = failures.Merge(Points(), kDeclared);
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].diagnostic.message, "first");
  EXPECT_EQ(merged[0].diagnostic.variants,
            (PlacedVariants{.failing = "3",
                            .total = "12",
                            .condition = "quality == \"high\" && fog",
                            .example = {}}));
  EXPECT_EQ(merged[1].diagnostic.variants,
            (PlacedVariants{.failing = "6", .total = "12", .condition = "fog", .example = {}}));
  ASSERT_EQ(merged[1].example.size(), 2U);
  EXPECT_EQ(merged[1].example[1].text, "low");
}

TEST(MergedFailures, OfOneVariantOnly_NeedNoCondition) {
  BatchPoints points;
  points.points.Add({});
  points.variants = 1;
  MergedFailures failures;
  EXPECT_TRUE(failures.empty());
  failures.Add(0, std::vector{Says("wrong", 1)});
  EXPECT_FALSE(failures.empty());
  EXPECT_EQ(failures.Merge(points, kDeclared)[0].diagnostic.variants, std::nullopt);
}

}  // namespace
}  // namespace kiln::compile
