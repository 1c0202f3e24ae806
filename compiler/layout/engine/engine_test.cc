// SPDX-License-Identifier: MIT
// Policy first_fit: what the sections of spec/layout say beyond its worked examples.
#include "compiler/layout/engine/engine.h"

#include <gtest/gtest.h>

#include "tests/support/program_writer.h"

namespace kiln::layout {
namespace {

constexpr auto kD3d12 = Platform::kD3d12;
constexpr auto kD3d11 = Platform::kD3d11;
constexpr auto kVulkan = Platform::kVulkan;
constexpr auto kWebgpu = Platform::kWebgpu;

class LayOutTest : public testing::Test {
 protected:
  ProgramWriter w_;
};

TEST_F(LayOutTest, EveryResource_HasTheClassOfItsTable) {
  w_.Add("t", "Texture2D");
  w_.Add("b", "ByteAddressBuffer");
  w_.Add("u", "RWTexture2D");
  w_.Add("a", "AppendStructuredBuffer");
  w_.Add("s", "SamplerComparisonState");
  w_.Add("c", "Sampler2D");
  w_.Add("i", "SubpassInput");
  EXPECT_EQ(w_.Places(kD3d11), "t t0; b t1; u u0; a u1; s s0; c t2 s1; i t3");
  EXPECT_EQ(w_.Places(kVulkan),
            "t set0.0; b set0.1; u set0.2; a set0.3; s set0.5; c set0.6; i set0.7");
}

TEST_F(LayOutTest, ElementBlock_HasStorageRules) {
  w_.Struct("S", {{"a", "f32"}, {"b", "vec2<f32>"}});
  w_.Add("s", "StructuredBuffer<S>");
  EXPECT_EQ(w_.Text(kVulkan),
            "kiln-layout 1\n"
            "target vulkan policy first_fit uniform std140 storage std430 push std430\n"
            "param s StructuredBuffer<S> unit u0\n"
            "  leaf s StructuredBuffer<S> set0.0\n"
            "  block std430 size 16 align 8\n"
            "    0 4 a f32\n"
            "    8 8 b vec2<f32>\n");
}

TEST_F(LayOutTest, ConstantBufferWithoutBytes_HasNoContainer) {
  w_.Struct("S", {{"t", "Texture2D"}, {"n", "f32[0]"}});
  w_.Add("c", "ConstantBuffer<S>");
  EXPECT_EQ(w_.Places(kD3d12), "c.t t0,space0");
}

TEST_F(LayOutTest, ArraysOfBuffers_MultiplyRegistersButNotSlots) {
  w_.Struct("S", {{"v", "f32"}, {"t", "Texture2D[2]"}});
  w_.Add("c", "ConstantBuffer<S>[3]");
  w_.Add("d", "ConstantBuffer<S>");
  EXPECT_EQ(w_.Places(kD3d12), "c b0[3],space0; c.t t0[6],space0; d b3,space0; d.t t6[2],space0");
  EXPECT_EQ(w_.Places(kVulkan), "c set0.0[3]; c.t set0.1[6]; d set0.2; d.t set0.3[2]");
  const ProgramLayout layout = w_.Run(kVulkan);
  EXPECT_EQ(layout.parameters[0].leaves[1].strides, (std::vector<uint64_t>{2, 1}));
}

TEST_F(LayOutTest, LooseGlobals_AreOneStructInOrder) {
  w_.Struct("L", {{"t", "Texture2D"}, {"x", "f32"}});
  w_.Add("a", "f32");
  w_.Add("b", "Texture2D");
  w_.Add("c", "L");
  EXPECT_EQ(w_.Text(kVulkan),
            "kiln-layout 1\n"
            "target vulkan policy first_fit uniform std140 storage std430 push std430\n"
            "globals set0.0\n"
            "  block std140 size 32 align 16\n"
            "    0 4 a f32\n"
            "    16 16 c L\n"
            "    16 4 c.x f32\n"
            "param a f32 unit u0\n"
            "param b Texture2D unit u0\n"
            "  leaf b Texture2D set0.1\n"
            "param c L unit u0\n"
            "  leaf c.t Texture2D set0.2\n");
}

TEST_F(LayOutTest, RegisterC_IsAnOffsetInTheImplicitBuffer) {
  w_.Add("a", "f32").registers = {{.text = "c2"}};
  w_.Add("b", "f32");
  const ProgramLayout layout = w_.Run(kD3d11);
  ASSERT_TRUE(layout.globals);
  EXPECT_EQ(w_.bytes().Of(layout.globals->content, Rules::kD3dCbuffer).offsets,
            (std::vector<uint64_t>{32, 36}));
}

TEST_F(LayOutTest, GlobalsBinding_IsHonoured) {
  w_.settings().globals_binding = {.index = 3, .space = 1};
  w_.Add("a", "f32");
  w_.Add("t", "Texture2D");
  EXPECT_EQ(w_.Places(kVulkan), "<globals> set1.3; t set0.0");
}

TEST_F(LayOutTest, HomeSpace_IsWrittenWithoutANumber) {
  w_.Add("a", "Texture2D").registers = {{.space = 2}};
  w_.Add("b", "Texture2D").registers = {{.text = "t0", .space = 2}};
  w_.Add("c", "Texture2D");
  EXPECT_EQ(w_.Places(kD3d12), "a t1,space2; b t0,space2; c t0,space0");
}

TEST_F(LayOutTest, DefaultSpace_GivesWayToAParameterBlockAtZero) {
  w_.Struct("S", {{"t", "Texture2D"}});
  w_.Add("p", "ParameterBlock<S>").slot = {.space = 0};
  w_.Add("t", "Texture2D");
  EXPECT_EQ(w_.Places(kVulkan), "p set0; p.t set0.0; t set1.0");
}

TEST_F(LayOutTest, BlockOfBlocks_TakesNoSpaceItself) {
  w_.Struct("I", {{"t", "Texture2D"}});
  w_.Struct("O", {{"i", "ParameterBlock<I>"}, {"j", "ParameterBlock<I>"}});
  w_.Add("o", "ParameterBlock<O>");
  EXPECT_EQ(w_.Places(kVulkan), "o set0..1; o.i.t set0.0; o.j.t set1.0");
}

TEST_F(LayOutTest, ArrayOfBlocks_TakesASpaceForEach) {
  w_.Struct("I", {{"t", "Texture2D[2]"}, {"f", "f32"}});
  w_.Add("a", "ParameterBlock<I>[3]");
  w_.Add("b", "ParameterBlock<I>");
  EXPECT_EQ(w_.Places(kD3d12),
            "a space0..2; a{data} b0,space0; a.t t0[2],space0; "
            "b space3; b{data} b0,space3; b.t t0[2],space3");
}

TEST_F(LayOutTest, TargetWithoutSpaces_SeesBlocksAsConstantBuffers) {
  w_.Struct("I", {{"f", "f32"}, {"t", "Texture2D"}});
  w_.Add("p", "ParameterBlock<I>");
  w_.Add("t", "Texture2D");
  EXPECT_EQ(w_.Places(kD3d11), "p b0; p.t t0; t t1");
}

TEST_F(LayOutTest, UnboundedArray_BoundByTheAuthor_ClaimsTheRestOfItsClass) {
  w_.Add("a", "Texture2D[]").registers = {{.text = "t4", .space = 1}};
  w_.Add("b", "Texture2D[]");
  w_.Add("c", "Texture2D").registers = {{.space = 1}};
  EXPECT_EQ(w_.Places(kD3d12), "a t4[unbounded],space1; b t0[unbounded],space0; c t0,space1");
}

TEST_F(LayOutTest, UnboundedStruct_TakesASpacePerLeaf) {
  w_.Struct("P", {{"t", "Texture2D"}, {"s", "SamplerState"}});
  w_.Add("a", "P[]");
  w_.Add("t", "Texture2D");
  EXPECT_EQ(w_.Places(kD3d12), "a.t t0[unbounded],space1; a.s s0[unbounded],space2; t t0,space0");
}

TEST_F(LayOutTest, AppendBuffer_ClaimsItsSlotAndTheNext_UnlessTheCounterIsApart) {
  w_.Add("a", "AppendStructuredBuffer").slot = {.index = 2};
  w_.Add("b", "ConsumeStructuredBuffer").slot = {.index = 5, .counter = 9};
  w_.Add("c", "Texture2D[2]");
  w_.Add("d", "AppendStructuredBuffer");
  EXPECT_EQ(w_.Places(kVulkan), "a set0.2; b set0.5 set0.9; c set0.0[2]; d set0.6");
}

TEST_F(LayOutTest, CombinedSampler_OnWebgpu_TakesTwoSlotsOrAReservedOne) {
  w_.Add("a", "Sampler2D");
  w_.Add("b", "Sampler2D").slot = {.index = 7};
  w_.Add("c", "Texture2D");
  EXPECT_EQ(w_.Places(kWebgpu), "a group0.0; b group0.7 group0.512; c group0.2");
}

TEST_F(LayOutTest, SplitArrays_OnWebgpu_TakeReservedBindingsInGlobalOrder) {
  w_.settings().webgpu_arrays = WebgpuArrays::kSplit;
  w_.Add("a", "Texture2D[3]");
  w_.Add("b", "SamplerState[2]");
  w_.Add("c", "Texture2D[2]").slot = {.index = 4, .space = 1};
  EXPECT_EQ(w_.Places(kWebgpu),
            "a group0.0 group0.512 group0.513; b group0.1 group0.514; c group1.4 group1.512");
}

TEST_F(LayOutTest, GroupsOfSets_AreMapped) {
  w_.settings().group_of_set = {0, 1, 2, 3, 3};
  w_.Add("a", "Texture2D").slot = {.index = 0, .space = 4};
  EXPECT_EQ(w_.Places(kWebgpu), "a group3.0");
}

TEST_F(LayOutTest, PushConstants_AreWhatTheTargetHas) {
  w_.Struct("D", {{"m", "vec4<f32>"}});
  w_.Add("d", "ConstantBuffer<D>").role = Role::kPush;
  w_.Add("t", "Texture2D");
  EXPECT_EQ(w_.Places(kVulkan), "d push; t set0.0");
  EXPECT_EQ(w_.Places(kD3d12), "d b0,space0; t t0,space0");
  EXPECT_EQ(w_.Places(kWebgpu), "d group3.999; t group0.0");
  w_.settings().webgpu_push = WebgpuPush::kImmediate;
  EXPECT_EQ(w_.Places(kWebgpu), "d push; t group0.0");
}

TEST_F(LayOutTest, Specialisations_TakeTheLowestFreeIds) {
  w_.Add("a", "u32").role = Role::kSpecialization;
  Parameter& b = w_.Add("b", "u32");
  b.role = Role::kSpecialization;
  b.spec_id = 0;
  w_.Add("c", "u32").role = Role::kSpecialization;
  EXPECT_EQ(w_.Places(kVulkan), "a spec 1; b spec 0; c spec 2");
  EXPECT_EQ(w_.Places(kD3d12), "");
}

TEST_F(LayOutTest, EntryUniforms_AreAPushConstantOrABuffer) {
  EntryPoint& entry = w_.Entry("shade", "fragment");
  entry.parameters = {{.uniform = Parameter{.name = "x", .type = w_.Type("f32")}},
                      {.uniform = Parameter{.name = "t", .type = w_.Type("Texture2D")}},
                      {.uniform = Parameter{.name = "y", .type = w_.Type("vec4<f32>")}}};
  w_.Add("g", "Texture2D");
  EXPECT_EQ(w_.Places(kVulkan), "g set0.0; <shade> push; t set0.1");
  EXPECT_EQ(w_.Places(kD3d12), "g t0,space0; <shade> b0,space0; t t1,space0");
  w_.Struct("D", {{"m", "vec4<f32>"}});
  w_.Add("d", "ConstantBuffer<D>").role = Role::kPush;
  w_.program().units[0].entry_points[0].pushes.emplace();
  EXPECT_EQ(w_.Places(kVulkan), "g set0.0; d push; <shade> set0.1; t set0.2");
}

TEST_F(LayOutTest, VulkanRegisters_AreIgnoredOrSlots) {
  w_.Add("t", "Texture2D").registers = {{.text = "t3"}};
  w_.Add("s", "SamplerState").registers = {{.text = "s1", .space = 1}};
  EXPECT_EQ(w_.Places(kVulkan), "t set0.0; s set0.1");
  w_.settings().vulkan_registers = VulkanRegisters::kDirect;
  EXPECT_EQ(w_.Places(kVulkan), "t set0.3; s set1.1");
  w_.settings().vulkan_registers = VulkanRegisters::kClasses;
  EXPECT_EQ(w_.Places(kVulkan), "t set0.131; s set1.257");
}

TEST_F(LayOutTest, ShiftedClasses_AreNumberedApart_CountingAnArrayAsOne) {
  w_.settings().vulkan_registers = VulkanRegisters::kShift;
  w_.settings().shifts = {{.register_class = Kind::kB, .shift = 100},
                          {.register_class = Kind::kT, .shift = 200},
                          {.register_class = Kind::kT, .space = 1, .shift = 300}};
  w_.Add("f", "f32");
  w_.Add("a", "Texture2D[4]");
  w_.Add("b", "Texture2D");
  w_.Add("c", "Texture2D").registers = {{.text = "t5", .space = 1}};
  w_.Add("s", "SamplerState");
  EXPECT_EQ(w_.Places(kVulkan),
            "<globals> set0.100; a set0.200[4]; b set0.201; c set1.305; s set0.0");
}

TEST_F(LayOutTest, ShiftedClasses_AreNumberedApartInsideParameterBlocks) {
  w_.settings().vulkan_registers = VulkanRegisters::kShift;
  w_.settings().shifts = {{.register_class = Kind::kB, .shift = 100},
                          {.register_class = Kind::kT, .shift = 200},
                          {.register_class = Kind::kT, .space = 2, .shift = 300}};
  w_.Struct("I", {{"f", "f32"},
                  {"a", "Texture2D[4]"},
                  {"s", "SamplerState"},
                  {"b", "Texture2D"},
                  {"u", "RWTexture2D"}});
  w_.Struct("O", {{"t", "Texture2D"}, {"i", "ParameterBlock<I>"}});
  w_.Add("g", "Texture2D");
  w_.Add("o", "ParameterBlock<O>");
  EXPECT_EQ(w_.Places(kVulkan),
            "g set0.200; o set1..2; o.t set1.200; o.i{data} set2.100; o.i.a set2.300[4]; "
            "o.i.s set2.0; o.i.b set2.301; o.i.u set2.1");
}

TEST_F(LayOutTest, ShiftsOfTheDefaultSpace_HoldWhereverItIs) {
  w_.settings().vulkan_registers = VulkanRegisters::kShift;
  w_.settings().shifts = {{.register_class = Kind::kT, .space = 1, .shift = 20},
                          {.register_class = Kind::kB, .space = 1, .shift = 40}};
  w_.Struct("I", {{"t", "Texture2D"}});
  w_.Add("p", "ParameterBlock<I>").registers = {{.space = 0}};
  w_.Add("t", "Texture2D");
  w_.Add("s", "SamplerState");
  w_.Add("f", "f32");
  EXPECT_EQ(w_.Places(kVulkan), "<globals> set1.40; p set0; p.t set0.0; t set1.20; s set1.0");
}

TEST_F(LayOutTest, WrittenSlots_AreNotShifted) {
  w_.settings().vulkan_registers = VulkanRegisters::kShift;
  w_.settings().shifts = {{.register_class = Kind::kT, .shift = 20}};
  w_.Add("a", "Texture2D").slot = {.index = 3};
  w_.Add("b", "Texture2D");
  EXPECT_EQ(w_.Places(kVulkan), "a set0.3; b set0.20");
}

TEST_F(LayOutTest, RowMajorIsASetting_ForFieldsWithoutTheirOwn) {
  w_.Struct("S", {{"m", "mat_r2c3<f32>"}});
  ByteLayouts rows(w_.types(), MatrixOrder::kRow);
  EXPECT_EQ(rows.Of(w_.Type("S"), Rules::kStd430).size, 32u);
  EXPECT_EQ(w_.bytes().Of(w_.Type("S"), Rules::kStd430).size, 24u);
}

TEST_F(LayOutTest, AbsentParameters_KeepTheirNumbers) {
  w_.settings().pack_variants = PackVariants::kUnion;
  w_.Add("a", "Texture2D").absent = true;
  w_.Add("b", "Texture2D");
  EXPECT_EQ(w_.Text(kVulkan),
            "kiln-layout 1\n"
            "target vulkan policy first_fit uniform std140 storage std430 push std430\n"
            "param a Texture2D unit u0 absent\n"
            "  leaf a Texture2D set0.0\n"
            "param b Texture2D unit u0\n"
            "  leaf b Texture2D set0.1\n");
}

TEST_F(LayOutTest, Webgpu_ShowsColumnsAndTransposedFields) {
  w_.StructOf("S", {{.name = "m", .type = w_.Type("mat_r2c2<f32>")},
                    {.name = "r", .type = w_.Type("mat_r4c4<f32>"), .order = MatrixOrder::kRow}});
  w_.Add("s", "ConstantBuffer<S>");
  EXPECT_EQ(w_.Text(kWebgpu),
            "kiln-layout 1\n"
            "target webgpu policy first_fit uniform std140 storage std430 push std140\n"
            "param s ConstantBuffer<S> unit u0\n"
            "  leaf s ConstantBuffer<S> group0.0\n"
            "  block std140 size 96 align 16\n"
            "    0 32 m mat_r2c2<f32> matrix 16 col columns\n"
            "    32 64 r mat_r4c4<f32> matrix 16 row transposed\n");
}

}  // namespace
}  // namespace kiln::layout
