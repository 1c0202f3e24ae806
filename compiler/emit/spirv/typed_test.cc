// SPDX-License-Identifier: MIT
// What typed modules have beyond RPL, as SPIR-V: the instruction of each, and what it needs. Every
// module here obeys the rules of the IR and passes the validator.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/spirv/text_module.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::spirv {
namespace {

using testing::HasSubstr;
using testing::Not;

// A fragment stage whose entry point has `statements` behind some resources and values.
std::string FragmentText(std::string_view statements) {
  return R"(variant graphics_classic
struct light_t {
  position : f3
  power : f1
}
struct pair_t {
  a : f2
  b : s2
}
struct texel_t {
  state : u1
  texel : f4
}
buffer read_write_storage pass @memory {
  word : u1
  real : f1
  signed : s1
  wide : w1
  items : u1...
}
buffer uniform pass @frames : light_t[4]
buffer uniform pass @rows {
  a : f4x3 row_major
  b : s3x2
  c : f1 offset 160
}
sampler material @linear
sampler material @samplers : sampler[3]
image read_only material @albedo : image_color_2d
image read_only material @maps : image_color_2d[4]
image read_only material @shadow : image_depth_2d
image read_only material @cubes : image_color_cube_array
image read_only material @many : image(2d ms) f1
image read_only material @line : image(1d) f1
image read_only material @words : image(buffer) u1
image read_only material @both : sampled image_color_2d
image read_write material @counts : storage_image_2d<r32_uint>
image read_write material @colors : storage_image_2d<rgba8_unorm>
image read_write material @small : storage_image_2d<rg8_unorm>
image write_only material @any : image(2d storage unknown) f1
private @seed : u1 = u1 7
private @state : f4
entry fragment @main "main" {
  io in "uv" : f2 location(0)
  io in "layer" : u1 location(1) interpolation(flat)
  io in "place" : f4 builtin("FragCoord")
  io out "color" : f4 location(0)
  function @main() -> void {
    region r0 {
      var $v : f4
      var $m : s3x3
      exit $exit
      leave $leave
      %1 = io 0 : f2
      %5 = load %1 : f2
      %2 = io 1 : u1
      %6 = load %2 : u1
      %3 = local $v : f4
      %7 = load %3 : f4
      %10 = global none @linear : sampler
      %11 = global none @albedo : image_color_2d
      %12 = global none @memory : memory
      %13 = const u1 0
      %14 = access %12 [%13] : u1
      %15 = load %14 : u1
      %16 = const s2 {1, -1}
      %17 = const u1 1
      %18 = const u1 2
      %19 = const u1 3
      %20 = access %12 [%17] : f1
      %21 = load %20 : f1
      %22 = access %12 [%18] : s1
      %23 = load %22 : s1
      %24 = access %12 [%19] : w1
      %25 = load %24 : w1
      %26 = flag true : bool
      %27 = construct [%6, %15] : u2
      %28 = const s2[4] {{1, 0}, {0, 1}, {1, 1}, {0, 0}}
)" + std::string(statements) +
         "    }\n  }\n}\n";
}

struct Row {
  std::string_view statements;
  std::string_view expected;  // in the disassembly
  std::string_view environment = "vulkan1.1";
};

constexpr Row kRows[] = {
    {"switch %15 $leave { case u1 0, u1 7 { } case u1 2 through { } default { break $leave } }\n",
     "OpSwitch"},
    {"switch %15 $leave dont_flatten { case u1 1 { } }\n", "OpSelectionMerge %"},
    {"switch %25 $leave { case w1 4294967296 { } }\n", " 4294967296 %"},
    {"if %26 flatten { }\n", "Flatten"},
    {"if %26 dont_flatten { } { }\n", "DontFlatten"},
    {"loop $exit unroll(4) { } { break $exit } { }\n", "Unroll"},
    {"loop $exit dont_unroll { } { } { yield %26 }\n", "DontUnroll"},
    {"demote\n", "OpDemoteToHelperInvocation", "vulkan1.3"},
    {"if %26 { demote }\n", "OpKill"},
    {"if %26 { unreachable }\n", "OpUnreachable"},
    {"%30 = bitcast %21 : u1\n", "OpBitcast"},
    {"%30 = bitcast %25 : u2\n", "OpBitcast"},
    {"%30 = insert %7, %21 [2] : f4\n", "OpCompositeInsert"},
    {"%30 = binary rem %23, %23 : s1\n", "OpSRem"},
    {"%30 = binary rem %21, %21 : f1\n", "OpFRem"},
    {"%30 = binary rem %15, %15 : u1\n", "OpUMod"},
    {"%30 = binary not_equal_ordered %7, %7 : b4\n", "OpFOrdNotEqual"},
    {"%30 = binary div total %23, %23 : s1\n", "OpSDiv"},
    {"%30 = binary rem total %27, %27 : u2\n", "OpSelect"},
    {"%30 = binary shift_left total %15, %15 : u1\n", "OpBitwiseAnd"},
    {"%30 = convert saturating %21 : s1\n", "OpFOrdGreaterThanEqual"},
    {"%30 = convert saturating %7 : u4\n", "OpConvertFToU"},
    {"%30 = binary mul precise %21, %21 : f1\n", "NoContraction"},
    {"%30 = binary mul relaxed %21, %21 : f1\n", "RelaxedPrecision"},
    {"%30 = builtin dot_integers [%27, %27] : u1\n", "OpIMul"},
    {"%30 = access %3 [%15] : f1\n%31 = load %30 : f1\n", "OpAccessChain"},
    {"%30 = access bounded %3 [%15] : f1\n%31 = load %30 : f1\n", "UMin"},
    {"%30 = const u1 4\n%31 = access bounded %12 [%30, %15] : u1\n%32 = load %31 : u1\n",
     "OpArrayLength"},
    {"%30 = local $m : s3x3\n%31 = access %30 [%15, %15] : s1\n%32 = load %31 : s1\n",
     "OpTypeArray"},
    {"%30 = local $m : s3x3\n%31 = load %30 : s3x3\n%32 = extract %31, 1 : s3\n"
     "%33 = construct [%32, %32, %32] : s3x3\nstore %30, %33\n",
     "OpCompositeConstruct"},
    {"%30 = global none @rows : rows\n%31 = access %30 [%13] : f4x3\n%32 = load %31 : f4x3\n",
     "RowMajor"},
    {"%30 = global none @rows : rows\n%31 = access %30 [%17] : s3x2\n%32 = load %31 : s3x2\n",
     "ArrayStride"},
    {"%30 = global none @rows : rows\n%31 = access %30 [%18] : f1\n%32 = load %31 : f1\n",
     "Offset 160"},
    {"%30 = global none @maps : image_color_2d[4]\n%31 = access non_uniform %30 [%6] : "
     "image_color_2d\n%32 = image sample %31, %10, %5 : f4\n",
     "SampledImageArrayNonUniformIndexing"},
    {"%30 = global none @frames : light_t[4]\n%31 = access non_uniform %30 [%6, %13] : f3\n"
     "%32 = load %31 : f3\n",
     "UniformBufferArrayNonUniformIndexing"},
    {"%30 = global none @samplers : sampler[3]\n%31 = access %30 [%18] : sampler\n"
     "%32 = image sample %11, %31, %5 : f4\n",
     "OpSampledImage"},
    {"%30 = global none @seed : u1\nstore %30, %15\n", "OpVariable %"},
    {"%30 = global none @state : f4\n%31 = load %30 : f4\n", "OpConstantNull"},
    {"%30 = io 3 : f4\nstore %30, %7\n%31 = io 2 : f4\n%32 = load %31 : f4\n", "BuiltIn FragCoord"},
    {"%30 = atomic add %14, %15 device relaxed : u1\n", "OpAtomicIAdd"},
    {"%30 = atomic sub %14, %15 device relaxed : u1\n", "OpAtomicISub"},
    {"%30 = atomic min %22, %23 device relaxed : s1\n", "OpAtomicSMin"},
    {"%30 = atomic max %14, %15 device relaxed : u1\n", "OpAtomicUMax"},
    {"%30 = atomic and %14, %15 device relaxed : u1\n", "OpAtomicAnd"},
    {"%30 = atomic or %14, %15 device relaxed : u1\n", "OpAtomicOr"},
    {"%30 = atomic xor %14, %15 device relaxed : u1\n", "OpAtomicXor"},
    {"%30 = atomic exchange %20, %21 device relaxed : f1\n", "OpAtomicExchange"},
    {"%30 = atomic compare_exchange %14, %15, %6 device acquire_release : u1\n",
     "OpAtomicCompareExchange"},
    {"%30 = atomic load %14 device acquire : u1\n", "OpAtomicLoad"},
    {"%30 = atomic store %14, %15 device release : void\n", "OpAtomicStore"},
    {"%30 = atomic add %24, %25 device relaxed : w1\n", "Int64Atomics"},
    {"%30 = global none @counts : storage_image_2d<r32_uint>\n%31 = texel %30 [%27] : u1\n"
     "%32 = atomic or %31, %15 device relaxed : u1\n",
     "OpImageTexelPointer"},
    {"barrier none memory(buffer, image) device\n", "OpMemoryBarrier"},
    {"%30 = image sample %11, %10, %5 bias %21 const_offset %16 : f4\n", "Bias|ConstOffset"},
    {"%30 = image sample %11, %10, %5 lod %21 : f4\n", "OpImageSampleExplicitLod"},
    {"%30 = image sample %11, %10, %5 grad %5, %5 : f4\n", "Grad"},
    {"%30 = image sample %11, %10, %5 min_lod %21 : f4\n", "MinLod"},
    {"%30 = image sample %11, %10, %5 sparse : texel_t\n", "OpImageSparseSampleImplicitLod"},
    {"%30 = global none @both : sampled image_color_2d\n%31 = image sample %30, _, %5 : f4\n",
     "OpTypeSampledImage"},
    {"%30 = global none @both : sampled image_color_2d\n%31 = image fetch %30, %27 lod %15 : f4\n",
     "OpImage %"},
    {"%30 = global none @shadow : image_depth_2d\n%31 = image sample_dref %30, %10, %5, %21 : f1\n",
     "OpImageSampleDrefImplicitLod"},
    {"%30 = global none @shadow : image_depth_2d\n%31 = image gather_dref %30, %10, %5, %21 : f4\n",
     "OpImageDrefGather"},
    {"%30 = image gather %11, %10, %5, %17 const_offsets %28 : f4\n", "ImageGatherExtended"},
    {"%30 = image gather %11, %10, %5, %17 offset %16 : f4\n", "OpImageGather"},
    {"%30 = global none @cubes : image_color_cube_array\n%31 = image sample %30, %10, %7 : f4\n",
     "SampledCubeArray"},
    {"%30 = global none @many : image(2d ms) f1\n%31 = image fetch %30, %27 sample %15 : f4\n"
     "%32 = image samples %30 : u1\n%33 = image size %30 : u2\n",
     "OpImageQuerySamples"},
    {"%30 = global none @line : image(1d) f1\n%31 = image fetch %30, %15 lod %15 : f4\n",
     "Sampled1D"},
    {"%30 = global none @words : image(buffer) u1\n%31 = image fetch %30, %15 : u4\n",
     "SampledBuffer"},
    {"%30 = image levels %11 : u1\n%31 = image size %11 lod %15 : u2\n", "OpImageQuerySizeLod"},
    {"%30 = image query_lod %11, %10, %5 : f2\n", "OpImageQueryLod"},
    {"%30 = global none @colors : storage_image_2d<rgba8_unorm>\n%31 = image read %30, %27 : f4\n"
     "%32 = image write %30, %27, %31 : void\n",
     "OpImageWrite"},
    {"%30 = global none @small : storage_image_2d<rg8_unorm>\n%31 = image read %30, %27 : f4\n",
     "StorageImageExtendedFormats"},
    {"%30 = global none @any : image(2d storage unknown) f1\n%31 = image write %30, %27, %7 : "
     "void\n",
     "StorageImageWriteWithoutFormat"},
};

TEST(Typed, Rows_AreTheirInstruction) {
  for (const Row& row : kRows) {
    TextModule module(FragmentText(row.statements), TargetOf(row.environment));
    const Result<void> verdict = ir::Verify(module.variant());
    ASSERT_TRUE(verdict.ok()) << verdict.error().context << row.statements;
    EXPECT_THAT(module.Text(), HasSubstr(row.expected)) << row.statements;
  }
}

// In every environment, with its extensions.
TEST(Typed, Rows_AreValidEverywhere) {
  for (const Row& row : kRows) {
    for (const std::string_view environment : {"vulkan1.0", "vulkan1.2", "vulkan1.3"}) {
      TextModule module(FragmentText(row.statements), TargetOf(environment));
      EXPECT_FALSE(module.Words().empty()) << row.statements;
    }
  }
}

TEST(Typed, EveryOperation_HasARow) {
  std::set<std::string> missing;
  for (const std::string_view op : ir::kNames<ir::ImageOp>) {
    missing.insert("image " + std::string(op) + " ");
  }
  for (const std::string_view keyword : ir::kNames<ir::ImageOperand>) {
    missing.insert(" " + std::string(keyword) + " ");
  }
  for (const std::string_view op : ir::kNames<ir::AtomicOp>) {
    missing.insert("atomic " + std::string(op) + " ");
  }
  for (const Row& row : kRows) {
    std::erase_if(missing, [&](const std::string& word) {
      return row.statements.find(word) != std::string_view::npos;
    });
  }
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(Typed, ABarrier_WaitsInComputeShaders) {
  TextModule module(R"(variant compute
workgroup @shared : u1[4]
entry compute @main "main" {
  function @main() -> void {
    region r0 {
      barrier workgroup memory(workgroup) workgroup
      barrier subgroup memory() subgroup
    }
  }
}
)");
  ASSERT_TRUE(ir::Verify(module.variant()).ok());
  EXPECT_THAT(module.Text(), HasSubstr("OpControlBarrier"));
}

// Equal rows of two entry points are one variable, others are not.
TEST(Typed, InterfaceRows_AreVariablesByWhatTheySay) {
  TextModule module(R"(variant graphics_classic
entry vertex @first "first" {
  io in "position" : f4 location(0)
  io out "place" : f4 builtin("Position")
  io out "uv" : f2 location(0) interpolation(no_perspective)
  function @first() -> void {
    region r0 {
      %1 = io 0 : f4
      %2 = load %1 : f4
      %3 = io 1 : f4
      store %3, %2
    }
  }
}
entry fragment @second "second" {
  io in "uv" : f2 location(0) interpolation(no_perspective)
  io out "color" : f4 location(0) index(1)
  function @second() -> void {
    region r0 {
      %1 = io 0 : f2
      %2 = load %1 : f2
      %3 = construct [%2, %2] : f4
      %4 = io 1 : f4
      store %4, %3
    }
  }
}
)");
  ASSERT_TRUE(ir::Verify(module.variant()).ok());
  const std::string vertex = module.Text({.index = 0});
  EXPECT_THAT(vertex, HasSubstr("BuiltIn Position"));
  EXPECT_THAT(vertex, Not(HasSubstr("NoPerspective")));  // nobody writes it
  const std::string fragment = module.Text({.index = 1});
  EXPECT_THAT(fragment, HasSubstr("NoPerspective"));
  EXPECT_THAT(fragment, HasSubstr("Index 1"));
}

}  // namespace
}  // namespace kiln::spirv
