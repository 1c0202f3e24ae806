// SPDX-License-Identifier: MIT
// A vertex and a fragment entry point of a typed module, drawn by lavapipe and run by the
// interpreter: what they exchange arrives, whatever its type is on the way.
#include <array>
#include <bit>
#include <random>

#include "tests/oracle/operator_fixture.h"

namespace kiln::oracle {
namespace {

// The interface of the bench (tests/support/pixel_rig.cc), without RPL.
std::string ModuleText(std::string_view varyings, std::string_view write, std::string_view read) {
  return R"(module hlsl 6 typed
cexpr ?1 = literal string "none"
cexpr ?2 = literal flag false
cexpr ?3 = literal uint 8
cexpr ?4 = literal uint 3
setting "cull_mode" = ?1
setting "depth_test" = ?2
setting "depth_write" = ?2
struct @sample_t {
  f : f4[?3]
  u : u4[?4]
  s : s4[?4]
}
buffer read_only_storage pass @bench {
  samples : @sample_t...
}
struct @corner_t source("bench_corner") {
  position : f2 semantic("POSITION", 0)
}
struct @screen_t {
  pixel : f2 semantic("PIXEL", 0)
)" + std::string(varyings) +
         R"(}
struct @result_t {
  f0 : f4
  f1 : f4
  f2 : f4
  f3 : f4
  u0 : u4
  s0 : s4
}
function @bench_vertex(in $corner : @corner_t, out $place : f4 semantic("SV_Position", 0)) -> @screen_t {
  %1 = param $corner : @corner_t
  %2 = extract %1, 0 : f2
  %3 = const f2 {f1 0.0, f1 1.0}
  %4 = construct [%2, %3] : f4
  %5 = local $place : f4
  store %5, %4
  %6 = const f2 {f1 8.0, f1 -8.0}
  %7 = binary mul %2, %6 : f2
  %8 = const f2 {f1 8.0, f1 8.0}
  %9 = binary add %7, %8 : f2
)" + std::string(write) +
         R"(}
function @bench_fragment(in $bench_screen : @screen_t, out $result : @result_t semantic("SV_Target", 0)) -> void {
  %1 = param $bench_screen : @screen_t
  %2 = extract %1, 0 : f2
  %3 = convert %2 : u2
  %4 = extract %3, 0 : u1
  %5 = extract %3, 1 : u1
  %6 = const u1 16
  %7 = binary mul %5, %6 : u1
  %8 = binary add %4, %7 : u1
  %9 = global none @bench : @bench
  %10 = const u1 0
  %11 = const u1 1
  %12 = access %9 [%10, %8, %10, %10] : f4
  %13 = load %12 : f4
  %14 = access %9 [%10, %8, %11, %10] : u4
  %15 = load %14 : u4
  %16 = const f4 {f1 0.0, f1 0.0, f1 0.0, f1 0.0}
  %17 = const s4 {s1 0, s1 0, s1 0, s1 0}
)" + std::string(read) +
         R"(}
)";
}

class TypedStages : public OperatorFixture {
 protected:
  static void Agree(const std::string& module, const Surroundings& around = {}) {
    std::mt19937 random(25);
    Samples samples;
    FillFloats(samples, random, 0, 8, {.low = -4, .high = 4, .dyadic = true});
    FillUnsigned(samples, random, 0, 3, {});
    FillSigned(samples, random, 0, 3, {.low = INT32_MIN + 1});
    const VariantRequest request{.sources = {module},  // for messages
                                 .entries = {"vertex:bench_vertex", "fragment:bench_fragment"},
                                 .modules = {module}};
    const Comparison comparison = AgreeOn(request, samples, {}, around);
    EXPECT_EQ(comparison.open, 0U);
    EXPECT_GT(comparison.decided, 0U);
  }
};

TEST_F(TypedStages, WhatAStageWrites_TheNextOneReads) {
  Agree(ModuleText("", "  %10 = construct [%9] : @screen_t\n  return %10\n", R"(
  %18 = construct [%13, %16, %13, %16, %15, %17] : @result_t
  %19 = local $result : @result_t
  store %19, %18
)"));
}

// Flat integers, booleans, halves, matrices and arrays, in a struct of a struct; the fragment stage
// sees what the vertex stage wrote for every corner.
TEST_F(TypedStages, EveryTypeTravels) {
  constexpr std::string_view kMembers = R"(  flag : b2 semantic("FLAG", 0)
  count : s2 semantic("COUNT", 0)
  half : h2 semantic("HALF", 0)
  turn : f2x3 semantic("TURN", 0)
  list : f1[?4] semantic("LIST", 0)
)";
  constexpr std::string_view kWrite = R"(  %10 = flag true : bool
  %11 = flag false : bool
  %12 = construct [%10, %11] : b2
  %13 = const s2 {s1 -3, s1 7}
  %14 = const f2 {f1 0.5, f1 -2.0}
  %15 = convert %14 : h2
  %16 = const f3 {f1 1.0, f1 2.0, f1 3.0}
  %17 = const f3 {f1 4.0, f1 5.0, f1 6.0}
  %18 = construct [%16, %17] : f2x3
  %19 = const f1 0.25
  %20 = const f1 0.75
  %21 = construct [%19, %20, %19] : f1[?4]
  %22 = construct [%9, %12, %13, %15, %18, %21] : @screen_t
  return %22
)";
  constexpr std::string_view kRead = R"(  %18 = extract %1, 1 : b2
  %19 = convert %18 : u2
  %20 = extract %1, 2 : s2
  %21 = extract %1, 3 : h2
  %22 = convert %21 : f2
  %23 = extract %1, 4 : f2x3
  %24 = extract %23, 1 : f3
  %25 = extract %1, 5 : f1[?4]
  %26 = extract %25, 1 : f1
  %27 = construct [%24, %26] : f4
  %28 = construct [%22, %22] : f4
  %29 = construct [%19, %19] : u4
  %30 = construct [%20, %20] : s4
  %31 = construct [%13, %27, %28, %16, %29, %30] : @result_t
  %32 = local $result : @result_t
  store %32, %31
)";
  Surroundings around;
  around.globals["bench_screen.flag"] = ExactValue(std::array{1U, 0U});
  around.globals["bench_screen.count"] = ExactValue(std::array{0xfffffffdU, 7U});
  around.globals["bench_screen.half"] = ExactFloats(std::array{0.5F, -2.0F});
  around.globals["bench_screen.turn"] = ExactFloats(std::array{1.F, 2.F, 3.F, 4.F, 5.F, 6.F});
  around.globals["bench_screen.list"] = ExactFloats(std::array{0.25F, 0.75F, 0.25F});
  Agree(ModuleText(kMembers, kWrite, kRead), around);
}

TEST_F(TypedStages, BuiltinsAreConverted) {
  std::string module = ModuleText("", "  %10 = construct [%9] : @screen_t\n  return %10\n", R"(
  %18 = param $at : f2
  %19 = construct [%18, %18] : f4
  %20 = param $front : bool
  %21 = convert %20 : u1
  %22 = splat %21 : u4
  %23 = construct [%13, %19, %13, %16, %22, %17] : @result_t
  %24 = local $result : @result_t
  store %24, %23
)");
  module.replace(module.find("in $bench_screen"), 16,
                 "in $at : f2 semantic(\"SV_Position\", 0), in $front : bool "
                 "semantic(\"SV_IsFrontFace\", 0), in $bench_screen");
  const BuiltVariant variant(
      {.entries = {"vertex:bench_vertex", "fragment:bench_fragment"}, .modules = {module}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const Result<Pixels> pixels = bench().Run(variant, Samples{});
  ASSERT_TRUE(pixels.ok()) << ErrorText(pixels.error());
  for (uint32_t i = 0; i < kBenchPixels; ++i) {
    EXPECT_EQ((*pixels)[i][4], std::bit_cast<uint32_t>(static_cast<float>(i % kBenchSide) + 0.5F));
    EXPECT_EQ((*pixels)[i][5], std::bit_cast<uint32_t>(static_cast<float>(i / kBenchSide) + 0.5F));
    EXPECT_EQ((*pixels)[i][16], 0U);
  }
}

}  // namespace
}  // namespace kiln::oracle
