// SPDX-License-Identifier: MIT
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/parse_specialised.h"
#include "compiler/ir/text/print_specialised.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::ir {
namespace {

using testing::HasSubstr;

// A variant whose only body holds `statements`; what they may mention comes before.
Result<ParsedVariant> VariantOf(std::string_view statements) {
  return ParseVariant(std::string(R"(variant graphics_classic
struct light_t {
  position : f3
  power : f1[2]
}
container vertex_attributes @vertex {
  position : f3 pack(float32)
}
buffer uniform pass @frame {
  lights : light_t[4]
}
sampler material @linear
image read_only material @albedo : image_color_2d
image read_only material @layers : image_depth_2d_array
entry vertex @main "main" {
  function @main() -> void {
    region r0 {
      var $a : f3
      var $i : u1
      exit $exit
      %1 = const f1 1.0
      %2 = const f3 {1.0, 2.0, 3.0}
      %3 = const u1 1
      %4 = flag true : bool
      %5 = local $a : f3
)") + std::string(statements) +
                      R"(    }
  }
  function @two(in $x : f3, out $y : f3, in $s : sampler) -> f3 {
    region r0 {
      param in $x : f3
      param out $y : f3
      param in $s : sampler
      %1 = param $x : f3
      %2 = local $y : f3
      %3 = local $s : sampler
      store %2, %1
      return %1
    }
  }
}
)");
}

struct Case {
  std::string_view statements;
  std::string_view error;  // empty: legal
};

void ExpectVerdicts(std::span<const Case> rows) {
  for (const Case& row : rows) {
    const Result<ParsedVariant> parsed = VariantOf(row.statements);
    ASSERT_TRUE(parsed.ok()) << parsed.error().context << "\n" << row.statements;
    const Result<void> verdict = Verify(parsed->variant);
    if (row.error.empty()) {
      EXPECT_TRUE(verdict.ok()) << row.statements << verdict.error().context;
    } else {
      ASSERT_FALSE(verdict.ok()) << row.statements;
      EXPECT_THAT(verdict.error().context, HasSubstr(row.error)) << row.statements;
    }
  }
}

TEST(Verify, Values_AreTypedByTheTables) {
  constexpr Case kRows[] = {
      {"%6 = binary add %2, %2 : f3\n", ""},
      {"%6 = binary add %2, %1 : f3\n", "type of the result"},
      {"%6 = binary add %2, %2 : f4\n", "type of the result"},
      {"%6 = binary add %5, %2 : f3\n", "operands"},
      {"%6 = unary negate %2 : f3\n", ""},
      {"%6 = unary not %2 : f3\n", "type of the result"},
      {"%6 = construct [%2, %1] : f4\n", ""},
      {"%6 = construct [%2] : f4\n", "do not make the type"},
      {"%6 = splat %1 : f4\n", ""},
      {"%6 = splat %1 : u4\n", "a scalar of the vector"},
      {"%6 = convert %2 : u3\n", ""},
      {"%6 = convert %2 : u4\n", "no such conversion"},
      {"%6 = extract %2, 2 : f1\n", ""},
      {"%6 = extract %2, 3 : f1\n", "no such part"},
      {"%6 = swizzle %2, zz : f2\n", ""},
      {"%6 = swizzle %2, w : f1\n", "letters"},
      {"%6 = builtin dot [%2, %2] : f1\n", ""},
      {"%6 = builtin dot [%2, %1] : f1\n", "type of an argument"},
      {"%6 = builtin dot [%1, %1] : f1\n", "no such function"},
      {"%6 = builtin pi [] : f1\n", "specialising leaves none"},
      {"%6 = select %4 [%2, %2] : f3\n", ""},
      {"%6 = select %4 [%2, %1] : f3\n", "type of the result"},
      {"%6 = select %1 [%2, %2] : f3\n", "one condition, or one for each component"},
      {"%6 = logical and %4 : bool { yield %4 }\n", ""},
      {"%6 = logical and %4 : bool { yield %1 }\n", "operands"},
      {"%6 = select_blocks %4 : f3 { yield %2 } { yield %2 }\n", ""},
      {"%6 = select_blocks %4 : f3 { yield %2 } { yield %1 }\n", "type of a yield"},
      {"%6 = select_blocks %4 : f3 { yield %2 }\n", "number of blocks"},
      {"%6 = load %5 : f3\n", ""},
      {"%6 = load %2 : f3\n", "a place that holds a value"},
      {"%6 = load %5 : f4\n", "type of the result"},
      {"%6 = const f1 2.0 : f3\n", "type of the result"},
  };
  ExpectVerdicts(kRows);
}

TEST(Verify, Places_AreRootsAndSteps) {
  constexpr std::string_view kFrame = "%6 = global none @frame : frame\n";
  const std::string rows[][2] = {
      {"%7 = access %6 [%8, %3, %8] : f3\n", ""},
      {"%7 = access %6 [%8, %10, %3, %10] : f1\n", ""},
      {"%7 = access %6 [%8, %9] : light_t\n", "in range"},
      {"%7 = access %6 [%10, %3] : light_t\n", "constant"},
      {"%7 = access %6 [%8, %3] : f3\n", "type of the part"},
      {"%7 = access %6 [%8, %3, %9] : f3\n", "no such part"},
      {"%7 = access %6 [] : frame\n", "no steps"},
      {"%7 = access %6 [%1] : light_t[4]\n", "a step is a u1"},
      {"%7 = access %2 [%8] : f1\n", "the root is a place"},
      {"%7 = access %6 [%8] : light_t[4]\n%11 = access %7 [%8] : light_t\n", "the root is a place"},
      {"%7 = global in @vertex.position : f3\n", ""},
      {"%7 = global none @vertex.position : f3\n", "have a direction"},
      {"%7 = global in @vertex.position : f4\n", "type of the declaration"},
      {"%7 = global in @vertex.nothing : f4\n", "no such member"},
      {"%7 = global none @nothing : f4\n", "no such declaration"},
      {"%7 = stage position : f4\n", ""},
      {"%7 = stage position : f3\n", "type of the stage variable"},
      {"%7 = temp : f3[2]\n", ""},
      {"%7 = temp : sampler\n", "a temp holds values"},
      {"%7 = local $i : u1\n", ""},
      {"%7 = local $i : f1\n", "type of the local"},
      {"%7 = local $other : f1\n", "no enclosing region"},
      {"%7 = param $i : u1\n", "are values"},
  };
  const std::string before =
      std::string(kFrame) +
      "%8 = const u1 0\n%9 = const u1 4\n%12 = local $i : u1\n%10 = load %12 : u1\n";
  for (const auto& [statements, error] : rows) {
    const std::string text = before + statements;
    const Case row{text, error};
    ExpectVerdicts(std::span(&row, 1));
  }
}

TEST(Verify, Statements_FollowTheStructureOfBlocks) {
  constexpr Case kRows[] = {
      {"store %5, %2\n", ""},
      {"store %5, %1\n", "a value of the place's type"},
      {"store %2, %2\n", "a value of the place's type"},
      {"return _\n", ""},
      {"return %1\n", "return type"},
      {"return _\nstore %5, %2\n", "a terminator is last"},
      {"yield %1\n", "a yield ends a value"},
      {"if %4 { store %5, %2 }\n", ""},
      {"if %1 { }\n", "condition"},
      {"if %4 { } { } { }\n", "number of blocks"},
      {"if %4 { yield %4 }\n", "a yield ends a value"},
      {"scope { %6 = load %5 : f3 }\n", ""},
      {"scope { %6 = load %5 : f3 }\nstore %5, %6\n", "an operand has not run"},
      {"loop $exit { yield %4 } { break $exit } { }\n", ""},
      {"loop $exit { yield %4 } { continue $exit } { }\n", ""},
      {"loop $exit { yield %1 } { } { }\n", "condition"},
      {"loop $exit { } { break $exit } { }\n", ""},
      {"loop $exit { } { } { yield %4 }\n", ""},
      {"loop $exit { } { } { yield %1 }\n", "condition"},
      {"loop $exit { } { } { return _ }\n", "nothing leaves a continuing block"},
      {"loop $exit { } { } { break $exit }\n", "nothing leaves a continuing block"},
      {"loop $exit { yield %4 } { }\n", "number of blocks"},
      {"loop $a { yield %4 } { } { }\n", "not a loop exit"},
      {"break $exit\n", "outside of its loop"},
      {"break $a\n", "not a loop exit"},
      {"continue _\n", "a jump outside of loops"},
      {"insertion_point r1\ninsertion_point r2\n", ""},
      {"discard\n", ""},
  };
  ExpectVerdicts(kRows);
}

TEST(Verify, Arguments_FitSignatureAndImage) {
  constexpr Case kRows[] = {
      {"%6 = global none @linear : sampler\n%7 = call @two [%2, %5, %6] : f3\n", ""},
      {"%6 = global none @linear : sampler\n%7 = temp : f3\n%8 = call @two [%2, %7, %6] : f3\n",
       ""},
      {"%6 = global none @linear : sampler\n%7 = call @two [%2, %2, %6] : f3\n", "whole locals"},
      {"%6 = global none @linear : sampler\n%7 = call @two [%5, %5, %6] : f3\n", "takes a value"},
      {"%6 = global none @linear : sampler\n%7 = call @two [%1, %5, %6] : f3\n", "type of an arg"},
      {"%6 = global none @linear : sampler\n%7 = call @two [%2, %5] : f3\n", "no such function"},
      {"%6 = call @three [] : f3\n", "no such function"},
      {"%6 = global none @linear : sampler\n%7 = global none @layers : image_depth_2d_array\n"
       "%8 = builtin sample_dref_lod [%6, %7, %2, %1, %1] : f1\n",
       ""},
      {"%6 = global none @linear : sampler\n%7 = global none @albedo : image_color_2d\n"
       "%8 = builtin sample_lod [%6, %7, %2, %1] : f4\n",
       "type of an argument"},
      {"%6 = global none @linear : sampler\n%7 = global none @albedo : image_color_2d\n"
       "%8 = builtin sample_dref [%6, %7, %2, %1] : f1\n",
       "not for this image"},
      {"%7 = global none @albedo : image_color_2d\n%8 = builtin sample [%7, %7, %2] : f4\n",
       "a sampler and an image"},
  };
  ExpectVerdicts(kRows);
}

TEST(Verify, NamesOfEnclosingRegions_AreVisible) {
  constexpr std::string_view kText = R"(variant compute
entry compute @main "main" {
  function @main() -> void {
    region r0 {
      var $a : f1
      exit $exit
      %1 = flag true : bool
      loop $exit {
        yield %1
      } {
        insertion_point r1
      } {
      }
    }
    region r1 {
      var $b : f1
      %1 = local $a : f1
      if %2 {
        break $exit
      }
    }
  }
}
)";
  std::string legal(kText);
  legal.replace(legal.find("if %2"), 5, "%2 = flag true : bool\n if %2");
  const Result<ParsedVariant> parsed = ParseVariant(legal);
  ASSERT_TRUE(parsed.ok()) << parsed.error().context;
  EXPECT_TRUE(Verify(parsed->variant).ok()) << Verify(parsed->variant).error().context;
  // the inner name is not visible outside
  std::string wrong = legal;
  wrong.replace(wrong.find("loop $exit"), 0, "%3 = local $b : f1\n");
  const Result<ParsedVariant> outside = ParseVariant(wrong);
  ASSERT_TRUE(outside.ok()) << outside.error().context;
  EXPECT_FALSE(Verify(outside->variant).ok());
}

TEST(Verify, RegionWithBadRows_IsRefused) {
  const auto broken = [](auto breaks) {
    Result<ParsedVariant> parsed = VariantOf("%6 = binary add %2, %2 : f3\ninsertion_point r1\n");
    SpecialisedRegion& region = *parsed->regions[0];
    EXPECT_TRUE(Verify(region, *parsed->pool).ok());
    breaks(region);
    return Verify(region, *parsed->pool).ok();
  };
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.body = BlockId{7}; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.blocks[0].count = 1000; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.block_insts[1] = s.block_insts[0]; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.insts[0].type = TypeId{1000}; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.insts[0].kind = InstKind::kNameRef; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.insts[5].flags = 99; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.insts[0].a = 1000; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.insts[5].a = 5; }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.insertion_points.clear(); }));
  EXPECT_FALSE(broken([](SpecialisedRegion& s) { s.insertion_points.push_back(RegionId{9}); }));
}

}  // namespace
}  // namespace kiln::ir
