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
    const ir::TypeId f4 = pool.Vector(ir::Scalar::kF32, 4);
    output.decl = ir::DeclId{0};
    output.kind = ir::DeclKind::kContainer;
    output.flags = static_cast<uint16_t>(ir::ContainerKind::kColorOutput);
    output.name = pool.InternText("target");
    output.type = pool.void_type();
    output.members = {{.name = pool.InternText("color"), .type = f4, .member = ir::MemberId{0}}};
    signature.decl = ir::DeclId{1};
    signature.kind = ir::DeclKind::kFunction;
    signature.name = pool.InternText("main_fragment");
    signature.type = pool.void_type();

    const ir::ConstId half = pool.InternScalar(pool.Vector(ir::Scalar::kF32, 1), 0x3f000000u);
    const ir::InstId h = Add(ir::ConstInst{pool.Vector(ir::Scalar::kF32, 1), half}.To());
    const ir::InstId v = Add(ir::SplatInst{f4, h}.To());
    const ir::InstId sum = Add(ir::BinaryInst{f4, ir::BinaryOp::kAdd, v, v}.To());
    const ir::InstId place =
        Add(ir::GlobalRefInst{f4, ir::Direction::kOut, ir::DeclId{0}, ir::MemberId{0}}.To());
    Add(ir::StoreInst{pool.void_type(), place, sum}.To());
    region.id = ir::RegionId{0};
    region.function = ir::DeclId{1};
    region.blocks = {{0, static_cast<uint32_t>(region.insts.size())}};
    region.body = ir::BlockId{0};

    variant.pool = &pool;
    variant.interface = {&output};
    function = {.function = signature.decl, .signature = &signature};
    function.regions = {{.region = region.id, .specialised = &region}};
    ir::EntryRef entry{
        .stage = ir::Stage::kFragment, .function = signature.decl, .name = "main_fragment"};
    entry.functions = {&function};
    variant.entries = {entry};
  }

  ir::InstId Add(const ir::Inst& inst) {
    const ir::InstId id{static_cast<uint32_t>(region.insts.size())};
    region.insts.push_back(inst);
    region.block_insts.push_back(id.value);
    return id;
  }

  ir::Pool pool;
  ir::SpecialisedDecl output;
  ir::SpecialisedDecl signature;
  ir::SpecialisedRegion region;
  ir::FunctionRef function;
  ir::SpecialisedProgram variant;
};

TEST_F(Slice, Arithmetic_IsWrittenWithCanonicalIds) {
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  CodeObjectTable table(pool, target);
  Prepare(variant, table);
  const std::vector<uint32_t> words = Assemble(variant, {0}, CountingLayout(variant), table);
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
    CodeObjectTable table(pool, target);
    Prepare(variant, table);
    EXPECT_EQ(Validate(Assemble(variant, {0}, CountingLayout(variant), table), target), "") << text;
  }
}

}  // namespace
}  // namespace kiln::spirv
