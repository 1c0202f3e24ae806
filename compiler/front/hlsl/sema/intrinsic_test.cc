// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/sema/intrinsic.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/sema/method.h"

namespace kiln::hlsl {
namespace {

TEST(Intrinsic, EveryRow_IsFoundByItsName_AndNoNameIsTwo) {
  std::set<std::string_view> names;
  for (uint32_t i = 0; i < kIntrinsicCount; ++i) {
    const IntrinsicFacts& facts = FactsOf(static_cast<Intrinsic>(i));
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
    EXPECT_EQ(FindIntrinsic(facts.name), static_cast<Intrinsic>(i));
    EXPECT_FALSE(FindRefusedIntrinsic(facts.name).has_value()) << facts.name;
  }
}

// spec/hlsl 2: T0 adds two, T1 94; NonUniformResourceIndex is of T2 and there already.
TEST(Intrinsic, TiersHaveAsManyRows_AsTheSpecificationCounts) {
  uint32_t count[3] = {};
  for (uint32_t i = 0; i < kIntrinsicCount; ++i) {
    ++count[static_cast<size_t>(FactsOf(static_cast<Intrinsic>(i)).tier)];
  }
  EXPECT_EQ(count[0], 2u);
  EXPECT_EQ(count[1], 94u + 1u);
}

TEST(Intrinsic, RefusedNames_SayWhy) {
  EXPECT_EQ(FindRefusedIntrinsic("WaveActiveSum")->family, "wave operations");
  EXPECT_EQ(FindRefusedIntrinsic("tex2Dlod")->replacement, "Texture2D.SampleLevel");
  const auto none = FindRefusedIntrinsic("GetRenderTargetSampleCount");
  EXPECT_TRUE(none->family.empty() && none->replacement.empty());
  EXPECT_FALSE(FindRefusedIntrinsic("brightness").has_value());
  EXPECT_FALSE(FindIntrinsic("brightness").has_value());
}

TEST(Method, EveryRow_IsFoundByItsName) {
  for (const MethodFacts& facts : kMethodFacts) {
    EXPECT_EQ(FactsOf(*FindMethod(facts.name)).name, facts.name);
  }
  EXPECT_FALSE(FindMethod("SampleAll").has_value());
}

}  // namespace
}  // namespace kiln::hlsl
