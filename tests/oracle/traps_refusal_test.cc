// SPDX-License-Identifier: MIT
// Appendix A of spec/rpl: traps of declarations, names and limits: what is refused and what is not.
#include <fmt/format.h>

#include "tests/oracle/traps.h"

namespace kiln::oracle {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

TEST_F(RplTraps, DepthComparison_OfArraysAndVolumes) {
  const std::string images =
      "set_pass sampler s;\nset_pass image_depth_2d_array layers;\nset_pass image_depth_3d "
      "volume;\n";
  EXPECT_EQ(SaidOfCode("f1 a = sample_dref (s, layers, 1u, f2 { 0.5 }, 0.5);", images), "");
  EXPECT_EQ(SaidOfCode("f1 a = sample_dref (s, volume, f3 { 0.5 }, 0.5);", images),
            "RPL5044 depth comparison on 3D image 'volume'\n");
  EXPECT_EQ(
      SaidOfCode("f1 a = sample_dref (s, layers, 1, f2 { 0.5 }, 0.5);", images),
      "RPL5045 'sample_dref' on image_depth_2d_array takes (u1, f2, f1), found (s1, f2, f1)\n");
}

TEST_F(RplTraps, FieldAliasCycles_ArePrinted) {
  EXPECT_THAT(Said("set_pass uniform_buffer b { f4 v; alias (a, a) };"), StartsWith("RPL4032"));
  EXPECT_THAT(Said("set_pass uniform_buffer b { f4 v; alias (a, c) alias (c, a) };"),
              StartsWith("RPL4032"));
  EXPECT_THAT(
      Said("set_pass uniform_buffer b { f4 v; alias (a, c.x) alias (c, d.x) alias (d, a.x) };"),
      StartsWith("RPL4032"));
}

TEST_F(RplTraps, AliasFirstInAContainer_IsAnAlias) {
  EXPECT_EQ(Said("state_container s { alias (short_name, long_name.xy) f4 long_name; };\n"
                 "color_output_container target { f4 color; };\n"
                 "void main (void) { target.color = f4 { s.short_name, 0.0, 1.0 }; }",
                 "fragment:main"),
            "");
}

TEST_F(RplTraps, Recursion_IsRefused) {
  EXPECT_THAT(Said("void main (void) { f (); } void f (void) { f (); }", "fragment:main"),
              StartsWith("RPL5020 function 'f' calls itself through "));
  EXPECT_THAT(Said("void main (void) { f (); } void f (void) { g (); } void g (void) { f (); }",
                   "fragment:main"),
              StartsWith("RPL5020 "));
}

TEST_F(RplTraps, StructThatContainsItself_IsRefused) {
  EXPECT_THAT(SaidOfCode("node_t n;", "struct node_t { f1 x; node_t next; };"),
              StartsWith("RPL4023 struct 'node_t' contains itself through "));
  EXPECT_THAT(SaidOfCode("node_t n;", "struct node_t { f1 x; node_t[2] next; };"),
              StartsWith("RPL4023"));
  EXPECT_THAT(SaidOfCode("node_t n;",
                         "struct node_t { f1 x; leaf_t leaf; };\n"
                         "struct leaf_t { node_t[2] up; };"),
              StartsWith("RPL4023"));
}

TEST_F(RplTraps, CompileTimeArithmetic_ByZeroAndBeyond) {
  EXPECT_EQ(Said("constant a = 1u / 0u;"), "RPL3019 '/' by zero\n");
  EXPECT_EQ(Said("constant a = 1 % 0;"), "RPL3019 '%' by zero\n");
  EXPECT_EQ(Said("constant a = -2147483648 / -1;"),
            "RPL3020 sint result of '/' does not fit in 32 bits\n");
  EXPECT_EQ(Said("constant a = 1u << 32u;"), "RPL3021 shift by 32, the limit is 31\n");
  EXPECT_EQ(Said("constant a = 1u >> 4294967295u;"),
            "RPL3021 shift by 4294967295, the limit is 31\n");
  EXPECT_EQ(Said("constant a = 1u << 31u;"), "");
}

TEST_F(RplTraps, ForWithoutInitialiser_IsRefused) {
  EXPECT_EQ(SaidOfCode("for (u1 i; i < 3u; i = i + 1u) { }"),
            "RPL1161 loop variable 'i' needs an initialiser\n");
}

TEST_F(RplTraps, CommentAtTheEnd_NeedsNoLineFeed) {
  EXPECT_EQ(Said("constant a = 1u; // the end"), "");
  EXPECT_EQ(Said("//"), "");
}

TEST_F(RplTraps, CommentsInsideConstructs_AreSeparators) {
  EXPECT_EQ(Said("set_pass// a\nuniform_buffer// b\nb// c\n{ meta// d\n(// e\ntag// f\n)// g\n"
                 "f4// h\nv// i\n;// j\nalias// k\n(// l\na// m\n,// n\nv// o\n.// p\nx// q\n)// "
                 "r\n}// s\n;\n"
                 "vertex_attribute_container c { pack// t\n(// u\nunorm8// v\n) f4 color; };\n"
                 "color_output_container d { f4 e; };\n"
                 "setting// w\ncolor_output_use_blend// x\nblock// y\n0// z\n= true;\n"
                 "global// 1\nx// 2\n:// 3\nsint// 4\n-// 5\n3// 6\n;"),
            "");
}

TEST_F(RplTraps, OptionDefaults_PositiveSintAndHexadecimal) {
  const BuiltVariant variant({.sources = {"global a: sint 3s;\nglobal b: uint 0x1F;\n"
                                          "global c: sint -3;\nglobal d: uint 0b101;\n"
                                          "conditional (a == 3 && b == 31u && c == -3 && d == 5u) "
                                          "set_pass sampler s;"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  EXPECT_EQ(variant.metadata().sets[0].samplers.size(), 1U);
}

TEST_F(RplTraps, PackWithInnerSpaces_IsAPack) {
  const BuiltVariant variant(
      {.sources = {"vertex_attribute_container v { pack( unorm8 ) f4 color; };"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  EXPECT_EQ(variant.metadata().attribute_sources[0].block_size, 4U);
}

TEST_F(RplTraps, LiteralOverflow_MoreThanOnceAround) {
  for (const std::string text : {"4294967296u", "8589934592u", "18446744073709551616u",
                                 "340282366920938463463374607431768211456u"}) {
    EXPECT_THAT(SaidOfCode("u1 a = " + text + ";"), StartsWith("RPL1006 ")) << text;
  }
  EXPECT_THAT(SaidOfCode("u1 a = 0x100000000;"), StartsWith("RPL1006 "));
  EXPECT_THAT(SaidOfCode("s1 a = 2147483648;"), StartsWith("RPL1006 "));
  EXPECT_THAT(SaidOfCode("s1 a = 1 - 2147483648;"), StartsWith("RPL1006 "));
  EXPECT_EQ(SaidOfCode("s1 a = 1 - -2147483648;"), "");
  EXPECT_EQ(SaidOfCode("u1 a = 4294967295u; u1 b = 0xffffffff; u1 c = 000000000000004294967295u;"),
            "");
}

TEST_F(RplTraps, ArraySizeZero_IsRefused) {
  EXPECT_EQ(SaidOfCode("f1[0u] a;"), "RPL4002 array size of 'a' is 0, it must be positive\n");
  EXPECT_EQ(SaidOfCode("f1[-1] a;"), "RPL4002 array size of 'a' is -1, it must be positive\n");
  EXPECT_EQ(Said("set_pass image_color_2d[0] a;"),
            "RPL4002 array size of 'a' is 0, it must be positive\n");
}

TEST_F(RplTraps, ImageArrayOfSizeOne_StaysAnArray) {
  const std::string declarations = "set_pass sampler s;\nset_pass image_color_2d[1] images;\n";
  EXPECT_EQ(SaidOfCode("f4 a = sample (s, images[0], f2 { 0.5 });", declarations), "");
  EXPECT_EQ(SaidOfCode("f4 a = sample (s, images, f2 { 0.5 });", declarations),
            "RPL5041 argument 2 of 'sample' must be one image, found 'images'\n");
  const BuiltVariant variant({.sources = {declarations}});
  EXPECT_TRUE(variant.metadata().sets[0].images[0].is_array);
  EXPECT_EQ(variant.metadata().sets[0].images[0].image_array_size, 1U);
}

TEST_F(RplTraps, FloatModulusAndBits_AreRefused) {
  EXPECT_EQ(SaidOfCode("f1 a = 1.0; f1 b = a % 2.0;"),
            "RPL6023 operator '%' needs integers of one type, found 'f1' and 'f1'\n");
  EXPECT_EQ(SaidOfCode("f1 a = 1.0; f1 b = a & 2.0;"),
            "RPL6023 operator '&' needs integers of one type, found 'f1' and 'f1'\n");
}

TEST_F(RplTraps, ComparisonOfVectors_IsRefused) {
  EXPECT_EQ(SaidOfCode("f2 a = f2 { 1.0 }; if (a == a) { }"),
            "RPL6025 operator '==' compares scalars of one type, found 'f2' and 'f2'\n");
  EXPECT_EQ(SaidOfCode("u3 a = u3 { 1u }; if (a < a) { }"),
            "RPL6025 operator '<' compares scalars of one type, found 'u3' and 'u3'\n");
}

TEST_F(RplTraps, InstanceOptions_LaunderedThroughConstants) {
  const std::string laundered = "instance x: uint 2;\nconstant a = x;\nconstant b = a + 1u;\n";
  EXPECT_THAT(Said(laundered + "set_pass uniform_buffer u { f4[b] v; };"),
              StartsWith("RPL3002 constant 'b' depends on instance option 'x'"));
  EXPECT_THAT(Said(laundered + "conditional (b == 3u) set_pass sampler s;"), StartsWith("RPL3002"));
  EXPECT_THAT(Said("instance x: uint 2;\nset_pass image_color_2d[x] images;"),
              StartsWith("RPL3001 instance option 'x'"));
}

TEST_F(RplTraps, InstanceOptions_LaunderedThroughConditionalsOfConstants) {
  EXPECT_THAT(Said("instance x: flag true;\nconditional (x) constant a = 4u;\n"
                   "conditional (!x) constant a = 8u;\nset_pass uniform_buffer u { f4[a] v; };"),
              StartsWith("RPL3002 constant 'a' depends on instance option 'x'"));
  EXPECT_THAT(Said("instance x: flag true;\nconditional (!x) constant a = 4u;\n"
                   "constant a = 8u;\nset_pass uniform_buffer u { f4[a] v; };"),
              StartsWith("RPL3002"));
}

TEST_F(RplTraps, TwoActiveConstantsOfOneName) {
  EXPECT_EQ(Said("constant a = 1u;\nconstant a = 1u;"),
            "RPL3024 constant 'a' has two active declarations\n");
}

TEST_F(RplTraps, NameClashes_WithArgumentsConstantsAndFunctions) {
  EXPECT_EQ(
      Said("void f (in f1 x) { f1 x = 1.0; }\nvoid main (void) { f (1.0); }", "fragment:main"),
      "RPL6040 variable 'x' has the name of argument 'x'\n");
  EXPECT_EQ(SaidOfCode("f1 size = 1.0;", "constant size = 1u;"),
            "RPL6040 variable 'size' has the name of constant 'size'\n");
  EXPECT_EQ(SaidOfCode("f1 sample = 1.0;"),
            "RPL1107 'sample' is the name of an inbuilt function\n");
  EXPECT_EQ(Said("constant max_f3 = 1u;"), "RPL1107 'max_f3' is the name of an inbuilt function\n");
  EXPECT_EQ(SaidOfCode("f1 helper = 1.0; helper ();", "void helper (void) { }"),
            "RPL6040 variable 'helper' has the name of function 'helper'\n");
}

TEST_F(RplTraps, ConditionalBeforeABrace_AppliesToNothing) {
  EXPECT_THAT(Said("set_pass uniform_buffer u { f4 v; conditional (true) };"),
              StartsWith("RPL1103 conditional before "));
  EXPECT_THAT(Said("conditional (true)"), StartsWith("RPL1103 conditional before "));
}

TEST_F(RplTraps, EmptyFieldList_IsRefused) {
  EXPECT_EQ(Said("struct s { };"), "RPL1136 's' has no fields\n");
  EXPECT_EQ(Said("set_pass uniform_buffer u { alias (a, b) };"), "RPL1136 'u' has no fields\n");
}

TEST_F(RplTraps, TwoPushConstants_OfDifferentModules) {
  EXPECT_EQ(SaidOfModules({"push_constant a { f4 v; };", "push_constant b { f4 v; };"}),
            "RPL4054 push constants 'b' and 'a' are both active\n");
  EXPECT_EQ(SaidOfModules(
                {"push_constant a { f4 v; };", "conditional (false) push_constant b { f4 v; };"}),
            "");
}

TEST_F(RplTraps, Tails_OnlyAtTheEndOfReadOnlyBuffers) {
  EXPECT_THAT(Said("set_pass read_only_storage_buffer b { f4... items; f4 behind; };"),
              StartsWith("RPL4051 "));
  EXPECT_THAT(Said("set_pass uniform_buffer b { f4 v; f4... items; };"), StartsWith("RPL4052 "));
  EXPECT_THAT(Said("struct tail_t { f4 v; f4... items; };\n"
                   "set_pass uniform_buffer b { f4 v; tail_t tail; };"),
              StartsWith("RPL4052 "));
  EXPECT_THAT(Said("struct tail_t { f4 v; f4... items; };\n"
                   "set_pass read_only_storage_buffer b { tail_t tail; f4 v; };"),
              StartsWith("RPL4051 "));
  EXPECT_EQ(Said("struct tail_t { f4 v; f4... items; };\n"
                 "set_pass read_only_storage_buffer b { f4 v; tail_t tail; };"),
            "");
  EXPECT_THAT(SaidOfCode("tail_t t;", "struct tail_t { f4 v; f4... items; };"),
              StartsWith("RPL4015 "));
}

TEST_F(RplTraps, BlockLimits_AreThoseOfVulkan) {
  EXPECT_EQ(Said("set_pass uniform_buffer b { f4[1024] v; };"), "");
  EXPECT_THAT(Said("set_pass uniform_buffer b { f4[1025] v; };"),
              StartsWith("RPL4053 uniform buffer 'b' has 16400 bytes, the limit is 16384"));
  EXPECT_EQ(Said("push_constant p { f4[8] v; };"), "");
  EXPECT_THAT(Said("push_constant p { f4[8] v; f4 w; };"),
              StartsWith("RPL4053 push constant 'p' has 144 bytes, the limit is 128"));
}

TEST_F(RplTraps, EntryPoints_AreNoOthers) {
  EXPECT_EQ(Said("void main (void) { vertex_stage_output_position (f4 { 0.0 }); }",
                 "vertex:main fragment:main"),
            "RPL5006 function 'main' is the entry point of two stages\n");
  EXPECT_THAT(Said("void main (void) { f (); } void f (void) { }\nvoid g (void) { main (); }",
                   "vertex:g fragment:main"),
              HasSubstr("RPL5008 entry point 'main' is called by 'g'\n"));
  EXPECT_EQ(Said("void main (in f1 x) { }", "fragment:main"),
            "RPL5003 entry point 'main' must return void and take no arguments\n");
}

TEST_F(RplTraps, PackClass_FitsTheFieldType) {
  EXPECT_EQ(Said("vertex_attribute_container v { pack (uint16) f2 uv; };"),
            "RPL4042 pack 'uint16' does not fit type 'f2' of field 'uv'\n");
  EXPECT_EQ(Said("vertex_attribute_container v { pack (unorm8) u4 joints; };"),
            "RPL4042 pack 'unorm8' does not fit type 'u4' of field 'joints'\n");
  EXPECT_EQ(Said("vertex_attribute_container v { pack (float8) f2 uv; };"),
            "RPL4041 pack class 'float' has no 8-bit form\n");
}

TEST_F(RplTraps, StencilMasks_AreBytes) {
  EXPECT_EQ(Said("setting stencil_front_compare_mask = 255u;"), "");
  EXPECT_EQ(Said("setting stencil_front_compare_mask = 256u;"),
            "RPL7007 setting 'stencil_front_compare_mask' is 256, the limit is 255\n");
}

TEST_F(RplTraps, DeepNesting_IsRefusedNotCrashed) {
  for (const size_t depth : {size_t{257}, size_t{10'000}, size_t{900'000}}) {
    EXPECT_THAT(SaidOfCode("u1 a = " + Repeated("(", depth) + "1u" + Repeated(")", depth) + ";"),
                HasSubstr("RPL1009 "))
        << depth;
    EXPECT_THAT(SaidOfCode(Repeated("{", depth) + Repeated("}", depth)), HasSubstr("RPL1009 "))
        << depth;
    EXPECT_THAT(SaidOfCode("s1 a = " + Repeated("- ", depth) + "1;"), HasSubstr("RPL1009 "))
        << depth;
  }
  EXPECT_EQ(SaidOfCode("u1 a = " + Repeated("(", 250) + "1u" + Repeated(")", 250) + ";"), "");
}

}  // namespace
}  // namespace kiln::oracle
