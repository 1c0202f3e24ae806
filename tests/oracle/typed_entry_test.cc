// SPDX-License-Identifier: MIT
// Entry points of typed modules: the rows of their interfaces, the code around them, how stages
// meet, and what is refused. See docs/IR.md, "Entry points".
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/print_specialised.h"
#include "tests/support/built_variant.h"

namespace kiln {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A body that returns its only input, or nothing.
std::string Function(std::string_view name, std::string_view parameters, std::string_view result,
                     std::string_view body = "") {
  std::string text = "function @" + std::string(name) + "(" + std::string(parameters) + ") -> " +
                     std::string(result) + " {\n" + std::string(body) + "}\n";
  return text;
}

constexpr std::string_view kHeader = "module hlsl 6 typed\n";

BuiltVariant Built(const std::string& text, std::vector<std::string> entries,
                   std::vector<std::string> options = {}) {
  return BuiltVariant({.entries = std::move(entries),
                       .options = std::move(options),
                       .environment = "vulkan1.1",
                       .modules = {std::string(kHeader) + text}});
}

std::string Specialised(const std::string& text, std::vector<std::string> entries,
                        std::vector<std::string> options = {}) {
  const BuiltVariant variant = Built(text, std::move(entries), std::move(options));
  EXPECT_TRUE(variant.ok()) << variant.messages() << text;
  return variant.ok() ? ir::Print(variant.specialised()) : "";
}

std::string Messages(const std::string& text, std::vector<std::string> entries) {
  const BuiltVariant variant = Built(text, std::move(entries));
  EXPECT_FALSE(variant.ok()) << text;
  return variant.messages();
}

// The example of docs/IR.md.
constexpr std::string_view kPair = R"(struct @vertex_in {
  place : f3 semantic("POSITION", 0)
  uv : f2 semantic("TEXCOORD", 0)
}
struct @varyings {
  place : f4 semantic("SV_Position", 0)
  uv : f2 semantic("TEXCOORD", 0) interpolation(no_perspective)
  layer : u1 semantic("LAYER", 0)
}
function @vertex_main(in $input : @vertex_in, in $id : u1 semantic("SV_VertexID", 0)) -> @varyings {
  %1 = param $input : @vertex_in
  %2 = extract %1, 0 : f3
  %3 = const f1 1.0
  %4 = construct [%2, %3] : f4
  %5 = extract %1, 1 : f2
  %6 = param $id : u1
  %7 = construct [%4, %5, %6] : @varyings
  return %7
}
function @pixel_main(in $input : @varyings) -> f4 semantic("SV_Target", 0) {
  %1 = param $input : @varyings
  %2 = extract %1, 1 : f2
  %3 = extract %1, 0 : f4
  %4 = swizzle %3, xy : f2
  %5 = construct [%2, %4] : f4
  return %5
}
)";

TEST(TypedEntries, APairOfStages_HasTheRowsOfItsSignatures) {
  const std::string text =
      Specialised(std::string(kPair), {"vertex:vertex_main", "fragment:pixel_main"});
  EXPECT_THAT(text, HasSubstr(R"(entry vertex @vertex_main "vertex_main" {
  io in "input.place" : f3 semantic("POSITION", 0) location(0)
  io in "input.uv" : f2 semantic("TEXCOORD", 0) location(1)
  io in "id" : u1 builtin("VertexIndex")
  io out "place" : f4 builtin("Position")
  io out "uv" : f2 semantic("TEXCOORD", 0) location(0) interpolation(no_perspective)
  io out "layer" : u1 semantic("LAYER", 0) location(1) interpolation(flat)
)")) << text;
  EXPECT_THAT(text, HasSubstr(R"(entry fragment @pixel_main "pixel_main" {
  io in "input.place" : f4 builtin("FragCoord")
  io in "input.uv" : f2 semantic("TEXCOORD", 0) location(0) interpolation(no_perspective)
  io in "input.layer" : u1 semantic("LAYER", 0) location(1) interpolation(flat)
  io out "result" : f4 semantic("SV_Target", 0) location(0)
  function @pixel_main() -> void in fragment {
    region r0 {
      var $input : varyings
)")) << text;
}

TEST(TypedEntries, ModulesSayWhatRowsAre) {
  const BuiltVariant variant =
      Built(std::string(kPair), {"vertex:vertex_main", "fragment:pixel_main"});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  EXPECT_THAT(variant.Disassembly(ir::Stage::kVertex),
              AllOf(HasSubstr("BuiltIn VertexIndex"), HasSubstr("BuiltIn Position"),
                    HasSubstr("Location 1"), HasSubstr("NoPerspective"), HasSubstr("Flat")));
  EXPECT_THAT(variant.Disassembly(ir::Stage::kFragment),
              AllOf(HasSubstr("BuiltIn FragCoord"), HasSubstr("OriginUpperLeft")));
}

// The fragment stage takes the members in another order, and not all.
TEST(TypedEntries, StagesMeetBySemantic) {
  const std::string text = Specialised(
      Function(
          "v", "", "@out",
          "  %1 = const f4 {f1 0.0, f1 0.0, f1 0.0, f1 1.0}\n  %2 = const f2 {f1 0.0, f1 1.0}\n"
          "  %3 = const f3 {f1 0.0, f1 1.0, f1 2.0}\n"
          "  %4 = construct [%1, %2, %3] : @out\n  return %4\n")
              .insert(0,
                      "struct @out {\n  p : f4 semantic(\"SV_Position\", 0)\n"
                      "  a : f2 semantic(\"A\", 0)\n  b : f3 semantic(\"B\", 3)\n}\n") +
          Function("f", "in $y : f2 semantic(\"b\", 3), in $x : f2 semantic(\"a\", 0)",
                   "f2 semantic(\"SV_TARGET\", 2)", "  %1 = param $y : f2\n  return %1\n"),
      {"vertex:v", "fragment:f"});
  EXPECT_THAT(text,
              AllOf(HasSubstr("io in \"y\" : f2 semantic(\"b\", 3) location(1)"),
                    HasSubstr("io in \"x\" : f2 semantic(\"a\", 0) location(0)"),
                    HasSubstr("io out \"result\" : f2 semantic(\"SV_TARGET\", 2) location(2)")));
}

TEST(TypedEntries, WhatTheVertexStageDoesNotWrite_IsDeclaredByIt) {
  const BuiltVariant variant =
      Built(Function("v", "", "f4 semantic(\"SV_Position\", 0)",
                     "  %1 = const f4 {f1 0.0, f1 0.0, f1 0.0, f1 1.0}\n  return %1\n") +
                Function("f", "in $uv : f2 semantic(\"UV\", 0)", "f2 semantic(\"SV_Target\", 0)",
                         "  %1 = param $uv : f2\n  return %1\n"),
            {"vertex:v", "fragment:f"});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  EXPECT_THAT(variant.messages(), HasSubstr("HLSL5010 pixel stage reads 'UV'"));
  EXPECT_THAT(ir::Print(variant.specialised()),
              HasSubstr("io out \"uv\" : f2 semantic(\"UV\", 0) location(0)"));
}

// `out` and `in out` parameters, several returns, one of them in a branch.
TEST(TypedEntries, EachReturnStoresTheOutputs) {
  const std::string text = Specialised(
      Function("f", "in $x : f1 location(0), out $a : f4 location(0), in_out $b : f4 location(1)",
               "void", R"(  %1 = param $x : f1
  %2 = const f1 0.5
  %3 = binary less %1, %2 : bool
  %4 = const f4 {f1 1.0, f1 2.0, f1 3.0, f1 4.0}
  %5 = local $a : f4
  store %5, %4
  if %3 {
    return _
  }
  %6 = local $b : f4
  store %6, %4
)"),
      {"fragment:f"});
  EXPECT_THAT(text, HasSubstr("io in \"b\" : f4 location(1)\n"));
  EXPECT_THAT(text, HasSubstr("io out \"b\" : f4 location(1)\n"));
  size_t stores = 0;
  for (size_t at = text.find("io 1 : f4"); at != std::string::npos;
       at = text.find("io 1 : f4", at + 1)) {
    ++stores;
  }
  EXPECT_EQ(stores, 2U) << text;
}

TEST(TypedEntries, AFunctionMayBeCalledAndChosen) {
  const std::string source =
      Function("f", "in $x : f4 location(0)", "f4 location(0)",
               "  %1 = param $x : f4\n  %2 = binary add %1, %1 : f4\n  return %2\n") +
      Function("g", "in $x : f4 location(0)", "f4 location(0)",
               "  %1 = param $x : f4\n  %2 = call @f [%1] : f4\n  return %2\n");
  EXPECT_THAT(Specialised(source, {"fragment:f"}), Not(HasSubstr("param in $x")));
  const std::string text = Specialised(source, {"fragment:g"});
  EXPECT_THAT(text, AllOf(HasSubstr("function @g() -> void in fragment"),
                          HasSubstr("function @f(in $x : f4 location(0)) -> f4 location(0) {")));
  const std::string both = Specialised(
      source + Function("v", "in $x : f4 location(0)", "f4 builtin(\"Position\")",
                        "  %1 = param $x : f4\n  %2 = call @g [%1] : f4\n  return %2\n"),
      {"vertex:v", "fragment:g"});
  EXPECT_THAT(both, AllOf(HasSubstr("entry fragment @g#2 \"g\""), HasSubstr("function @g(in"),
                          HasSubstr("function @g#2() -> void in fragment")));
}

// A region that is cut out of an entry version finds parameters in the variables of the body.
TEST(TypedEntries, RegionsThatAreCutOut_SeeParameters) {
  const std::string source =
      "option global fog : flag = true\ncexpr ?1 = name \"fog\"\n" +
      Function("f", "in $x : f4 location(0), out $y : f4 location(0)", "void", R"(  when ?1 {
    %1 = param $x : f4
    %2 = local $y : f4
    store %2, %1
  }
)");
  const std::string text = Specialised(source, {"fragment:f"});
  EXPECT_THAT(
      text, AllOf(HasSubstr("insertion_point r1"), HasSubstr("local $x : f4"), HasSubstr("load")));
  EXPECT_THAT(Specialised(source, {"fragment:f"}, {"fog=false"}), Not(HasSubstr("region r1")));
}

TEST(TypedEntries, MembersThatAreGone_AreNoRows) {
  const std::string source =
      "option global fog : flag = true\ncexpr ?1 = name \"fog\"\n"
      "struct @io {\n  a : f4 semantic(\"A\", 0) where ?1\n  b : f2 semantic(\"B\", 0)\n}\n" +
      Function("f", "in $x : @io", "f2 location(0)",
               "  %1 = param $x : @io\n  %2 = extract %1, 1 : f2\n  return %2\n");
  EXPECT_THAT(Specialised(source, {"fragment:f"}),
              AllOf(HasSubstr("\"x.a\" : f4 semantic(\"A\", 0) location(0)"),
                    HasSubstr("\"x.b\" : f2 semantic(\"B\", 0) location(1)")));
  EXPECT_THAT(
      Specialised(source, {"fragment:f"}, {"fog=false"}),
      AllOf(Not(HasSubstr("x.a")), HasSubstr("\"x.b\" : f2 semantic(\"B\", 0) location(0)")));
}

struct Row {
  std::string_view parameter;  // of a fragment entry point
  std::string_view expected;   // a row, or a message
};

TEST(TypedEntries, AttributesMeetOnTheWayToLeaves) {
  const std::string structs = R"(struct @inner {
  x : f4 semantic("OWN", 7)
  m : f4x3 interpolation(centroid)
  y : f2
}
struct @outer {
  first : @inner
  second : f1
}
)";
  const std::string text = Specialised(
      structs + Function("f", "in $p : @outer semantic(\"UV\", 2) interpolation(sample)", "void"),
      {"fragment:f"});
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("\"p.first.x\" : f4 semantic(\"UV\", 2) location(0) interpolation(sample)"),
            HasSubstr("\"p.first.m\" : f4x3 semantic(\"UV\", 3) location(1) "
                      "interpolation(centroid)"),
            HasSubstr("\"p.first.y\" : f2 semantic(\"UV\", 7) location(5)"),
            HasSubstr("\"p.second\" : f1 semantic(\"UV\", 8) location(6)")));
  EXPECT_THAT(
      Specialised(structs + Function("f", "in $p : @outer location(4)", "void"), {"fragment:f"}),
      AllOf(HasSubstr("\"p.first.y\" : f2 location(9)"),
            HasSubstr("\"p.second\" : f1 location(10)")));
}

TEST(TypedEntries, RowsHaveTypesThatTravel) {
  for (const Row& row : std::initializer_list<Row>{
           {"in $x : b3 location(0)", "\"x\" : u3 location(0) interpolation(flat)"},
           {"in $x : h2 location(0)", "\"x\" : f2 location(0)\n"},
           {"in $x : i2 location(0)", "\"x\" : s2 location(0) interpolation(flat)"},
           {"in $x : v1 location(0)", "\"x\" : u1 location(0) interpolation(flat)"},
           {"in $x : d3 location(0), in $y : f1 location(2)", "\"y\" : f1 location(2)"},
           {"in $x : f2[?1] semantic(\"A\", 0), in $y : f1 semantic(\"B\", 0)",
            "\"y\" : f1 semantic(\"B\", 0) location(3)"},
           {"in $x : s1 semantic(\"SV_Coverage\", 0)", "\"x\" : u1[1] builtin(\"SampleMask\")"},
           {"in $x : f2 semantic(\"SV_Position\", 0)", "\"x\" : f4 builtin(\"FragCoord\")"},
           {"in $x : f2 semantic(\"SV_ClipDistance\", 1), in $y : f1 semantic(\"SV_ClipDistance\", "
            "0)",
            " : f1[3] builtin(\"ClipDistance\")"}}) {
    EXPECT_THAT(Specialised("cexpr ?1 = literal uint 3\n" + Function("f", row.parameter, "void"),
                            {"fragment:f"}),
                HasSubstr(row.expected))
        << row.parameter;
  }
}

TEST(TypedEntries, ComputeShadersTakeBuiltIns) {
  const std::string text =
      Specialised(Function("f",
                           "in $x : s2 semantic(\"SV_DispatchThreadID\", 0), in $y : u1 "
                           "semantic(\"SV_GroupIndex\", 0), in $z : u3 builtin(\"NumWorkgroups\")",
                           "void"),
                  {"compute:f"});
  EXPECT_THAT(text,
              AllOf(HasSubstr("\"x\" : u3 builtin(\"GlobalInvocationId\")"),
                    HasSubstr("\"y\" : u1 builtin(\"LocalInvocationIndex\")"),
                    HasSubstr("\"z\" : u3 builtin(\"NumWorkgroups\")"), HasSubstr("convert")));
}

TEST(TypedEntries, DepthIsAPromise) {
  for (const auto& [semantic, mode] :
       {std::pair("SV_Depth", ""), std::pair("SV_DepthGreaterEqual", "DepthGreater"),
        std::pair("SV_DepthLessEqual", "DepthLess")}) {
    const BuiltVariant variant =
        Built(Function("f", "", "f1 semantic(\"" + std::string(semantic) + "\", 0)",
                       "  %1 = const f1 0.5\n  return %1\n"),
              {"fragment:f"});
    ASSERT_TRUE(variant.ok()) << variant.messages();
    EXPECT_THAT(
        variant.Disassembly(ir::Stage::kFragment),
        AllOf(HasSubstr("DepthReplacing"), HasSubstr(mode), HasSubstr("BuiltIn FragDepth")));
  }
}

TEST(TypedEntries, WhatIsWrong_IsSaid) {
  const std::string structs = "struct @pair {\n  a : f4\n  b : f4\n}\n";
  for (const Row& row : std::initializer_list<Row>{
           {"in $x : f4", "HLSL5001 input 'x' of 'f' has no semantic"},
           {"in $x : @pair", "HLSL5001 input 'x.a' of 'f' has no semantic"},
           {"in $x : f4 semantic(\"A\", 1), in $y : f4 semantic(\"a\", 1)",
            "HLSL5002 input semantic 'a1' is used twice"},
           {"in $x : f4x3 semantic(\"A\", 0), in $y : f4 semantic(\"A\", 3)",
            "HLSL5002 input semantic 'A3' is used twice"},
           {"in $x : u1 semantic(\"SV_VertexID\", 0)",
            "HLSL5003 'SV_VertexID' is not available as fragment input"},
           {"in $x : f4 builtin(\"Position\")",
            "HLSL5003 'Position' is not available as fragment input"},
           {"out $x : f4 semantic(\"COLOR\", 0)",
            "HLSL5003 'COLOR' is not available as fragment output"},
           {"out $x : f4 semantic(\"SV_Target\", 8)",
            "HLSL5003 'SV_Target8' is not available as fragment output"},
           {"in $x : f1 semantic(\"SV_IsFrontFace\", 0)",
            "HLSL5004 'SV_IsFrontFace' must be bool, found 'f1'"},
           {"out $x : f2 semantic(\"SV_Depth\", 0)", "HLSL5004 'SV_Depth' must be f1, found 'f2'"},
           {"in $x : u2 location(0) interpolation(centroid)",
            "HLSL5008 integer input 'x' must be 'nointerpolation', found 'centroid'"},
           {"in $x : @pair[?1] location(0)", "HLSL5009 'x' of type 'pair[2]' cannot cross stages"},
           {"in $x : b2x2 location(0)", "HLSL5009 'x' of type 'b2x2' cannot cross stages"},
           {"in $x : sampler location(0)", "HLSL5009 'x' of type 'sampler' cannot cross stages"},
           {"in $x : f4[?2] semantic(\"SV_ClipDistance\", 0)", "HLSL5013"},
           {"in $x : f4 semantic(\"SV_ClipDistance\", 0), in $y : f4 semantic(\"SV_ClipDistance\", "
            "1), in $z : f1 semantic(\"SV_CullDistance\", 0)",
            "HLSL5013 elements of 'SV_CullDistance' must be floats, at most 8"},
           {"in $x : u1 semantic(\"SV_ViewID\", 0)", "HLSL8004 'SV_ViewID'"},
           {"in $x : f4 location(1), in $y : f4 location(1)",
            "LAY2001 'y' overlaps 'x' at location 1"},
           {"in $x : f4 location(1) semantic(\"A\", 0), in $y : f4 semantic(\"B\", 0)",
            "LAY2007 'y' has no location while 'x' has one"},
           {"in $x : f4 location(200)", "LIM1001"},
           {"in $x : @pair builtin(\"FragCoord\")", "RPL9001"}}) {
    EXPECT_THAT(Messages(structs + "cexpr ?1 = literal uint 2\ncexpr ?2 = literal uint 9\n" +
                             Function("f", row.parameter, "void"),
                         {"fragment:f"}),
                HasSubstr(row.expected))
        << row.parameter;
  }
}

TEST(TypedEntries, StagesThatDisagree_AreRefused) {
  const auto pair = [](std::string_view output, std::string_view input) {
    const std::string both = std::string(output) + ", out $p : f4 semantic(\"SV_Position\", 0)";
    return Function("v", both, "void") + Function("f", input, "void");
  };
  for (const auto& [output, input, expected] :
       {std::tuple("out $a : f2 semantic(\"A\", 0)", "in $a : f3 semantic(\"A\", 0)",
                   "HLSL5011 'A' is 'f2' in the vertex and 'f3' in the pixel stage"),
        std::tuple("out $a : u2 semantic(\"A\", 0)", "in $a : s2 semantic(\"A\", 0)",
                   "HLSL5011 'A' is 'u2' in the vertex and 's2' in the pixel stage"),
        std::tuple("out $a : u2 semantic(\"A\", 0) location(1)",
                   "in $a : u2 semantic(\"A\", 0) location(2)",
                   "HLSL5011 'A' is 'location 1' in the vertex and 'location 2'")}) {
    EXPECT_THAT(Messages(pair(output, input), {"vertex:v", "fragment:f"}), HasSubstr(expected));
  }
}

// A struct that holds another twice, which holds another twice, and so on.
TEST(TypedEntries, InterfacesAreBounded) {
  std::string text = "struct @s0 {\n  a : f1\n  b : f1\n}\n";
  for (uint32_t i = 1; i < 40; ++i) {
    const std::string below = "@s" + std::to_string(i - 1);
    text += "struct @s" + std::to_string(i) + " {\n  a : " + below + "\n  b : " + below + "\n}\n";
  }
  EXPECT_THAT(
      Messages(text + Function("f", "in $x : @s39 semantic(\"A\", 0)", "void"), {"fragment:f"}),
      HasSubstr("LIM1001"));
}

}  // namespace
}  // namespace kiln
