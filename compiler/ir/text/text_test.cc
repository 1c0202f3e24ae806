// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/parse_specialised.h"
#include "compiler/ir/text/print_specialised.h"

namespace kiln::ir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kVariant = R"(variant graphics_classic
struct light_t {
  position : f3 tags(world, low)
  power : f1
}
struct scene_t {
  lights : light_t[4]
}
container vertex_attributes @vertex {
  position : f3 pack(float32)
  joints : u4 pack(uint16) tags(skin, low)
}
container state @state {
  uv : f2
}
container color_output @target {
  color : f4
}
buffer uniform pass @frame {
  matrix : f4x4
  scene : scene_t
}
push_constant @push {
  tint : f4
}
sampler material @linear
image read_only material @albedo : image_color_2d
image read_only material @layers : image_depth_2d_array[4]
setting "depth.test" = flag true
setting "blend" block 1 = string "add"
setting "bias" = float -1.5
option global quality : enum = 1 "high" layout code
option instance skinning : flag = true code
live 3 [0, 2]
entry vertex @main_v "main" {
  live 3 [2]
  function @main_v() -> void {
    region r0 {
      var $a : f3
      exit $exit
      %1 = global in @vertex.position : f3
      %2 = load %1 : f3
      %3 = local $a : f3
      store %3, %2
      insertion_point r1
      loop $exit {
        %4 = flag true : bool
        yield %4
      } {
        %5 = logical and %4 : bool {
          yield %4
        }
        if %5 {
          break $exit
        } {
          continue $exit
        }
      } {
      }
      %6 = call @twice [%2] : f3
      %7 = const f1 1.0
      %8 = construct [%6, %7] : f4
      %9 = stage position : f4
      store %9, %8
      return _
    }
    region r1 {
      %1 = local $a : f3
      %2 = load %1 : f3
      %3 = swizzle %2, xz : f2
      %4 = global out @state.uv : f2
      store %4, %3
    }
  }
  function @twice(in $x : f3) -> f3 {
    region r0 {
      param in $x : f3
      %1 = param $x : f3
      %2 = const f1 2.0
      %3 = binary mul %1, %2 : f3
      return %3
    }
  }
}
entry fragment @main_f "main" {
  function @main_f() -> void in fragment {
    region r0 {
      %1 = global none @linear : sampler
      %2 = global none @albedo : image_color_2d
      %3 = global in @state.uv : f2
      %4 = load %3 : f2
      %5 = builtin sample [%1, %2, %4] : f4
      %6 = global none @frame : frame
      %7 = const u1 1
      %8 = const f3 {1.0, -0.0, 1e+20}
      %9 = access %6 [%7, %7] : light_t[4]
      %10 = global out @target.color : f4
      store %10, %5
      return _
    }
  }
}
)";

TEST(ParseVariant, WhatWasPrinted_PrintsTheSame) {
  const Result<ParsedVariant> parsed = ParseVariant(kVariant);
  ASSERT_TRUE(parsed.ok()) << parsed.error().context;
  EXPECT_EQ(Print(parsed->variant), kVariant);
}

TEST(ParseVariant, TwoShapesOfOneName_StayApart) {
  constexpr std::string_view kText = R"(variant compute
struct a {
  x : f1
}
struct a#2 {
  y : a
}
struct "f4" {
  "not a word" : a#2
}
buffer uniform pass @a {
  z : a
  w : "f4"
}
entry compute @main "main" {
  function @main() -> void {
    region r0 {
      var $x : f1
      var $x#2 : u1
      %1 = global none @a : a#3
      %2 = local $x#2 : u1
      return _
    }
  }
}
)";
  const Result<ParsedVariant> parsed = ParseVariant(kText);
  ASSERT_TRUE(parsed.ok()) << parsed.error().context;
  EXPECT_EQ(Print(parsed->variant), kText);
}

TEST(ParseVariant, Region_KnowsWhatItMentions) {
  const Result<ParsedVariant> parsed = ParseVariant(kVariant);
  ASSERT_TRUE(parsed.ok());
  const FunctionRef& vertex = *parsed->variant.entries[0].functions[0];
  ASSERT_EQ(vertex.regions.size(), 2u);
  const SpecialisedRegion& body = *vertex.regions[0].specialised;
  EXPECT_THAT(body.insertion_points, testing::ElementsAre(vertex.regions[1].region));
  ASSERT_EQ(body.mentions.size(), 2u);
  EXPECT_EQ(body.mentions[0].decl, parsed->variant.interface[0]->decl);
  EXPECT_EQ(body.mentions[0].touches, static_cast<uint8_t>(MemberUse::kRead));
  EXPECT_EQ(body.mentions[1].decl, parsed->variant.entries[0].functions[1]->function);
  EXPECT_TRUE(body.bound);
  EXPECT_FALSE(body.uses_implicit_lod);
  const SpecialisedRegion& fragment =
      *parsed->variant.entries[1].functions[0]->regions[0].specialised;
  EXPECT_TRUE(fragment.uses_implicit_lod);
  EXPECT_EQ(fragment.mentions[0].touches, static_cast<uint8_t>(MemberUse::kSample));
}

TEST(ParseVariant, WrongText_NamesLineAndReason) {
  const struct {
    std::string_view text, message;
  } rows[] = {
      {"", "line 1: expected 'variant'"},
      {"variant sideways", "line 1: unknown word at 'sideways'"},
      {"variant compute\nstruct s {\n  x : nothing\n}", "line 3: no such type above"},
      {"variant compute\nstruct s { }\nstruct s { }", "line 3: this struct is defined twice"},
      {"variant compute\nlive 2 [2]", "line 2: no such option"},
      {"variant compute\nsetting \"a\" = uint x", "line 2: unknown word"},
      {"variant compute\nconstant @c : f1", "not part of an interface"},
      {"variant compute\nentry compute @m \"m\" { function @m() -> void { region r0 { %1 = load "
       "%2 "
       ": f1 } } }",
       "no such value above"},
      {"variant compute\nentry compute @m \"m\" { function @m() -> void { region r0 { when } } }",
       "not an instruction of this form"},
  };
  for (const auto& row : rows) {
    const Result<ParsedVariant> parsed = ParseVariant(row.text);
    ASSERT_FALSE(parsed.ok()) << row.text;
    EXPECT_THAT(parsed.error().context, HasSubstr(row.message));
  }
}

TEST(Print, RegionAlone_NumbersWhatItDoesNotOwn) {
  const Result<ParsedVariant> parsed = ParseVariant(kVariant);
  ASSERT_TRUE(parsed.ok());
  const SpecialisedRegion& nested =
      *parsed->variant.entries[0].functions[0]->regions[1].specialised;
  EXPECT_EQ(Print(nested, *parsed->pool), R"(region r0 {
  %1 = local $_ : f3
  %2 = load %1 : f3
  %3 = swizzle %2, xz : f2
  %4 = global out @_._ : f2
  store %4, %3
}
)");
}

TEST(Print, DeclAlone_IsItsDefinition) {
  const Result<ParsedVariant> parsed = ParseVariant(kVariant);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(Print(*parsed->variant.interface[0], *parsed->pool),
            "container vertex_attributes @vertex {\n"
            "  position : f3 pack(float32)\n"
            "  joints : u4 pack(uint16) tags(skin, low)\n"
            "}\n");
}

}  // namespace
}  // namespace kiln::ir
