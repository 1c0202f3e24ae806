// SPDX-License-Identifier: MIT
// The smallest variant, made by hand: arithmetic from a vertex input to a colour.
#include <gtest/gtest.h>

#include "compiler/emit/spirv/assemble.h"
#include "compiler/emit/spirv/lower.h"
#include "compiler/emit/spirv/module_checks.h"

namespace kiln::spirv {
namespace {

class Slice : public testing::Test {
 protected:
  Slice() {
    const ir::TypeId f4 = pool_.Vector(ir::Scalar::kF32, 4);
    target_.decl = ir::DeclId{0};
    target_.kind = ir::DeclKind::kContainer;
    target_.flags = static_cast<uint16_t>(ir::ContainerKind::kColorOutput);
    target_.name = pool_.InternText("target");
    target_.type = pool_.void_type();
    target_.members = {{.name = pool_.InternText("color"), .type = f4, .member = ir::MemberId{0}}};
    signature_.decl = ir::DeclId{1};
    signature_.kind = ir::DeclKind::kFunction;
    signature_.name = pool_.InternText("main_fragment");
    signature_.type = pool_.void_type();

    const ir::ConstId half = pool_.InternScalar(pool_.Vector(ir::Scalar::kF32, 1), 0x3f000000u);
    const ir::InstId h = Add(ir::ConstInst{pool_.Vector(ir::Scalar::kF32, 1), half}.To());
    const ir::InstId v = Add(ir::SplatInst{f4, h}.To());
    const ir::InstId sum = Add(ir::BinaryInst{f4, ir::BinaryOp::kAdd, v, v}.To());
    const ir::InstId place =
        Add(ir::GlobalRefInst{f4, ir::Direction::kOut, ir::DeclId{0}, ir::MemberId{0}}.To());
    Add(ir::StoreInst{pool_.void_type(), place, sum}.To());
    segment_.segment = ir::SegmentId{0};
    segment_.function = ir::DeclId{1};
    segment_.blocks = {{0, static_cast<uint32_t>(segment_.insts.size())}};
    segment_.body = ir::BlockId{0};

    variant_.pool = &pool_;
    variant_.interface = {&target_};
    function_ = {.function = signature_.decl, .signature = &signature_};
    function_.segments = {{.segment = segment_.segment, .closed = &segment_}};
    ir::EntryRef entry{
        .stage = ir::Stage::kFragment, .function = signature_.decl, .name = "main_fragment"};
    entry.functions = {&function_};
    variant_.entries = {entry};
  }

  ir::InstId Add(const ir::Inst& inst) {
    const ir::InstId id{static_cast<uint32_t>(segment_.insts.size())};
    segment_.insts.push_back(inst);
    segment_.block_insts.push_back(id.value);
    return id;
  }

  ir::Pool pool_;
  ir::ClosedDecl target_;
  ir::ClosedDecl signature_;
  ir::ClosedSegment segment_;
  ir::FunctionRef function_;
  ir::ClosedVariant variant_;
};

TEST_F(Slice, Arithmetic_IsWrittenWithCanonicalIds) {
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  PieceTable table(pool_, target);
  Prepare(variant_, table);
  const std::vector<uint32_t> words = Assemble(variant_, {0}, CountingLayout(variant_), table);
  EXPECT_EQ(Disassemble(words, target), R"(OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %9 "main_fragment" %8
OpExecutionMode %9 OriginUpperLeft
OpName %8 "target.color"
OpName %9 "main_fragment"
OpDecorate %8 Location 0
%1 = OpTypeVoid
%2 = OpTypeFloat 32
%3 = OpTypeVector %2 4
%4 = OpTypeFunction %1
%5 = OpConstant %2 0.5
%6 = OpTypePointer Output %3
%7 = OpConstantComposite %3 %5 %5 %5 %5
%8 = OpVariable %6 Output
%9 = OpFunction %1 None %4
%10 = OpLabel
%11 = OpFAdd %3 %7 %7
OpStore %8 %11
OpReturn
OpFunctionEnd
)");
}

TEST_F(Slice, EveryEnvironment_IsValid) {
  for (const char* text : {"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "vulkan1.4"}) {
    const target::Target target = target::MakeTarget(*target::ParseEnvironment(text));
    PieceTable table(pool_, target);
    Prepare(variant_, table);
    EXPECT_EQ(Validate(Assemble(variant_, {0}, CountingLayout(variant_), table), target), "")
        << text;
  }
}

}  // namespace
}  // namespace kiln::spirv
