// SPDX-License-Identifier: MIT
// The instructions of typed modules in the specialised form: each kind where it is legal, and what
// is next to it and is not. What is legal prints as it was read.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/enum_names.h"
#include "compiler/ir/text/parse_specialised.h"
#include "compiler/ir/text/print_specialised.h"
#include "compiler/ir/typing/image_typing.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::ir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kInterface = R"(variant graphics_classic
struct light_t {
  position : f3
  power : f1[2]
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
  wide : w1
  real : f1
  items : u1...
}
buffer uniform pass @frames : light_t[4]
sampler material @linear
sampler material @samplers : sampler[3]
image read_only material @albedo : image_color_2d
image read_only material @maps : image_color_2d[4]
image read_only material @shadow : image_depth_2d
image read_only material @cube : image_color_cube
image read_only material @many : image(2d ms) f1
image read_only material @line : image(1d) f1
image read_only material @words : image(buffer) u1
image read_only material @both : sampled image_color_2d
image read_write material @counts : storage_image_2d<r32_uint>
image read_write material @colors : storage_image_2d<rgba8_unorm>
private @seed : u1 = u1 7
private @state : f4
)";

// A fragment stage that holds `statements`.
std::string TextOf(std::string_view statements) {
  return std::string(kInterface) + R"(entry fragment @main "main" {
  io in "uv" : f2 location(0)
  io in "layer" : u1 location(1) interpolation(flat)
  io out "color" : f4 location(0) index(0)
  io out "second" : f4 location(1)
  function @main() -> void {
    region r0 {
      var $v : f4
      var $m : s3x3
      exit $exit
      leave $leave
      leave $other
      %1 = const f1 1.0
      %2 = const u1 3
      %3 = const s1 -3
      %4 = flag true : bool
      %5 = const f2 {0.5, 0.25}
      %6 = const u2 {1, 2}
      %7 = const f4 {1.0, 2.0, 3.0, 4.0}
      %8 = const s2 {1, -1}
      %9 = const w1 5
      %10 = global none @linear : sampler
      %11 = global none @albedo : image_color_2d
      %12 = global none @memory : memory
      %13 = const u1 0
      %14 = access %12 [%13] : u1
      %15 = const d2 {1.0, 2.0}
      %16 = const s2[4] {{1, 0}, {0, 1}, {1, 1}, {0, 0}}
      %17 = const u1 1
      %18 = const u1 2
)" + std::string(statements) +
         R"(    }
  }
}
)";
}

struct Case {
  std::string_view statements;
  std::string_view error;  // empty: legal
};

void ExpectVerdicts(std::span<const Case> rows) {
  for (const Case& row : rows) {
    const Result<ParsedVariant> parsed = ParseVariant(TextOf(row.statements));
    ASSERT_TRUE(parsed.ok()) << parsed.error().context << "\n" << row.statements;
    const Result<void> verdict = Verify(parsed->variant);
    if (!row.error.empty()) {
      ASSERT_FALSE(verdict.ok()) << row.statements;
      EXPECT_THAT(verdict.error().context, HasSubstr(row.error)) << row.statements;
      continue;
    }
    EXPECT_TRUE(verdict.ok()) << row.statements << verdict.error().context;
    const std::string text = Print(parsed->variant);
    const Result<ParsedVariant> again = ParseVariant(text);
    ASSERT_TRUE(again.ok()) << again.error().context << "\n" << text;
    EXPECT_EQ(Print(again->variant), text);
  }
}

constexpr Case kSwitches[] = {
    {"switch %2 $leave { case u1 0, u1 1 { } case u1 2 through { } default { break $leave } }\n",
     ""},
    {"switch %2 $leave flatten { }\n", ""},
    {"switch %9 $leave dont_flatten { case w1 0 { } }\n", ""},
    {"switch %2 $leave { case u1 0, default { } }\n", ""},
    {"switch %2 $leave { case u1 0 { switch %2 $other { case u1 0 { break $leave } } } }\n", ""},
    {"switch %2 $leave { case s1 0 { } }\n", "type of a label"},
    {"switch %2 $leave { case u1 0 { } case u1 0 { } }\n", "a label occurs twice"},
    {"switch %2 $leave { default { } default { } }\n", "two default cases"},
    {"switch %2 $leave { case u1 0 through { } }\n", "nothing is behind the last case"},
    {"switch %1 $leave { }\n", "a selector is an integer"},
    {"switch %6 $leave { }\n", "a selector is an integer"},
    {"switch %2 $exit { }\n", "not a switch exit"},
    {"switch %2 $leave { case u1 0 { continue $leave } }\n", "not a loop exit"},
    {"break $leave\n", "outside of its loop"},
};

TEST(TypedInstructions, Switch) { ExpectVerdicts(kSwitches); }

constexpr Case kFlows[] = {
    {"if %4 flatten { }\n", ""},
    {"if %4 dont_flatten { } { }\n", ""},
    {"loop $exit unroll { } { break $exit } { }\n", ""},
    {"loop $exit unroll(255) { yield %4 } { } { }\n", ""},
    {"loop $exit dont_unroll { yield %4 } { } { yield %4 }\n", ""},
    {"demote\n", ""},
    {"unreachable\n", ""},
    {"unreachable\ndemote\n", "a terminator is last"},
};

TEST(TypedInstructions, HintsAndEnds) { ExpectVerdicts(kFlows); }

constexpr Case kValues[] = {
    {"%20 = bitcast %1 : u1\n", ""},
    {"%20 = bitcast %15 : u4\n", ""},
    {"%20 = bitcast %9 : f2\n", ""},
    {"%20 = bitcast %1 : f1\n", "no such bitcast"},
    {"%20 = bitcast %1 : u2\n", "no such bitcast"},
    {"%20 = bitcast %4 : u1\n", "no such bitcast"},
    {"%20 = insert %7, %1 [3] : f4\n", ""},
    {"%20 = construct [%5, %8] : pair_t\n%21 = insert %20, %3 [1, 0] : pair_t\n", ""},
    {"%20 = insert %7, %1 [4] : f4\n", "no such part"},
    {"%20 = insert %7, %2 [0] : f4\n", "no such part"},
    {"%20 = insert %7, %1 [0] : f3\n", "no such part"},
    {"%20 = binary rem %3, %3 : s1\n", ""},
    {"%20 = binary rem %7, %7 : f4\n", ""},
    {"%20 = binary not_equal_ordered %7, %7 : b4\n", ""},
    {"%20 = binary not_equal_ordered %2, %2 : bool\n", "type of the result"},
    {"%20 = binary div total %3, %3 : s1\n", ""},
    {"%20 = binary shift_left total %2, %2 : u1\n", ""},
    {"%20 = binary add total %2, %2 : u1\n", "total"},
    {"%20 = binary div total %1, %1 : f1\n", "total"},
    {"%20 = binary add precise relaxed %1, %1 : f1\n", ""},
    {"%20 = binary add saturating %1, %1 : f1\n", "flags"},
    {"%20 = convert saturating %1 : s1\n", ""},
    {"%20 = convert saturating %3 : f1\n", "saturating"},
    {"%20 = convert %2 : v1\n%21 = convert %20 : l1\n", ""},
    {"%20 = builtin frexp [%5] : pair_t\n", ""},
    {"%20 = builtin modf [%5] : pair_t\n", "type of the result"},
    {"%20 = builtin dot_integers [%6, %6] : u1\n", ""},
    {"%20 = builtin dot_integers [%5, %5] : f1\n", "no such function"},
    {"%20 = builtin bit_count [%9] : w1\n", "no such function"},
    {"%20 = builtin pack_half_2x16 [%5] : u1\n", ""},
    {"%20 = builtin pack_half_2x16 [%7] : u1\n", "no such function"},
};

TEST(TypedInstructions, Values) { ExpectVerdicts(kValues); }

constexpr Case kPlaces[] = {
    {"%20 = local $v : f4\n%21 = access %20 [%2] : f1\nstore %21, %1\n", ""},
    {"%20 = local $v : f4\n%21 = load %14 : u1\n%22 = access bounded %20 [%21] : f1\n", ""},
    {"%20 = local $m : s3x3\n%21 = load %14 : u1\n%22 = access %20 [%21, %21] : s1\n", ""},
    {"%20 = load %14 : u1\n%21 = access %12 [%20] : u1\n", "a member is constant"},
    {"%20 = global none @maps : image_color_2d[4]\n%21 = load %14 : u1\n"
     "%22 = access non_uniform %20 [%21] : image_color_2d\n",
     ""},
    {"%20 = global none @frames : light_t[4]\n%21 = load %14 : u1\n"
     "%22 = access non_uniform %20 [%21, %13] : f3\n%23 = load %22 : f3\n",
     ""},
    {"%20 = local $v : f4\n%21 = load %14 : u1\n%22 = access non_uniform %20 [%21] : f1\n",
     "arrays of resources"},
    {"%20 = global none @seed : u1\nstore %20, %2\n%21 = global none @state : f4\n", ""},
    {"%20 = io 0 : f2\n%21 = load %20 : f2\n%22 = io 2 : f4\nstore %22, %7\n", ""},
    {"%20 = io 1 : f4\n", "type of the row"},
    {"%20 = io 9 : f4\n", "no such row"},
};

TEST(TypedInstructions, Places) { ExpectVerdicts(kPlaces); }

constexpr Case kMemory[] = {
    {"%20 = atomic add %14, %2 device relaxed : u1\n", ""},
    {"%20 = atomic compare_exchange %14, %2, %2 device acquire_release : u1\n", ""},
    {"%20 = atomic load %14 workgroup acquire : u1\n", "of compute shaders"},
    {"%20 = atomic load %14 subgroup acquire : u1\n", ""},
    {"%20 = atomic store %14, %2 device release : void\n", ""},
    {"%20 = access %12 [%17] : w1\n%21 = atomic max %20, %9 device relaxed : w1\n", ""},
    {"%20 = access %12 [%18] : f1\n%21 = atomic exchange %20, %1 device relaxed : f1\n", ""},
    {"%20 = access %12 [%18] : f1\n%21 = atomic add %20, %1 device relaxed : f1\n",
     "not a type of atomics"},
    {"%20 = atomic load %14 device release : u1\n", "order"},
    {"%20 = atomic store %14, %2 device acquire : void\n", "order"},
    {"%20 = atomic add %14, %3 device relaxed : u1\n", "type of an operand"},
    {"%20 = atomic add %14 device relaxed : u1\n", "a place in shared memory"},
    {"%20 = atomic add %14, %2 none relaxed : u1\n", "operand"},
    {"%20 = local $v : f4\n%21 = access %20 [%2] : f1\n"
     "%22 = atomic exchange %21, %1 device relaxed : f1\n",
     "a place in shared memory"},
    {"%20 = global none @counts : storage_image_2d<r32_uint>\n%21 = texel %20 [%6] : u1\n"
     "%22 = atomic or %21, %2 device relaxed : u1\n",
     ""},
    {"%20 = global none @colors : storage_image_2d<rgba8_unorm>\n%21 = texel %20 [%6] : f1\n",
     "one item of 32 bits"},
    {"%20 = global none @counts : storage_image_2d<r32_uint>\n%21 = texel %20 [%2] : u1\n",
     "type of an operand"},
    {"barrier workgroup memory(workgroup) workgroup\n", "of compute shaders"},
    {"barrier subgroup memory() subgroup\n", "of compute shaders"},
    {"barrier none memory(buffer, image) device\n", ""},
    {"barrier none memory() device\n", "a barrier for nothing"},
    {"barrier device memory(buffer) device\n", "who waits"},
};

TEST(TypedInstructions, Memory) { ExpectVerdicts(kMemory); }

// One row for each operation and each keyword, and what is next to them.
constexpr Case kImages[] = {
    {"%20 = image sample %11, %10, %5 : f4\n", ""},
    {"%20 = image sample %11, %10, %5 bias %1 const_offset %8 min_lod %1 : f4\n", ""},
    {"%20 = image sample relaxed %11, %10, %5 lod %1 offset %8 : f4\n", ""},
    {"%20 = image sample %11, %10, %5 grad %5, %5 sparse : texel_t\n", ""},
    {"%20 = image sample %11, %10, %5 bias %1 lod %1 : f4\n", "exclude each other"},
    {"%20 = image sample %11, %10, %5 lod %1 min_lod %1 : f4\n", "exclude each other"},
    {"%20 = image sample %11, %10, %5 const_offset %8 offset %8 : f4\n", "exclude each other"},
    {"%20 = image sample %11, %10, %5 sample %2 : f4\n", "does not have"},
    {"%20 = image sample %11, %10, %5 lod %2 : f4\n", "type of a keyword operand"},
    {"%20 = image sample %11, %10, %5 sparse : f4\n", "type of the result"},
    {"%20 = image sample %11, %10, %7 : f4\n", "type of an operand"},
    {"%20 = image sample %11, _, %5 : f4\n", "an image with its sampler"},
    {"%20 = global none @both : sampled image_color_2d\n%21 = image sample %20, _, %5 : f4\n", ""},
    {"%20 = global none @both : sampled image_color_2d\n%21 = image fetch %20, %6 lod %2 : f4\n",
     ""},
    {"%20 = global none @shadow : image_depth_2d\n"
     "%21 = image sample_dref %20, %10, %5, %1 : f1\n%22 = image gather_dref %20, %10, %5, %1 : "
     "f4\n",
     ""},
    {"%20 = image sample_dref %11, %10, %5, %1 : f1\n", "not an image of depths"},
    {"%20 = image gather %11, %10, %5, %2 const_offsets %16 : f4\n", ""},
    {"%20 = load %14 : u1\n%21 = image gather %11, %10, %5, %20 : f4\n", "type of an operand"},
    {"%20 = global none @line : image(1d) f1\n%21 = image gather %20, %10, %1, %2 : f4\n",
     "are gathered"},
    {"%20 = global none @line : image(1d) f1\n%21 = image sample %20, %10, %1 : f4\n", ""},
    {"%20 = global none @cube : image_color_cube\n%21 = const f3 {0.0, 0.0, 1.0}\n"
     "%22 = image sample %20, %10, %21 const_offset %8 : f4\n",
     "no offsets"},
    {"%20 = global none @many : image(2d ms) f1\n%21 = image fetch %20, %6 sample %2 : f4\n"
     "%22 = image samples %20 : u1\n%23 = image size %20 : u2\n",
     ""},
    {"%20 = global none @many : image(2d ms) f1\n%21 = image fetch %20, %6 : f4\n",
     "have a sample"},
    {"%20 = global none @words : image(buffer) u1\n%21 = image fetch %20, %2 : u4\n"
     "%22 = image size %20 : u1\n",
     ""},
    {"%20 = global none @words : image(buffer) u1\n%21 = image levels %20 : u1\n",
     "without levels"},
    {"%20 = image levels %11 : u1\n%21 = image size %11 lod %2 : u2\n"
     "%22 = image query_lod %11, %10, %5 : f2\n",
     ""},
    {"%20 = image size %11 : u2\n", "have a level"},
    {"%20 = image samples %11 : u1\n", "multisampled"},
    {"%20 = global none @colors : storage_image_2d<rgba8_unorm>\n%21 = image read %20, %6 : f4\n"
     "%22 = image write %20, %6, %7 : void\n%23 = image size %20 : u2\n",
     ""},
    {"%20 = image read %11, %6 : f4\n", "not a storage image"},
    {"%20 = image fetch %11, %5 : f4\n", "type of an operand"},
};

TEST(TypedInstructions, Images) { ExpectVerdicts(kImages); }

// The tables above have every kind and every operation where it is legal.
TEST(TypedInstructions, EveryKindAndOperation_IsInALegalRow) {
  std::set<std::string> missing;
  for (const InstFacts& facts : kInstFacts) {
    if (Includes(facts.form, Form::kSpecialised) && !Includes(facts.form, Form::kUntyped)) {
      missing.insert(facts.mnemonic);
    }
  }
  for (const char* known :
       {"global", "stage", "local", "temp", "const_place", "param", "store", "unary", "splat",
        "extract", "swizzle", "call", "select", "select_blocks", "spec_const", "insertion_point"}) {
    missing.erase(known);  // verify_specialised_test has them
  }
  for (const std::string_view op : kNames<ImageOp>) {
    missing.insert("image " + std::string(op));
  }
  for (const std::string_view keyword : kNames<ImageOperand>) {
    missing.insert(std::string(keyword) + " ");
  }
  const auto strike = [&](std::span<const Case> rows) {
    for (const Case& row : rows) {
      std::erase_if(missing, [&](const std::string& word) {
        return row.error.empty() && row.statements.find(word) != std::string_view::npos;
      });
    }
  };
  strike(kSwitches);
  strike(kFlows);
  strike(kValues);
  strike(kPlaces);
  strike(kMemory);
  strike(kImages);
  EXPECT_THAT(missing, testing::IsEmpty());
}

// What can be said and not lowered is refused where it is declared.
TEST(TypedDeclarations, WhatHasNoLowering_IsRefused) {
  const struct {
    std::string_view decl, error;
  } rows[] = {
      {"image read_only material @x : image(subpass) f1\n", "subpass"},
      {"buffer uniform pass @x {\n  a : bool\n}\n", ""},
      {"buffer uniform pass @x rules(d3d_cbuffer) {\n  a : f1\n}\n", ""},
      {"buffer uniform pass @x {\n  a : f4x4 offset 16 row_major\n}\n", ""},
      {"buffer uniform pass @x {\n  a : f4x4 stride 32\n}\n", "strides"},
      {"buffer uniform pass @x {\n  a : s4x4 row_major\n}\n", "float matrices"},
      {"buffer uniform pass @x {\n  a : f2x3[2] row_major\n}\n", ""},
      {"buffer uniform pass @x {\n  a : f3x3[2] row_major\n}\n", ""},
      {"private @x : u1 = f1 1.0\n", "initial value"},
      {"private @x : ray_query\n", "ray queries"},
      {"private @x : sampler\n", "holds values"},
      {"image read_only material @x : accel\n", "acceleration"},
  };
  for (const auto& row : rows) {
    std::string text = TextOf("");
    text.insert(text.find("private"), row.decl);
    const Result<ParsedVariant> parsed = ParseVariant(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().context << row.decl;
    const Result<void> verdict = Verify(parsed->variant);
    EXPECT_EQ(verdict.ok(), row.error.empty()) << row.decl;
    if (!verdict.ok()) {
      EXPECT_THAT(verdict.error().context, HasSubstr(row.error)) << row.decl;
    }
  }
}

TEST(TypedDeclarations, RowsOfAnInterface_HaveAPlace) {
  const struct {
    std::string_view row, error;
  } rows[] = {
      {"io in \"x\" : f4 builtin(\"FragCoord\")\n", ""},
      {"io in \"x\" : f4\n", "a location or is a built-in"},
      {"io in \"x\" : f4 builtin(\"Unheard\")\n", "no lowering"},
      {"io in \"x\" : s2 location(3)\n", "flat"},
      {"io in \"x\" : sampler location(3)\n", "a vector or matrix"},
  };
  for (const auto& row : rows) {
    std::string text = TextOf("");
    text.insert(text.find("io out \"second\""), row.row);
    const Result<ParsedVariant> parsed = ParseVariant(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().context << row.row;
    const Result<void> verdict = Verify(parsed->variant);
    EXPECT_EQ(verdict.ok(), row.error.empty()) << row.row;
    if (!verdict.ok()) {
      EXPECT_THAT(verdict.error().context, HasSubstr(row.error)) << row.row;
    }
  }
}

TEST(TypedInstructions, ImplicitLevels_AreOfFragments) {
  std::string text = TextOf("%20 = image sample %11, %10, %5 : f4\n");
  text.replace(text.find("entry fragment"), 14, "entry vertex");
  const Result<ParsedVariant> parsed = ParseVariant(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().context;
  const Result<void> verdict = Verify(parsed->variant);
  ASSERT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.error().context, HasSubstr("derivatives are of fragments"));
}

}  // namespace
}  // namespace kiln::ir
