// SPDX-License-Identifier: MIT
// Modules as wholes: head, interface, variables, one module or several, and that nothing but the
// variant decides their bytes.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/spirv/lower_decl.h"
#include "compiler/emit/spirv/text_module.h"

namespace kiln::spirv {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTwoStages = R"(variant graphics_classic
container vertex_attributes @vertex {
  position : f3 pack(float32)
  matrix : f4x4 pack(float32)
}
container state @state {
  uv : f2
  layer : u1
  unwritten : f1
}
container color_output @target {
  color : f4
}
buffer uniform pass @frame {
  clip_from_world : f4x4
}
buffer read_only_storage shared @bones {
  items : f4x4...
}
sampler pass @linear
image read_only pass @albedo : image_color_2d
entry vertex @main_v "main_v" {
  function @main_v() -> void {
    region r0 {
      %1 = global in @vertex.position : f3
      %2 = load %1 : f3
      %3 = const f1 1.0
      %4 = construct [%2, %3] : f4
      %5 = const u1 0
      %6 = global none @frame : frame
      %7 = access %6 [%5] : f4x4
      %8 = load %7 : f4x4
      %9 = binary mul %8, %4 : f4
      %10 = global none @bones : bones
      %11 = access %10 [%5, %5] : f4x4
      %12 = load %11 : f4x4
      %13 = binary mul %12, %9 : f4
      %14 = stage position : f4
      store %14, %13
      %15 = call @tint [%3] : f1
      %16 = construct [%15, %15] : f2
      %17 = global out @state.uv : f2
      store %17, %16
      %18 = global out @state.layer : u1
      store %18, %5
      return _
    }
  }
  function @tint(in $x : f1) -> f1 {
    region r0 {
      param in $x : f1
      %1 = param $x : f1
      %2 = builtin sin [%1] : f1
      return %2
    }
  }
  function @look(in $uv : f2) -> f4 in vertex {
    region r0 {
      param in $uv : f2
      %1 = global none @linear : sampler
      %2 = global none @albedo : image_color_2d
      %3 = param $uv : f2
      %4 = const f1 0.0
      %5 = builtin sample_lod [%1, %2, %3, %4] : f4
      return %5
    }
  }
}
entry fragment @main_f "main_f" {
  function @main_f() -> void {
    region r0 {
      %1 = global in @state.uv : f2
      %2 = load %1 : f2
      %3 = global in @state.layer : u1
      %4 = load %3 : u1
      %5 = global in @state.unwritten : f1
      %6 = load %5 : f1
      %7 = call @tint [%6] : f1
      %8 = call @look#2 [%2] : f4
      %9 = binary mul %8, %7 : f4
      %10 = global out @target.color : f4
      store %10, %9
      %11 = stage frag_depth : f1
      store %11, %7
      return _
    }
  }
  function @tint(in $x : f1) -> f1 {
    region r0 {
      param in $x : f1
      %1 = param $x : f1
      %2 = builtin sin [%1] : f1
      return %2
    }
  }
  function @look#2(in $uv : f2) -> f4 in fragment {
    region r0 {
      param in $uv : f2
      %1 = global none @linear : sampler
      %2 = global none @albedo : image_color_2d
      %3 = param $uv : f2
      %4 = builtin sample [%1, %2, %3] : f4
      return %4
    }
  }
}
)";

// --- heads ---------------------------------------------------------------------------------------

TEST(Module, VertexStage_IsTheWholeText) {
  TextModule module(kTwoStages);
  EXPECT_EQ(module.Text({0}), R"(OpCapability Shader
%1 = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %41 "main_v" %32 %33 %34 %35 %36
OpName %26 "frame"
OpMemberName %26 0 "clip_from_world"
OpName %29 "bones"
OpMemberName %29 0 "items"
OpName %32 "position"
OpName %33 "vertex.position"
OpName %34 "state.uv"
OpName %35 "state.layer"
OpName %36 "state.unwritten"
OpName %37 "frame"
OpName %38 "bones"
OpName %39 "linear"
OpName %40 "albedo"
OpName %41 "main_v"
OpName %53 "tint"
OpName %55 "x"
OpName %57 "look"
OpName %59 "uv"
OpDecorate %25 ArrayStride 64
OpDecorate %26 Block
OpMemberDecorate %26 0 Offset 0
OpMemberDecorate %26 0 ColMajor
OpMemberDecorate %26 0 MatrixStride 16
OpDecorate %29 Block
OpMemberDecorate %29 0 Offset 0
OpMemberDecorate %29 0 ColMajor
OpMemberDecorate %29 0 MatrixStride 16
OpMemberDecorate %29 0 NonWritable
OpDecorate %32 BuiltIn Position
OpDecorate %33 Location 0
OpDecorate %34 Location 0
OpDecorate %35 Location 1
OpDecorate %36 Location 2
OpDecorate %37 DescriptorSet 0
OpDecorate %37 Binding 0
OpDecorate %38 DescriptorSet 3
OpDecorate %38 Binding 0
OpDecorate %38 NonWritable
OpDecorate %39 DescriptorSet 0
OpDecorate %39 Binding 1
OpDecorate %40 DescriptorSet 0
OpDecorate %40 Binding 2
%2 = OpTypeVoid
%3 = OpTypeInt 32 0
%4 = OpTypeFloat 32
%5 = OpTypeSampler
%6 = OpTypeVector %4 2
%7 = OpTypeVector %4 3
%8 = OpTypeVector %4 4
%9 = OpTypeImage %4 2D 0 0 0 1 Unknown
%10 = OpTypePointer UniformConstant %5
%11 = OpTypePointer Output %3
%12 = OpTypePointer Output %4
%13 = OpTypeFunction %2
%14 = OpTypeFunction %4 %4
%15 = OpConstant %3 0
%16 = OpConstant %4 0
%17 = OpConstant %4 1
%18 = OpTypeMatrix %8 4
%19 = OpTypeSampledImage %9
%20 = OpTypePointer UniformConstant %9
%21 = OpTypePointer Input %7
%22 = OpTypePointer Output %6
%23 = OpTypePointer Output %8
%24 = OpTypeFunction %8 %6
%25 = OpTypeRuntimeArray %18
%26 = OpTypeStruct %18
%27 = OpTypePointer Uniform %18
%28 = OpTypePointer StorageBuffer %18
%29 = OpTypeStruct %25
%30 = OpTypePointer Uniform %26
%31 = OpTypePointer StorageBuffer %29
%32 = OpVariable %23 Output
%33 = OpVariable %21 Input
%34 = OpVariable %22 Output
%35 = OpVariable %11 Output
%36 = OpVariable %12 Output
%37 = OpVariable %30 Uniform
%38 = OpVariable %31 StorageBuffer
%39 = OpVariable %10 UniformConstant
%40 = OpVariable %20 UniformConstant
%41 = OpFunction %2 None %13
%42 = OpLabel
%43 = OpLoad %7 %33
%44 = OpCompositeConstruct %8 %43 %17
%45 = OpInBoundsAccessChain %27 %37 %15
%46 = OpLoad %18 %45
%47 = OpMatrixTimesVector %8 %46 %44
%48 = OpInBoundsAccessChain %28 %38 %15 %15
%49 = OpLoad %18 %48
%50 = OpMatrixTimesVector %8 %49 %47
OpStore %32 %50
%51 = OpFunctionCall %4 %53 %17
%52 = OpCompositeConstruct %6 %51 %51
OpStore %34 %52
OpStore %35 %15
OpReturn
OpFunctionEnd
%53 = OpFunction %4 None %14
%55 = OpFunctionParameter %4
%54 = OpLabel
%56 = OpExtInst %4 %1 Sin %55
OpReturnValue %56
OpFunctionEnd
%57 = OpFunction %8 None %24
%59 = OpFunctionParameter %6
%58 = OpLabel
%60 = OpLoad %5 %39
%61 = OpLoad %9 %40
%62 = OpSampledImage %19 %61 %60
%63 = OpImageSampleExplicitLod %8 %62 %59 Lod %16
OpReturnValue %63
OpFunctionEnd
)");
}

TEST(Module, EveryEnvironment_IsValidApartAndCombined) {
  for (const char* environment :
       {"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "vulkan1.4"}) {
    TextModule module(kTwoStages, TargetOf(environment));
    module.Words({0});
    module.Words({1});
    module.Words(kCombined);
  }
}

TEST(Module, StorageBuffer_NeedsItsExtensionIn10) {
  EXPECT_THAT(TextModule(kTwoStages, TargetOf("vulkan1.0")).Text(),
              HasSubstr("OpExtension \"SPV_KHR_storage_buffer_storage_class\""));
  EXPECT_THAT(TextModule(kTwoStages, TargetOf("vulkan1.1")).Text(), Not(HasSubstr("OpExtension")));
}

TEST(Module, Interface_HoldsEveryVariableFrom14) {
  const auto operands = [](const char* environment) {
    const std::string line =
        TextModule(kTwoStages, TargetOf(environment)).Between("OpEntryPoint", "\n", {1});
    return std::ranges::count(line, '%');
  };
  EXPECT_EQ(operands("vulkan1.1"), 1 + 5);      // function; frag_depth, three inputs, colour
  EXPECT_EQ(operands("vulkan1.2"), 1 + 5 + 2);  // and sampler, image
}

TEST(Module, FragmentModes_FollowWhatIsWritten) {
  TextModule module(kTwoStages);
  EXPECT_THAT(module.Text({1}), HasSubstr(" OriginUpperLeft\n"));
  EXPECT_THAT(module.Text({1}), HasSubstr(" DepthReplacing\n"));
  EXPECT_THAT(module.Text({0}), Not(HasSubstr("OpExecutionMode")));
}

TEST(Module, ComputeStage_HasItsLocalSize) {
  TextModule module(R"(variant compute
setting "workgroup_size_x" = uint 8
setting "workgroup_size_y" = uint 4
entry compute @main "main" {
  function @main() -> void { region r0 {
    %1 = stage global_id : u3
    %2 = load %1 : u3
    return _
  } }
}
)");
  EXPECT_THAT(module.Text(), HasSubstr(" LocalSize 8 4 1\n"));
  EXPECT_THAT(module.Text(), HasSubstr(" BuiltIn GlobalInvocationId\n"));
}

TEST(Module, DebugNone_WritesNoNames) {
  target::Target target = TargetOf("vulkan1.1");
  target.debug = target::Debug::kNone;
  EXPECT_THAT(TextModule(kTwoStages, target).Text(), Not(HasSubstr("OpName")));
}

class FixedLines final : public SourceLines {
 public:
  std::string_view FileOf(uint32_t /*module*/, uint32_t /*file*/) const override {
    return "a/sand.rpl";
  }
  Position At(uint32_t /*module*/, ir::SpanId span) const override { return {0, span.value, 7}; }
};

TEST(Module, DebugFull_AddsLinesAndNothingElse) {
  constexpr std::string_view kText = R"(variant graphics_classic
container color_output @target {
  color : f4
}
entry fragment @main "main" {
  function @main() -> void { region r0 {
    %1 = const f4 {1.0, 2.0, 3.0, 4.0}
    %2 = global out @target.color : f4
    store %2, %1
    return _
  } }
}
)";
  Result<ir::ParsedVariant> parsed = ir::ParseVariant(kText);
  ASSERT_TRUE(parsed.ok());
  ir::SpecialisedRegion& region = *parsed->regions[0];
  region.spans = {ir::SpanId{11}, ir::SpanId{11}, ir::SpanId{12}, ir::SpanId{13}};
  target::Target target = TargetOf("vulkan1.1");
  target.debug = target::Debug::kFull;
  const FixedLines lines;
  CodeObjectTable table(*parsed->pool, target);
  table.UseSources(&lines);
  Prepare(parsed->variant, table);
  const auto words = Assemble(parsed->variant, {0}, CountingLayout(parsed->variant), table);
  EXPECT_EQ(Validate(words, target), "");
  const std::string text = Disassemble(words, target);
  EXPECT_THAT(text, HasSubstr("%1 = OpString \"a/sand.rpl\"\nOpSource Unknown 0 %1\nOpName "));
  EXPECT_THAT(text, HasSubstr("OpLine %1 12 7\nOpStore"));
  EXPECT_THAT(text, HasSubstr("OpLine %1 13 7\nOpReturn\n"));
}

// --- variables -----------------------------------------------------------------------------------

TEST(Variables, FieldReadButNeverWritten_IsDeclaredByTheVertexStage) {
  TextModule module(kTwoStages);
  EXPECT_THAT(module.Text({0}), HasSubstr("\"state.unwritten\""));
}

TEST(Variables, IntegerFragmentInput_IsFlatAndVertexOutputIsNot) {
  TextModule module(kTwoStages);
  EXPECT_THAT(module.Text({1}), HasSubstr(" Flat\n"));
  EXPECT_THAT(module.Text({0}), Not(HasSubstr(" Flat\n")));
}

TEST(Variables, WhatNobodyMentions_IsAbsent) {
  TextModule module(kTwoStages);
  EXPECT_THAT(module.Text({0}), Not(HasSubstr("\"vertex.matrix\"")));
  EXPECT_THAT(module.Text({1}), Not(HasSubstr("\"frame\"")));
}

TEST(Variables, Layout_FillsTheSlotsAndNothingElse) {
  TextModule module(kTwoStages);
  layout::Layout layout = CountingLayout(module.variant());
  const std::vector<uint32_t> before = Assemble(module.variant(), {0}, layout, module.table());
  for (layout::Placement& placement : layout.placements) {
    placement.binding += 7;
  }
  const std::vector<uint32_t> after = Assemble(module.variant(), {0}, layout, module.table());
  ASSERT_EQ(before.size(), after.size());
  size_t changed = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    changed += before[i] != after[i] ? 1 : 0;
  }
  EXPECT_EQ(changed, 4u);  // frame, bones, sampler, image
}

// --- one module or several -----------------------------------------------------------------------

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Combined, FunctionOfBothStages_IsWrittenOnce) {
  TextModule module(kTwoStages);
  const std::string text = module.Text(kCombined);
  EXPECT_EQ(Count(text, "OpEntryPoint"), 2u);
  EXPECT_EQ(Count(text, "OpFunction "), 5u);  // two entries, tint, two looks
}

TEST(Combined, StageSensitiveFunction_HasAVersionPerStage) {
  const std::string text = TextModule(kTwoStages).Text(kCombined);
  EXPECT_THAT(text, HasSubstr("OpImageSampleExplicitLod"));
  EXPECT_THAT(text, HasSubstr("OpImageSampleImplicitLod"));
}

// --- canonical bytes -----------------------------------------------------------------------------

// Lowers everything of the variant in an order of its own.
void PrepareInReverse(const ir::SpecialisedProgram& variant, CodeObjectTable& table) {
  std::vector<const ir::SpecialisedDecl*> decls(variant.interface.rbegin(),
                                                variant.interface.rend());
  for (const ir::SpecialisedDecl* decl : decls) {
    LowerDecl(*decl, table);
  }
  for (size_t e = variant.entries.size(); e-- > 0;) {
    const auto& functions = variant.entries[e].functions;
    for (size_t f = functions.size(); f-- > 0;) {
      for (size_t s = functions[f]->regions.size(); s-- > 0;) {
        const ir::SpecialisedRegion& region = *functions[f]->regions[s].specialised;
        table.Bind(region, Lower(region, table.target(), table));
      }
      LowerDecl(*functions[f]->signature, table);
    }
  }
}

TEST(CanonicalIds, AnyOrderOfLowering_GivesTheSameBytes) {
  TextModule module(kTwoStages);
  CodeObjectTable other(*module.variant().pool, module.table().target());
  PrepareInReverse(module.variant(), other);
  const layout::Layout layout = CountingLayout(module.variant());
  for (const EntryChoice choice : {EntryChoice{0}, EntryChoice{1}, kCombined}) {
    EXPECT_EQ(Assemble(module.variant(), choice, layout, other), module.Words(choice));
  }
}

TEST(CanonicalIds, WarmAssemblerAfterOtherModules_GivesTheSameBytes) {
  TextModule module(kTwoStages);
  const layout::Layout layout = CountingLayout(module.variant());
  Assembler assembler(module.table());
  for (int round = 0; round < 2; ++round) {
    for (const EntryChoice choice : {kCombined, EntryChoice{1}, EntryChoice{0}}) {
      const std::span<const uint32_t> words = assembler.Assemble(module.variant(), choice, layout);
      EXPECT_EQ(std::vector<uint32_t>(words.begin(), words.end()), module.Words(choice));
    }
  }
}

TEST(CanonicalIds, NegativeZero_IsAConstantOfItsOwn) {
  TextModule module(FunctionText("() -> f1", R"(
    %1 = const f1 0.0
    %2 = const f1 -0.0
    %3 = binary add %1, %2 : f1
    return %3)"));
  EXPECT_EQ(Count(module.Text(), "= OpConstant "), 2u);
}

}  // namespace
}  // namespace kiln::spirv
