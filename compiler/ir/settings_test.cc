// SPDX-License-Identifier: MIT
#include "compiler/ir/settings.h"

#include <algorithm>
#include <bit>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::ir {
namespace {

TEST(Settings, EveryName_IsFoundOnce) {
  std::set<std::string_view> names;
  for (const SettingFacts& facts : AllSettings()) {
    EXPECT_EQ(FindSetting(facts.name), &facts) << facts.name;
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
  }
  EXPECT_EQ(names.size(), 41u);
  EXPECT_EQ(FindSetting("cull"), nullptr);
  EXPECT_EQ(FindSetting(""), nullptr);
  EXPECT_EQ(FindSetting("zzz"), nullptr);
}

TEST(Settings, DefaultOfString_IsAllowed) {
  for (const SettingFacts& facts : AllSettings()) {
    if (facts.type == SettingType::kString) {
      EXPECT_THAT(facts.values, testing::Contains(facts.default_text)) << facts.name;
    } else {
      EXPECT_TRUE(facts.values.empty()) << facts.name;
    }
  }
}

TEST(Settings, Facts_AreThoseOfTheLanguage) {
  const SettingFacts& depth_max = FactsOf(Setting::kDepthMax);
  EXPECT_EQ(depth_max.type, SettingType::kFloat);
  EXPECT_EQ(std::bit_cast<float>(depth_max.default_bits), 1.0F);
  EXPECT_EQ(FactsOf(Setting::kDepthTest).default_bits, 1u);
  EXPECT_EQ(FactsOf(Setting::kStencilBackReference).type, SettingType::kByte);
  EXPECT_EQ(FactsOf(Setting::kColorOutputWriteA).scope, SettingScope::kOutput);
  EXPECT_EQ(FactsOf(Setting::kColorBlendConstantA).scope, SettingScope::kPipeline);
  EXPECT_EQ(FactsOf(Setting::kDepthCompareOperation).default_text, "less");
}

}  // namespace
}  // namespace kiln::ir
