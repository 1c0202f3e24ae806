// SPDX-License-Identifier: MIT
// Recipes on small modules: what they make, and what they say to modules that are wrong.
#include "compiler/recipe/recipe.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

namespace kiln::recipe {
namespace {

constexpr char kFragment[] = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %color
OpExecutionMode %main OriginUpperLeft
OpName %color "color"
OpDecorate %color Location 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%ptr = OpTypePointer Output %v4
%color = OpVariable %ptr Output
%half = OpConstant %float 0.5
%one = OpConstant %float 1
%main = OpFunction %void None %fn
%label = OpLabel
%sum = OpFAdd %float %half %half
%value = OpCompositeConstruct %v4 %sum %half %half %one
OpStore %color %value
OpReturn
OpFunctionEnd
)";

Bytes Assembled(const std::string& text) {
  const spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(text, &words));
  const ByteView bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

Made RunText(const std::string& recipe, ByteView spirv) {
  const Result<Recipe> parsed = ParseRecipe(recipe, target::Environment::kVulkan11);
  EXPECT_TRUE(parsed.ok()) << recipe;
  return Run(*parsed, spirv);
}

TEST(Recipe, Texts_BecomeCanonical) {
  const struct {
    const char* text;
    const char* canonical;
  } table[] = {{"val", "val;env=vulkan1.1"},
               {"val;env=vulkan1.3", "val;env=vulkan1.3"},
               {"opt", "opt;env=vulkan1.1;level=O;val=none"},
               {"opt;val=after;level=Os", "opt;env=vulkan1.1;level=Os;val=after"},
               {"cross;to=msl2.3", "cross;to=msl2.3"},
               {"dis", "dis"}};
  for (const auto& row : table) {
    const Result<Recipe> recipe = ParseRecipe(row.text, target::Environment::kVulkan11);
    ASSERT_TRUE(recipe.ok()) << row.text;
    EXPECT_EQ(recipe->text, row.canonical);
  }
}

TEST(Recipe, WrongTexts_AreRefused) {
  for (const char* text : {"",
                           ";",
                           "vali",
                           "val;env=metal",
                           "val;level=O",
                           "opt;level=3",
                           "opt;level",
                           "opt;level=",
                           "opt;level=O;level=O",
                           "cross",
                           "cross;to=",
                           "cross;to=msl",
                           "cross;to=msl9.0",
                           "cross;to=glsl",
                           "cross;to=glsl451",
                           "cross;to=glsl310",
                           "cross;to=hlsl40",
                           "cross;to=hlsl4294967346",
                           "cross;to=wgsl",
                           "dis;level=O",
                           "cross;to=msl2.3;env=vulkan9"}) {
    const Result<Recipe> recipe = ParseRecipe(text, target::Environment::kVulkan11);
    ASSERT_FALSE(recipe.ok()) << text;
    EXPECT_EQ(recipe.error().reason, "RECIPE_WRONG") << text;
  }
}

TEST(Validate, GoodModule_IsLeftAsItIs) {
  const Bytes module = Assembled(kFragment);
  const Made made = RunText("val", module);
  EXPECT_TRUE(made.ok) << made.report;
  EXPECT_EQ(made.bytes, module);
}

TEST(Validate, WrongModule_IsReported) {
  std::string text = kFragment;
  text.replace(text.find("OpReturn\n"), 9, "");
  const Made made = RunText("val", Assembled(text));
  EXPECT_FALSE(made.ok);
  EXPECT_NE(made.report, "");
}

TEST(Optimize, ConstantSum_IsFolded) {
  const Bytes module = Assembled(kFragment);
  const Made made = RunText("opt;level=O;val=after", module);
  ASSERT_TRUE(made.ok) << made.report;
  EXPECT_LT(made.bytes.size(), module.size());
  EXPECT_EQ(RunText("opt;level=O;val=after", module).bytes, made.bytes);
}

TEST(Translate, Fragment_BecomesEveryLanguage) {
  const struct {
    const char* recipe;
    const char* contains;
  } table[] = {{"cross;to=msl2.1", "fragment main0_out main0"},
               {"cross;to=glsl450", "#version 450"},
               {"cross;to=glsl310es", "#version 310 es"},
               {"cross;to=hlsl60", "SV_Target0"}};
  for (const auto& row : table) {
    const Made made = RunText(row.recipe, Assembled(kFragment));
    ASSERT_TRUE(made.ok) << row.recipe << made.report;
    EXPECT_THAT(std::string(AsText(made.bytes)), testing::HasSubstr(row.contains));
  }
}

TEST(Disassemble, Names_AreShown) {
  const Made made = RunText("dis", Assembled(kFragment));
  ASSERT_TRUE(made.ok) << made.report;
  EXPECT_THAT(std::string(AsText(made.bytes)), testing::HasSubstr("OpStore %color"));
}

TEST(Recipes, GarbageOfAnySize_IsReported) {
  for (const size_t size : {size_t{0}, size_t{3}, size_t{20}, size_t{64}, size_t{1000}}) {
    const Bytes garbage(size, std::byte{0xA5});
    for (const char* recipe : {"val", "opt", "cross;to=msl2.1", "cross;to=hlsl60", "dis"}) {
      const Made made = RunText(recipe, garbage);
      EXPECT_FALSE(made.ok) << recipe << " " << size;
      EXPECT_NE(made.report, "") << recipe << " " << size;
    }
  }
}

}  // namespace
}  // namespace kiln::recipe
