// SPDX-License-Identifier: MIT
// Places: what is loaded again and what is remembered, laid out types, calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/spirv/text_module.h"

namespace kiln::spirv {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// --- values that are known -----------------------------------------------------------------------

constexpr std::string_view kInterface = R"(variant graphics_classic
struct light_t {
  position : f4
  color : f4
}
container state @state {
  uv : f2
  layer : u1
}
container color_output @target {
  color : f4
}
buffer uniform pass @frame {
  matrix : f4x4
  lights : light_t[4]
}
buffer read_only_storage shared @trail {
  origin : f3
  age : f1
  wind : f2
  lengths : f1...
}
buffer read_write_storage shared @counters {
  total : light_t
}
push_constant @push {
  tint : f4
}
)";

std::string Fragment(std::string_view body, std::string_view functions = "") {
  return std::string(kInterface) +
         "entry fragment @main \"main\" {\n  function @main() -> void { region r0 {\n" +
         std::string(body) + "\n} }\n" + std::string(functions) + "\n}\n";
}

TEST(Loads, SamePlaceInOneBlock_IsLoadedOnce) {
  TextModule module(Fragment(R"(
    var $x : f4
    %1 = local $x : f4
    %2 = global none @push : push
    %3 = const u1 0
    %4 = access %2 [%3] : f4
    %5 = load %4 : f4
    %6 = access %2 [%3] : f4
    %7 = load %6 : f4
    %8 = binary add %5, %7 : f4
    store %1, %8)"));
  const std::string text = module.Text();
  EXPECT_EQ(Count(text, "OpLoad"), 1u);
  EXPECT_EQ(Count(text, "OpInBoundsAccessChain"), 1u);
}

TEST(Loads, AfterAStore_TheStoredValueIsKnownAndItsPartsAreNot) {
  TextModule module(Fragment(R"(
    var $x : f4
    %1 = local $x : f4
    %2 = const u1 0
    %3 = access %1 [%2] : f1
    %4 = load %3 : f1
    %5 = splat %4 : f4
    store %1, %5
    %6 = load %1 : f4
    %7 = load %3 : f1
    %8 = splat %7 : f4
    %9 = binary add %6, %8 : f4
    store %1, %9)"));
  EXPECT_EQ(module.Between("OpInBoundsAccessChain", "OpFunctionEnd"),
            R"(%12 = OpInBoundsAccessChain %5 %11 %7
%13 = OpLoad %3 %12
%14 = OpCompositeConstruct %4 %13 %13 %13 %13
OpStore %11 %14
%15 = OpLoad %3 %12
%16 = OpCompositeConstruct %4 %15 %15 %15 %15
%17 = OpFAdd %4 %14 %16
OpStore %11 %17
OpReturn
OpFunctionEnd
)");
}

TEST(Loads, AfterACall_OnlyWhatItMayWriteIsLoadedAgain) {
  constexpr std::string_view kCallee = R"(
    function @set(out $o : f4) -> void { region r0 {
      param out $o : f4
      %1 = const f4 {1.0, 2.0, 3.0, 4.0}
      %2 = local $o : f4
      store %2, %1
    } })";
  TextModule module(Fragment(R"(
    var $x : f4
    var $y : f4
    %1 = local $x : f4
    %2 = local $y : f4
    %3 = load %1 : f4
    %4 = load %2 : f4
    %5 = call @set [%1] : void
    %6 = load %1 : f4
    %7 = load %2 : f4
    %8 = binary add %3, %4 : f4
    %9 = binary add %6, %7 : f4
    %10 = binary add %8, %9 : f4
    store %2, %10)",
                             kCallee));
  EXPECT_EQ(Count(module.Between("OpFunction ", "OpFunctionEnd"), "OpLoad"), 3u);
}

TEST(Loads, AcrossBlocksAndInsertionPoints_AreNotRemembered) {
  TextModule module(Fragment(R"(
    var $x : f1
    %1 = local $x : f1
    %2 = load %1 : f1
    insertion_point r1
    %3 = load %1 : f1
    %4 = binary less %2, %3 : bool
    if %4 {
      %5 = load %1 : f1
      store %1, %5
    })"));
  EXPECT_EQ(Count(module.Text(), "OpLoad"), 3u);
}

// --- access chains -------------------------------------------------------------------------------

TEST(Access, VariableIndex_IsNotInBounds) {
  TextModule module(Fragment(R"(
    var $x : f1
    %1 = global in @state.layer : u1
    %2 = load %1 : u1
    %3 = const u1 1
    %4 = const u1 2
    %5 = global none @frame : frame
    %6 = access %5 [%3, %2, %3, %4] : f1
    %7 = load %6 : f1
    %8 = local $x : f1
    store %8, %7
    %9 = global none @trail : trail
    %10 = const u1 3
    %11 = access %9 [%10, %2] : f1
    %12 = load %11 : f1
    store %8, %12)"));
  EXPECT_EQ(Count(module.Text(), "OpAccessChain"), 2u);
}

TEST(Access, MatrixColumnAndElement_ArePlaces) {
  TextModule module(Fragment(R"(
    var $m : f3x3
    %1 = local $m : f3x3
    %2 = const u1 1
    %3 = access %1 [%2] : f3
    %4 = const f3 {1.0, 2.0, 3.0}
    store %3, %4
    %5 = access %1 [%2, %2] : f1
    %6 = load %5 : f1
    store %5, %6)"));
  EXPECT_EQ(Count(module.Text(), "OpInBoundsAccessChain"), 2u);
}

// --- laid out types ------------------------------------------------------------------------------

constexpr std::string_view kCopies = R"(
    var $light : light_t
    var $lights : light_t[4]
    %1 = const u1 1
    %2 = global none @frame : frame
    %3 = access %2 [%1, %1] : light_t
    %4 = load %3 : light_t
    %5 = local $light : light_t
    store %5, %4
    %6 = access %2 [%1] : light_t[4]
    %7 = load %6 : light_t[4]
    %8 = local $lights : light_t[4]
    store %8, %7
    %9 = const u1 0
    %10 = global none @counters : counters
    %11 = access %10 [%9] : light_t
    store %11, %4)";

TEST(LaidOutTypes, ValuesCross_ByCopyLogicalFrom14) {
  const std::string text = TextModule(Fragment(kCopies), TargetOf("vulkan1.2")).Text();
  EXPECT_EQ(Count(text, "OpCopyLogical"), 3u);
  EXPECT_THAT(text, Not(HasSubstr("OpCompositeExtract")));
}

TEST(LaidOutTypes, ValuesCross_MemberByMemberBelow14) {
  for (const char* environment : {"vulkan1.0", "vulkan1.1"}) {
    const std::string text = TextModule(Fragment(kCopies), TargetOf(environment)).Text();
    EXPECT_THAT(text, Not(HasSubstr("OpCopyLogical")));
    EXPECT_EQ(Count(text, "OpCompositeConstruct"), 7u);  // light, array of 4 and its items, light
  }
}

TEST(LaidOutTypes, Decorations_FollowTheRulesOfTheBlock) {
  TextModule module(Fragment(R"(
    %1 = const u1 0
    %2 = global none @frame : frame
    %3 = access %2 [%1] : f4x4
    %4 = load %3 : f4x4
    %5 = global none @trail : trail
    %6 = access %5 [%1] : f3
    %7 = load %6 : f3)"));
  EXPECT_EQ(module.Between("OpDecorate", "OpTypeVoid"), R"(OpDecorate %7 ArrayStride 4
OpMemberDecorate %12 0 Offset 0
OpMemberDecorate %12 1 Offset 16
OpDecorate %13 Block
OpMemberDecorate %13 0 Offset 0
OpMemberDecorate %13 0 NonWritable
OpMemberDecorate %13 1 Offset 12
OpMemberDecorate %13 1 NonWritable
OpMemberDecorate %13 2 Offset 16
OpMemberDecorate %13 2 NonWritable
OpMemberDecorate %13 3 Offset 24
OpMemberDecorate %13 3 NonWritable
OpDecorate %15 ArrayStride 32
OpDecorate %18 Block
OpMemberDecorate %18 0 Offset 0
OpMemberDecorate %18 0 ColMajor
OpMemberDecorate %18 0 MatrixStride 16
OpMemberDecorate %18 1 Offset 64
OpDecorate %20 DescriptorSet 0
OpDecorate %20 Binding 0
OpDecorate %21 DescriptorSet 3
OpDecorate %21 Binding 0
OpDecorate %21 NonWritable
%1 = OpTypeVoid
)");
}

// --- calls ---------------------------------------------------------------------------------------

TEST(Calls, ValuesPlacesAndResults_ArePassed) {
  constexpr std::string_view kCallee = R"(
    function @mix(in $v : f4, in_out $t : light_t, in $a : f1[3]) -> light_t { region r0 {
      param in $v : f4
      param in_out $t : light_t
      param in $a : f1[3]
      %1 = param $v : f4
      %2 = local $t : light_t
      %3 = const u1 1
      %4 = access %2 [%3] : f4
      store %4, %1
      %5 = load %2 : light_t
      return %5
    } })";
  TextModule module(Fragment(R"(
    %1 = const f1 1.0
    %2 = splat %1 : f4
    %3 = temp : light_t
    %4 = construct [%1, %1, %1] : f1[3]
    %5 = call @mix [%2, %3, %4] : light_t
    %6 = extract %5, 1 : f4
    %7 = global out @target.color : f4
    store %7, %6)",
                             kCallee));
  EXPECT_THAT(module.Text(), HasSubstr("OpFunctionCall"));
}

}  // namespace
}  // namespace kiln::spirv
