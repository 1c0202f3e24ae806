// SPDX-License-Identifier: MIT
// Control flow, regions and their insertion points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/spirv/text_module.h"

namespace kiln::spirv {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kThreeFlags = "(in $a : bool, in $b : bool, in $c : bool) -> bool";
constexpr std::string_view kThreeParams = R"(
  param in $a : bool
  param in $b : bool
  param in $c : bool
  %1 = param $a : bool
  %2 = param $b : bool
  %3 = param $c : bool)";

std::string WithFlags(std::string_view body) {
  return FunctionText(kThreeFlags, std::string(kThreeParams) + std::string(body));
}

TEST(Logical, NestedOperand_PhiNamesTheBlockThatEndsIt) {
  TextModule module(WithFlags(R"(
    %4 = logical and %1 : bool {
      %5 = logical or %2 : bool {
        yield %3
      }
      yield %5
    }
    return %4)"));
  EXPECT_EQ(module.Between("OpSelectionMerge", "OpFunctionEnd"), R"(OpSelectionMerge %14 None
OpBranchConditional %9 %13 %14
%13 = OpLabel
OpSelectionMerge %16 None
OpBranchConditional %10 %16 %15
%15 = OpLabel
OpBranch %16
%16 = OpLabel
%17 = OpPhi %2 %10 %13 %11 %15
OpBranch %14
%14 = OpLabel
%18 = OpPhi %2 %9 %12 %17 %16
OpReturnValue %18
OpFunctionEnd
)");
}

TEST(If, BothBranchesReturn_MergeIsUnreachable) {
  TextModule module(WithFlags(R"(
    if %1 {
      return %2
    } {
      return %3
    })"));
  EXPECT_THAT(module.Text(), HasSubstr("OpUnreachable\nOpFunctionEnd"));
}

TEST(If, OneBranchReturns_MergeGoesOn) {
  TextModule module(WithFlags(R"(
    if %1 {
      return %2
    }
    return %3)"));
  EXPECT_THAT(module.Text(), Not(HasSubstr("OpUnreachable")));
}

TEST(SelectBlocks, OnlyOneBlockRuns_AndPhiChooses) {
  TextModule module(WithFlags(R"(
    %4 = select_blocks %1 : bool {
      %5 = unary not %2 : bool
      yield %5
    } {
      yield %3
    }
    return %4)"));
  EXPECT_THAT(module.Text(), HasSubstr("OpPhi"));
}

constexpr std::string_view kLoop = R"(
  var $i : u1
  exit $outer
  exit $inner
  %1 = const u1 0
  %2 = local $i : u1
  store %2, %1
  loop $outer {
    %3 = load %2 : u1
    %4 = const u1 8
    %5 = binary less %3, %4 : bool
    yield %5
  } {
    loop $inner {
      %6 = flag true : bool
      yield %6
    } {
      %7 = load %2 : u1
      %8 = const u1 3
      %9 = binary equal %7, %8 : bool
      if %9 {
        continue $inner
      }
      %10 = binary less %7, %8 : bool
      if %10 {
        break $inner
      } {
        continue $inner
      }
    } {
    }
    %14 = const u1 5
    %15 = load %2 : u1
    %16 = binary equal %15, %14 : bool
    if %16 {
      continue $outer
    }
    if %16 {
      break $outer
    }
  } {
    %11 = load %2 : u1
    %12 = const u1 1
    %13 = binary add %11, %12 : u1
    store %2, %13
  }
  return _)";

TEST(Loop, NestedWithBreakAndContinue_IsValidEverywhere) {
  for (const char* environment : {"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"}) {
    TextModule module(FunctionText("() -> void", kLoop), TargetOf(environment));
    EXPECT_THAT(module.Text(), HasSubstr("OpLoopMerge"));
  }
}

TEST(Loop, ConditionWithControlFlow_IsValid) {
  TextModule module(FunctionText("(in $a : bool) -> void", R"(
    param in $a : bool
    exit $exit
    %1 = param $a : bool
    loop $exit {
      %2 = logical or %1 : bool {
        %3 = logical and %1 : bool {
          yield %1
        }
        yield %3
      }
      yield %2
    } {
    } {
    }
    return _)"));
  EXPECT_THAT(module.Text(), HasSubstr("OpPhi"));
}

TEST(Discard, EndsTheBlock_AsTheVersionAsks) {
  const std::string text = FunctionText("(in $a : bool) -> void", R"(
    param in $a : bool
    %1 = param $a : bool
    if %1 {
      discard
    }
    return _)");
  EXPECT_THAT(TextModule(text, TargetOf("vulkan1.2")).Text(), HasSubstr("OpKill\n"));
  EXPECT_THAT(TextModule(text, TargetOf("vulkan1.3")).Text(), HasSubstr("OpTerminateInvocation\n"));
}

TEST(Return, VoidBodyWithoutReturn_GetsOne) {
  TextModule module(FunctionText("() -> void", ""));
  EXPECT_THAT(module.Text(), HasSubstr("OpLabel\nOpReturn\nOpFunctionEnd"));
}

TEST(Return, CodeBehindIt_IsLeftOut) {
  TextModule module(FunctionText("(in $a : f1) -> f1", R"(
    param in $a : f1
    var $x : f1
    %1 = param $a : f1
    return %1
    %2 = local $x : f1
    store %2, %1)"));
  EXPECT_THAT(module.Text(), HasSubstr("OpReturnValue %10\nOpFunctionEnd"));
}

// --- regions ------------------------------------------------------------------------------------

constexpr std::string_view kRegions = R"(variant graphics_classic
container color_output @target { color : f4 }
entry fragment @main "main" {
  function @main() -> void {
    region r0 {
      var $x : f1
      exit $exit
      %1 = local $x : f1
      %2 = const f1 1.0
      store %1, %2
      insertion_point r1
      loop $exit {
        %3 = flag true : bool
        yield %3
      } {
        insertion_point r3
        break $exit
      } {
      }
      %4 = load %1 : f1
      %5 = splat %4 : f4
      %6 = global out @target.color : f4
      store %6, %5
      insertion_point r4
    }
    SEGMENTS
  }
}
)";
constexpr std::string_view kFirst = R"(region r1 {
      var $y : f1
      %1 = local $x : f1
      %2 = load %1 : f1
      %3 = local $y : f1
      store %3, %2
      insertion_point r2
    })";
constexpr std::string_view kSecond = R"(region r2 {
      %1 = local $y : f1
      %2 = load %1 : f1
      %3 = local $x : f1
      store %3, %2
    })";
constexpr std::string_view kThird = R"(region r3 {
      %1 = flag false : bool
      if %1 {
        break $exit
      }
      if %1 {
        continue $exit
      }
    })";

std::string WithRegions(std::initializer_list<std::string_view> regions) {
  std::string text(kRegions);
  std::string all;
  for (const std::string_view region : regions) {
    all += std::string(region) + "\n";
  }
  text.replace(text.find("SEGMENTS"), 8, all);
  return text;
}

TEST(Regions, LiveOnes_FillTheirInsertionPoints) {
  TextModule module(WithRegions({kFirst, kSecond}));
  EXPECT_EQ(module.Between("OpFunction ", "OpFunctionEnd"), R"(%11 = OpFunction %1 None %6
%12 = OpLabel
%13 = OpVariable %5 Function
%21 = OpVariable %5 Function
OpStore %13 %8
%22 = OpLoad %3 %13
OpStore %21 %22
%23 = OpLoad %3 %21
OpStore %13 %23
OpBranch %16
%16 = OpLabel
OpLoopMerge %14 %15 None
OpBranch %17
%17 = OpLabel
OpBranchConditional %7 %18 %14
%18 = OpLabel
OpBranch %14
%15 = OpLabel
OpBranch %16
%14 = OpLabel
%19 = OpLoad %3 %13
%20 = OpCompositeConstruct %4 %19 %19 %19 %19
OpStore %10 %20
OpReturn
OpFunctionEnd
)");
}

TEST(Regions, DeadOnes_LeaveNothing) {
  TextModule module(WithRegions({}));
  const std::string text = module.Text();
  EXPECT_THAT(text, Not(HasSubstr("\"y\"")));
  TextModule with_nested_only_dead(WithRegions({kFirst}));
  EXPECT_THAT(with_nested_only_dead.Text(), HasSubstr("\"y\""));
}

// Before SPIR-V 1.6 a demotion ends its path, which the walk that finds regions live does not know.
TEST(Regions, BehindADemotion_AreLeftOutWithWhatTheyHold) {
  const std::string_view text = R"(variant graphics_classic
entry fragment @main "main" {
  function @main() -> void {
    region r0 {
      %1 = flag true : bool
      if %1 {
        demote
        if %1 {
          insertion_point r1
        }
      }
      insertion_point r3
    }
    region r1 {
      var $left_out : f1
      insertion_point r2
    }
    region r2 {
      var $left_out_too : f1
    }
    region r3 {
      var $kept : f1
    }
  }
}
)";
  const std::string ended = TextModule(text).Text();
  EXPECT_THAT(ended, AllOf(HasSubstr("OpKill"), HasSubstr("\"kept\"")));
  EXPECT_THAT(ended, Not(HasSubstr("left_out")));
  const std::string goes_on = TextModule(text, TargetOf("vulkan1.3")).Text();
  EXPECT_THAT(goes_on, AllOf(HasSubstr("OpDemoteToHelperInvocation"), HasSubstr("\"left_out\""),
                             HasSubstr("\"left_out_too\""), HasSubstr("\"kept\"")));
}

// A block that must go on cannot end in a discard.
TEST(Loop, DemotionOnTheWayBack_IsOneInEveryEnvironment) {
  TextModule module(R"(variant graphics_classic
entry fragment @main "main" {
  function @main() -> void {
    region r0 {
      exit $exit
      %1 = flag true : bool
      loop $exit {
        yield %1
      } {
      } {
        demote
      }
    }
  }
}
)");
  EXPECT_THAT(module.Text(),
              AllOf(HasSubstr("SPV_EXT_demote_to_helper_invocation"),
                    HasSubstr("OpDemoteToHelperInvocation"), Not(HasSubstr("OpKill"))));
}

TEST(Regions, BreakOfAnEnclosingLoop_NamesItsLabels) {
  TextModule module(WithRegions({kThird}));
  EXPECT_EQ(module.Between("OpLoopMerge", "OpLoad"), R"(OpLoopMerge %15 %16 None
OpBranch %18
%18 = OpLabel
OpBranchConditional %7 %19 %15
%19 = OpLabel
OpSelectionMerge %23 None
OpBranchConditional %8 %22 %23
%22 = OpLabel
OpBranch %15
%23 = OpLabel
OpSelectionMerge %25 None
OpBranchConditional %8 %24 %25
%24 = OpLabel
OpBranch %16
%25 = OpLabel
OpBranch %15
%16 = OpLabel
OpBranch %17
%15 = OpLabel
%20 = OpLoad %3 %14
)");
}

TEST(Regions, AnyUnionOfLiveOnes_IsValid) {
  TextModule(WithRegions({kFirst, kSecond, kThird})).Words();
  TextModule(WithRegions({kFirst, kThird})).Words();
}

}  // namespace
}  // namespace kiln::spirv
