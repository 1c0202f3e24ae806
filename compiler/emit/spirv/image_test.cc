// SPDX-License-Identifier: MIT
// Samplers, images and images that a variable picks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/spirv/text_module.h"

namespace kiln::spirv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kInterface = R"(variant graphics_classic
container state @state {
  uv : f2
  layer : u1
}
container color_output @target {
  color : f4
}
sampler pass @linear
image read_only pass @albedo : image_color_2d
image read_only pass @shadow : image_depth_2d_array
image read_only pass @volume : image_color_3d
image read_only pass @sky : image_color_cube
image read_only pass @layers : image_color_2d[4]
)";

std::string Fragment(std::string_view body, std::string_view functions = "") {
  return std::string(kInterface) +
         "entry fragment @main \"main\" {\n  function @main() -> void { region r0 {\n" +
         "%1 = global none @linear : sampler\n" + "%2 = global in @state.uv : f2\n" +
         "%3 = load %2 : f2\n" + "%4 = global in @state.layer : u1\n" + "%5 = load %4 : u1\n" +
         "%6 = const f1 0.5\n" + "%7 = construct [%3, %6] : f3\n" + std::string(body) + "\n} }\n" +
         std::string(functions) + "\n}\n";
}

TEST(Sampling, Forms_AreTheirInstruction) {
  const struct {
    const char *image, *type, *call, *result, *expected;
  } rows[] = {
      {"albedo", "image_color_2d", "sample [%1, %8, %3]", "f4", "OpImageSampleImplicitLod"},
      {"volume", "image_color_3d", "sample [%1, %8, %7]", "f4", "OpImageSampleImplicitLod"},
      {"sky", "image_color_cube", "sample_lod [%1, %8, %7, %6]", "f4", "OpImageSampleExplicitLod"},
      {"shadow", "image_depth_2d_array", "sample [%1, %8, %7]", "f4", "OpImageSampleImplicitLod"},
      {"shadow", "image_depth_2d_array", "sample_dref [%1, %8, %7, %6]", "f1",
       "OpImageSampleDrefImplicitLod"},
      {"shadow", "image_depth_2d_array", "sample_dref_lod [%1, %8, %7, %6, %6]", "f1",
       "OpImageSampleDrefExplicitLod"},
  };
  for (const auto& row : rows) {
    TextModule module(Fragment(std::string("%8 = global none @") + row.image + " : " + row.type +
                               "\n%9 = builtin " + row.call + " : " + row.result));
    EXPECT_THAT(module.Text(), HasSubstr(std::string(" = ") + row.expected + " "));
  }
}

TEST(Sampling, TheSameHandles_AreLoadedOnce) {
  TextModule module(Fragment(R"(
    %8 = global none @albedo : image_color_2d
    %9 = builtin sample [%1, %8, %3] : f4
    %10 = builtin sample [%1, %8, %3] : f4)"));
  EXPECT_EQ(module.Between("OpSampledImage ", "OpFunctionEnd"),
            R"(%27 = OpSampledImage %13 %26 %25
%28 = OpImageSampleImplicitLod %7 %27 %22
%29 = OpSampledImage %13 %26 %25
%30 = OpImageSampleImplicitLod %7 %29 %22
OpReturn
OpFunctionEnd
)");
}

// --- image arrays --------------------------------------------------------------------------------

TEST(ImageArray, ConstantIndex_NeedsNothing) {
  TextModule module(Fragment(R"(
    %8 = global none @layers : image_color_2d[4]
    %9 = const u1 3
    %10 = access %8 [%9] : image_color_2d
    %11 = builtin sample [%1, %10, %3] : f4)"));
  EXPECT_THAT(module.Text(), Not(HasSubstr("NonUniform")));
  EXPECT_THAT(module.Text(), HasSubstr("OpInBoundsAccessChain"));
}

// The instructions whose results are decorated NonUniform, in the order of the decorations.
std::vector<std::string> NonUniform(const std::string& text) {
  std::vector<std::string> ops;
  const std::string before = "OpDecorate %";
  for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    const size_t number = at + before.size();
    const size_t end = text.find(' ', number);
    if (text.compare(end, 12, " NonUniform\n") == 0) {
      const std::string definition = "\n%" + text.substr(number, end - number) + " = ";
      const size_t op = text.find(definition) + definition.size();
      ops.push_back(text.substr(op, text.find(' ', op) - op));
    }
  }
  return ops;
}

constexpr std::string_view kPicked = R"(
    %8 = global none @layers : image_color_2d[4]
    %10 = access non_uniform %8 [%5] : image_color_2d
    %11 = builtin sample [%1, %10, %3] : f4)";

TEST(ImageArray, VariableIndex_DecoratesIndexChainImageAndSampledImage) {
  TextModule module(Fragment(kPicked), TargetOf("vulkan1.2"));
  const std::string text = module.Text();
  EXPECT_THAT(text, HasSubstr("OpCapability ShaderNonUniform\n"
                              "OpCapability SampledImageArrayNonUniformIndexing\n"));
  EXPECT_THAT(text, Not(HasSubstr("OpExtension")));
  EXPECT_THAT(NonUniform(text), ElementsAre("OpLoad", "OpAccessChain", "OpLoad", "OpSampledImage"));
}

TEST(ImageArray, VariableIndex_NeedsTheExtensionBelow15) {
  EXPECT_THAT(TextModule(Fragment(kPicked), TargetOf("vulkan1.1")).Text(),
              HasSubstr("OpExtension \"SPV_EXT_descriptor_indexing\""));
}

constexpr std::string_view kCallees = R"(
    function @outer(in $s : sampler, in $i : image_color_2d, in $uv : f2) -> f4 in fragment {
      region r0 {
        param in $s : sampler
        param in $i : image_color_2d
        param in $uv : f2
        %1 = local $s : sampler
        %2 = local $i : image_color_2d
        %3 = param $uv : f2
        %4 = call @inner [%1, %2, %3] : f4
        return %4
      }
    }
    function @inner(in $s : sampler, in $i : image_color_2d, in $uv : f2) -> f4 in fragment {
      region r0 {
        param in $s : sampler
        param in $i : image_color_2d
        param in $uv : f2
        %1 = local $s : sampler
        %2 = local $i : image_color_2d
        %3 = param $uv : f2
        %4 = builtin sample [%1, %2, %3] : f4
        return %4
      }
    })";

TEST(ImageParameter, NonUniformForSomeCaller_IsDecoratedInTheCalleeOfTheCallee) {
  TextModule module(Fragment(R"(
    %8 = global none @layers : image_color_2d[4]
    %10 = access non_uniform %8 [%5] : image_color_2d
    %11 = call @outer [%1, %10, %3] : f4)",
                             kCallees));
  // index and chain here, image and sampled image in the inner function
  EXPECT_THAT(NonUniform(module.Text()),
              ElementsAre("OpLoad", "OpAccessChain", "OpLoad", "OpSampledImage"));
}

TEST(ImageParameter, UniformForAllCallers_IsNotDecorated) {
  TextModule module(Fragment(R"(
    %8 = global none @albedo : image_color_2d
    %11 = call @outer [%1, %8, %3] : f4)",
                             kCallees));
  EXPECT_THAT(module.Text(), Not(HasSubstr("NonUniform")));
}

TEST(ImageArray, IndexByANameOfAnEnclosingRegion_IsCopiedFirst) {
  constexpr std::string_view kCallee = R"(
    function @pick(in $n : u1) -> f4 in fragment {
      region r0 {
        param in $n : u1
        %1 = temp : f4
        insertion_point r1
        %2 = load %1 : f4
        return %2
      }
      region r1 {
        %1 = param $n : u1
        %2 = global none @layers : image_color_2d[4]
        %3 = access non_uniform %2 [%1] : image_color_2d
        %4 = global none @linear : sampler
        %5 = global in @state.uv : f2
        %6 = load %5 : f2
        %7 = builtin sample [%4, %3, %6] : f4
      }
    })";
  TextModule module(Fragment("%8 = call @pick [%5] : f4", kCallee));
  EXPECT_THAT(NonUniform(module.Text()),
              ElementsAre("OpCopyObject", "OpAccessChain", "OpLoad", "OpSampledImage"));
}

}  // namespace
}  // namespace kiln::spirv
