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

RecipeResult RunText(const std::string& recipe, ByteView spirv) {
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
  const RecipeResult made = RunText("val", module);
  EXPECT_TRUE(made.ok) << made.report;
  EXPECT_EQ(made.bytes, module);
}

TEST(Validate, WrongModule_IsReported) {
  std::string text = kFragment;
  text.replace(text.find("OpReturn\n"), 9, "");
  const RecipeResult made = RunText("val", Assembled(text));
  EXPECT_FALSE(made.ok);
  EXPECT_NE(made.report, "");
}

TEST(Optimize, ConstantSum_IsFolded) {
  const Bytes module = Assembled(kFragment);
  const RecipeResult made = RunText("opt;level=O;val=after", module);
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
    const RecipeResult made = RunText(row.recipe, Assembled(kFragment));
    ASSERT_TRUE(made.ok) << row.recipe << made.report;
    EXPECT_THAT(std::string(AsText(made.bytes)), testing::HasSubstr(row.contains));
  }
}

// Two blocks that are the first of their sets, a texture and its sampler, as a stage has them.
constexpr char kResources[] = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %color
OpExecutionMode %main OriginUpperLeft
@NAMES@
OpDecorate %color Location 0
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %other Block
OpMemberDecorate %other 0 Offset 0
OpDecorate %view DescriptorSet 0
OpDecorate %view Binding 0
OpDecorate %water DescriptorSet 1
OpDecorate %water Binding 0
OpDecorate %smp DescriptorSet 1
OpDecorate %smp Binding 1
OpDecorate %tex DescriptorSet 1
OpDecorate %tex Binding @TEX@
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%zero = OpConstant %int 0
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%at = OpConstantNull %v2
%block = OpTypeStruct %v4
%other = OpTypeStruct %v4
%out = OpTypePointer Output %v4
%ublock = OpTypePointer Uniform %block
%uother = OpTypePointer Uniform %other
%uv4 = OpTypePointer Uniform %v4
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
%sampler = OpTypeSampler
%pimage = OpTypePointer UniformConstant %image
%psampler = OpTypePointer UniformConstant %sampler
%color = OpVariable %out Output
%view = OpVariable %ublock Uniform
%water = OpVariable %uother Uniform
%tex = OpVariable %pimage UniformConstant
%smp = OpVariable %psampler UniformConstant
%main = OpFunction %void None %fn
%label = OpLabel
%p = OpAccessChain %uv4 %view %zero
%a = OpLoad %v4 %p
%q = OpAccessChain %uv4 %water %zero
%b = OpLoad %v4 %q
%i = OpLoad %image %tex
%s = OpLoad %sampler %smp
%si = OpSampledImage %sampled %i %s
%t = OpImageSampleImplicitLod %v4 %si %at
%ab = OpFAdd %v4 %a %b
%sum = OpFAdd %v4 %ab %t
OpStore %color %sum
OpReturn
OpFunctionEnd
)";

std::string ResourcesText(bool names, const std::string& texture_binding = "2") {
  std::string text = kResources;
  text.replace(text.find("@TEX@"), 5, texture_binding);
  text.replace(text.find("@NAMES@"), 7,
               names ? "OpName %block \"view\"\nOpName %other \"water\"\nOpName %tex \"foam\"\n"
                       "OpName %smp \"linear\""
                     : "");
  return text;
}

// Numbers tell set and binding, and nothing else: no two resources of a program share one, whatever
// a stage uses of them.
TEST(Translate, Resources_KeepTheirNumbersAndNames) {
  const struct {
    const char* recipe;
    std::vector<const char*> contains;
  } table[] = {
      {"cross;to=glsl450",
       {"layout(binding = 0, std140) uniform view", "layout(binding = 1, std140) uniform water",
        "uniform sampler2D foam_linear;", "// kiln: set 0 binding 0 'view' is 0\n",
        "// kiln: set 1 binding 2 'foam' is 9\n",
        "// kiln: 'foam_linear' is image 'foam' with sampler 'linear'\n"}},
      {"cross;to=msl2.3",
       {"[[buffer(0)]]", "[[buffer(1)]]", "foam [[texture(9)]]", "linear [[sampler(5)]]",
        "// kiln: set 1 binding 0 'water' is 1\n"}},
      {"cross;to=hlsl50",
       {"cbuffer view : register(b0)", "cbuffer water : register(b1)", "foam : register(t9)"}},
      {"cross;to=hlsl60",
       {"cbuffer view : register(b0, space0)", "cbuffer water : register(b0, space1)",
        "foam : register(t2, space1)", "// kiln: set 1 binding 2 'foam' is register 2, space 1\n"}},
  };
  for (const auto& row : table) {
    const RecipeResult made = RunText(row.recipe, Assembled(ResourcesText(true)));
    ASSERT_TRUE(made.ok) << row.recipe << made.report;
    for (const char* const text : row.contains) {
      EXPECT_THAT(std::string(AsText(made.bytes)), testing::HasSubstr(text)) << row.recipe;
    }
  }
}

TEST(Translate, ResourcesWithoutNames_GoByTheirPlace) {
  const RecipeResult made = RunText("cross;to=glsl450", Assembled(ResourcesText(false)));
  ASSERT_TRUE(made.ok) << made.report;
  EXPECT_THAT(std::string(AsText(made.bytes)),
              testing::HasSubstr("// kiln: set 1 binding 2 'set1_binding2' is 9\n"));
}

TEST(Translate, NumbersThatALanguageLacks_AreReported) {
  const Bytes module = Assembled(ResourcesText(true, "32"));
  EXPECT_TRUE(RunText("cross;to=glsl450", module).ok);
  EXPECT_TRUE(RunText("cross;to=hlsl60", module).ok);
  for (const char* const recipe : {"cross;to=msl2.3", "cross;to=hlsl50"}) {
    const RecipeResult made = RunText(recipe, module);
    EXPECT_FALSE(made.ok) << recipe;
    EXPECT_THAT(made.report, testing::HasSubstr("'foam' of set 1 binding 32 would be number 129"));
  }
  EXPECT_TRUE(RunText("cross;to=msl2.3", Assembled(ResourcesText(true, "31"))).ok);
}

TEST(Disassemble, Names_AreShown) {
  const RecipeResult made = RunText("dis", Assembled(kFragment));
  ASSERT_TRUE(made.ok) << made.report;
  EXPECT_THAT(std::string(AsText(made.bytes)), testing::HasSubstr("OpStore %color"));
}

TEST(Recipes, GarbageOfAnySize_IsReported) {
  for (const size_t size : {size_t{0}, size_t{3}, size_t{20}, size_t{64}, size_t{1000}}) {
    const Bytes garbage(size, std::byte{0xA5});
    for (const char* recipe : {"val", "opt", "cross;to=msl2.1", "cross;to=hlsl60", "dis"}) {
      const RecipeResult made = RunText(recipe, garbage);
      EXPECT_FALSE(made.ok) << recipe << " " << size;
      EXPECT_NE(made.report, "") << recipe << " " << size;
    }
  }
}

}  // namespace
}  // namespace kiln::recipe
