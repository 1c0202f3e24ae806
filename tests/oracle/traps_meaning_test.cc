// SPDX-License-Identifier: MIT
// Appendix A of spec/rpl: traps of evaluation and control flow.
#include <fmt/format.h>

#include "tests/oracle/traps.h"

namespace kiln::oracle {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// --- a && (b || c)
TEST_F(RplTraps, ShortCircuit_NestedOperands_GiveTheTruthTable) {
  std::string sum;
  for (uint32_t i = 0; i < 8; ++i) {
    sum += fmt::format("total = total + (holds ({}u, {}u, {}u) << {}u);\n", i >> 2, i >> 1 & 1,
                       i & 1, i);
  }
  const std::string probe = Probe("u1 total = 0u;\n" + sum + "result.u0.x = total;");
  const std::string function =
      "u1 holds (in u1 a, in u1 b, in u1 c) {{ if ({}) {{ return 1u; }} return 0u; }}\n";
  const std::pair<std::string_view, uint32_t> rows[] = {
      {"a == 1u && (b == 1u || c == 1u)", 0b11100000},
      {"a == 1u || (b == 1u && c == 1u)", 0b11111000},
      {"(a == 1u && b == 1u) || c == 1u", 0b11101010},
      {"a == 1u && b == 1u || c == 1u", 0b11101010},
      {"!(a == 1u && (b == 1u || c == 1u))", 0b00011111}};
  for (const auto& [condition, expected] : rows) {
    Unsigneds(fmt::format(fmt::runtime(function), condition) + probe, {expected});
  }
}

TEST_F(RplTraps, ShortCircuit_RightOperandWithCall_RunsOnlyIfNeeded) {
  Unsigneds("u1 count (in out u1 calls) { calls = calls + 1u; return calls; }\n" +
                Probe("u1 calls = 0u;\n"
                      "if (index < 1000u && (count (calls) == 9u || count (calls) == 2u)) "
                      "{ result.u0.y = 1u; }\n"
                      "if (index > 1000u && count (calls) == 3u) { result.u0.z = 1u; }\n"
                      "result.u0.x = calls;"),
            {2, 1, 0});
}

// --- continue
TEST_F(RplTraps, Continue_InFor_RunsTheStep) {
  Unsigneds(Probe("u1 sum = 0u;\n"
                  "for (u1 i = 0u; i < 6u; i = i + 1u)\n"
                  "{ if (i % 2u == 0u) { continue; } sum = sum * 10u + i; }\n"
                  "result.u0.x = sum;"),
            {135});
}

TEST_F(RplTraps, Continue_InWhile_TestsTheConditionAgain) {
  Unsigneds(Probe("u1 sum = 0u;\nu1 i = 0u;\n"
                  "while (i < 6u)\n"
                  "{ i = i + 1u; if (i == 3u) { continue; } sum = sum * 10u + i; }\n"
                  "result.u0.x = sum;"),
            {12456});
}

TEST_F(RplTraps, Continue_InNestedLoops_MeansTheInnerOne) {
  Unsigneds(
      Probe(
          "u1 sum = 0u;\n"
          "for (u1 i = 0u; i < 3u; i = i + 1u)\n"
          "{\n"
          "    u1 j = 0u;\n"
          "    while (j < 4u)\n"
          "    { j = j + 1u; if (j == 2u) { continue; } if (j == 4u) { break; } sum = sum + j; }\n"
          "    if (i == 1u) { continue; }\n"
          "    sum = sum + 100u;\n"
          "}\n"
          "result.u0.x = sum;"),
      {3 * (1 + 3) + 200});
}

TEST_F(RplTraps, Continue_InsideConditionalScopes_IsThatOfTheLoop) {
  const std::string body =
      "u1 sum = 0u;\n"
      "for (u1 i = 0u; i < 5u; i = i + 1u)\n"
      "{ conditional (skip) { if (i == 2u) { continue; } } sum = sum * 10u + i; }\n"
      "result.u0.x = sum;";
  Unsigneds("global skip: flag true;\n" + Probe(body), {134});
  Unsigneds("global skip: flag false;\n" + Probe(body), {1234});
}

TEST_F(RplTraps, Continue_EndingAConditionalScope_EndsThePass) {
  const std::string body =
      "u1 sum = 0u;\n"
      "for (u1 i = 0u; i < 3u; i = i + 1u)\n"
      "{ sum = sum + 1u; conditional (skip) { continue; } conditional (!skip) { sum = sum + 10u; } "
      "}\n"
      "result.u0.x = sum;";
  Unsigneds("global skip: flag true;\n" + Probe(body), {3});
  Unsigneds("global skip: flag false;\n" + Probe(body), {33});
}

// --- integer operators and functions
TEST_F(RplTraps, IntegerVectorTimesScalar_IsIntegerMultiplication) {
  Unsigneds(Probe("result.u0 = u4 { 1u, 2u, 3u, 0x80000000 } * 3u;"), {3, 6, 9, 0x80000000});
  Signeds(Probe("result.s0 = s4 { 1, -2, 3, 65536 } * -3;"), {-3, 6, -9, -196608});
  EXPECT_THAT(Code("color_output_container target { u4 out_color; };\n"
                   "state_container given { u1 scale; };\n"
                   "void main (void) { target.out_color = u4 { 1u, 2u, 3u, 4u } * given.scale; }",
                   "fragment:main"),
              Not(HasSubstr("OpVectorTimesScalar")));
}

TEST_F(RplTraps, UnsignedMinMaxClamp_AreUnsigned) {
  Unsigneds(Probe("u1 large = 0xfffffff0 + index * 0u;\n"
                  "result.u0 = u4 { min_u1 (large, 5u), max_u1 (large, 5u), "
                  "clamp_u1 (large, 1u, 9u), clamp_u1 (5u, 1u, large) };"),
            {5, 0xfffffff0, 9, 5});
}

TEST_F(RplTraps, SignedMinMaxClamp_AreSigned) {
  Signeds(Probe("s1 low = -16 - s1 { index } * 0;\n"
                "result.s0 = s4 { min_s1 (low, 5), max_s1 (low, 5), clamp_s1 (low, -3, 9), "
                "abs_s1 (low) };"),
          {-16, 5, -3, 16});
}

TEST_F(RplTraps, ShiftRight_IsLogicalForSignedToo) {
  Signeds(Probe("s1 low = -16 - s1 { index } * 0;\nresult.s0.x = low >> 2;"), {0x3ffffffc});
}

// --- inbuilt functions with unusual signatures
TEST_F(RplTraps, Atan2_TakesTwoArguments) {
  EXPECT_EQ(SaidOfCode("f1 a = atan2_f1 (1.0, 2.0);"), "");
  EXPECT_EQ(SaidOfCode("f1 a = atan2_f1 (1.0);"),
            "RPL5036 'atan2_f1' takes 2 arguments, found 1\n");
}

TEST_F(RplTraps, Refract_TakesAScalarRatioForEveryType) {
  for (const std::string type : {"f1", "f2", "f3", "f4"}) {
    const std::string value = type + " { 0.5 }";
    EXPECT_EQ(SaidOfCode(fmt::format("{0} a = refract_{0} ({1}, {1}, 0.75);", type, value)), "");
    if (type != "f1") {
      EXPECT_EQ(SaidOfCode(fmt::format("{0} a = refract_{0} ({1}, {1}, {1});", type, value)),
                fmt::format("RPL5030 argument 3 of 'refract_{0}' is '{0}', expected 'f1'\n", type));
    }
  }
}

TEST_F(RplTraps, Inverse_ReturnsAMatrix) {
  Floats(
      Probe("f3x3 turned = inverse_f3x3 (f3x3 { f3 { 2.0, 0.0, 0.0 }, f3 { 0.0, 4.0, 0.0 }, "
            "f3 { 0.0, 0.0, 8.0 } });\nresult.f0 = f4 { floor_f3 (turned.x + f3 { 1.25 }), 7.0 };"
            "\nresult.f0 = f4 { 1.0, 1.0, 1.0, 7.0 };"),
      {1, 1, 1, 7});
  EXPECT_EQ(SaidOfCode("f1 a = inverse_f3x3 (f3x3 { f3 { 1.0 }, f3 { 1.0 }, f3 { 1.0 } });"),
            "RPL6026 assignment of 'f3x3' to 'f1'\n");
}

TEST_F(RplTraps, Transpose_OfThreeByThree_TakesAndReturnsThreeByThree) {
  Floats(Probe("f3x3 turned = transpose_matrix_f3x3 (f3x3 { f3 { 1.0, 2.0, 3.0 }, "
               "f3 { 4.0, 5.0, 6.0 }, f3 { 7.0, 8.0, 9.0 } });\n"
               "result.f0 = f4 { turned.y, turned.z.x };"),
         {2, 5, 8, 3});
}

// --- copy-in, copy-out
TEST_F(RplTraps, CopyInCopyOut_ValueLoadedBeforeACall_IsReadAgain) {
  Floats(
      "void bump (in out f1 x) { x = x + 1.0; }\n" +
          Probe("f1 a = 1.0;\nf1 before = a;\nbump (a);\nresult.f0 = f4 { before, a, a + before, "
                "0.0 };"),
      {1, 2, 3});
}

TEST_F(RplTraps, CopyInCopyOut_OperandsLeftOfACall_KeepTheirValue) {
  Floats("f1 bump (in out f1 x) { x = x + 1.0; return x * 10.0; }\n" +
             Probe("f1 a = 1.0;\nresult.f0.x = a + bump (a);\nresult.f0.y = bump (a) + a;\n"
                   "f1 b = 1.0;\nresult.f0.z = b * 100.0 + (b = 5.0) + b;"),
         {21, 33, 110});
}

TEST_F(RplTraps, CopyInCopyOut_Component_IsWrittenBack) {
  Floats("void set (out f1 x) { x = 9.0; }\n" +
             Probe("f4 v = f4 { 1.0, 2.0, 3.0, 4.0 };\nset (v.z);\nresult.f0 = v;"),
         {1, 2, 9, 4});
}

TEST_F(RplTraps, CopyInCopyOut_Column_IsWrittenBack) {
  Floats("void set (out f3 x) { x = f3 { 7.0, 8.0, 9.0 }; }\n" +
             Probe("f3x3 m = f3x3 { f3 { 1.0 }, f3 { 2.0 }, f3 { 3.0 } };\nset (m.y);\n"
                   "result.f0 = f4 { m.y, m.z.x };"),
         {7, 8, 9, 3});
}

TEST_F(RplTraps, CopyInCopyOut_ElementOfAColumn_IsWrittenBack) {
  Floats("void set (out f1 x) { x = 5.0; }\n" +
             Probe("f3x3 m = f3x3 { f3 { 1.0 }, f3 { 2.0 }, f3 { 3.0 } };\nset (m.y.z);\n"
                   "result.f0 = f4 { m.y, m.z.z };"),
         {2, 2, 5, 3});
}

TEST_F(RplTraps, CopyInCopyOut_ArrayItem_IndexIsEvaluatedOnce) {
  Unsigneds("void set (out u1 x, in out u1 i) { x = 7u; i = 2u; }\n" +
                Probe("u1[3] a;\na[0] = 1u;\na[1] = 1u;\na[2] = 1u;\nu1 i = 1u;\n"
                      "set (a[i], i);\nresult.u0 = u4 { a[0], a[1], a[2], i };"),
            {1, 7, 1, 2});
}

TEST_F(RplTraps, CopyInCopyOut_OneVariableTwice_TheLastIsLeft) {
  Unsigneds("void set (out u1 x, out u1 y) { y = 1u; x = 2u; }\n" +
                Probe("u1 a = 0u;\nset (a, a);\nresult.u0.x = a;"),
            {1});
  Unsigneds("void add (in out u1 x, in out u1 y) { x = x + 1u; y = y + 10u; x = x + 1u; }\n" +
                Probe("u1 a = 5u;\nadd (a, a);\nresult.u0.x = a;"),
            {15});
}

TEST_F(RplTraps, CopyInCopyOut_InArgumentOfTheSameVariable_KeepsItsValue) {
  Unsigneds("u1 both (out u1 x, in u1 y) { x = 100u; return y; }\n" +
                Probe("u1 a = 3u;\nresult.u0.x = both (a, a);\nresult.u0.y = a;"),
            {3, 100});
}

TEST_F(RplTraps, CopyInCopyOut_StructFieldAndWholeArray_AreWrittenBack) {
  Unsigneds(
      "struct pair_t { u2 left; u1 right; };\n"
      "void fill (in out u1[2] a) { a[0] = a[0] + 1u; a[1] = 9u; }\n"
      "void swap (in out pair_t p) { u1 kept = p.left.x; p.left.x = p.right; p.right = kept; }\n" +
          Probe("u1[2] a;\na[0] = 4u;\na[1] = 0u;\nfill (a);\n"
                "pair_t p = pair_t { u2 { 1u, 2u }, 3u };\nswap (p);\n"
                "result.u0 = u4 { a[0], a[1], p.left.x, p.right };"),
      {5, 9, 3, 1});
}

// --- places
TEST_F(RplTraps, LocalStruct_FieldsAreWritable) {
  Floats(
      "struct inner_t { f2 uv; };\nstruct outer_t { inner_t inner; f1 depth; };\n" +
          Probe("outer_t made;\nmade.inner.uv.x = 1.0;\nmade.inner.uv.y = 2.0;\nmade.depth = 3.0;\n"
                "outer_t copy = made;\nmade.depth = 4.0;\n"
                "result.f0 = f4 { copy.inner.uv, copy.depth, made.depth };"),
      {1, 2, 3, 4});
}

TEST_F(RplTraps, Swizzle_ChainsAndRange) {
  Floats(Probe("f4 v = f4 { 1.0, 2.0, 3.0, 4.0 };\n"
               "result.f0 = f4 { v.xyz.x, v.wzy.x, v.wzyx.yz.y, v.xy.xx.y };"),
         {1, 4, 2, 1});
  EXPECT_EQ(SaidOfCode("f2 v2 = f2 { 1.0 }; f3 v = v2.xyz;"),
            "RPL6011 'z' in 'xyz' is out of range for 'f2'\n");
  EXPECT_EQ(SaidOfCode("f4 v = f4 { 1.0 }; v.xy = f2 { 2.0 };"),
            "RPL6015 'v.xy' cannot be written\n");
}

TEST_F(RplTraps, IndexedName_StartsAnAssignmentToo) {
  Floats(Probe("f1[2] weights;\nweights[0u] = 1.0;\nweights[1u] = 2.0;\nf1[2][3] grid;\n"
               "grid[1][2] = 5.0;\nresult.f0 = f4 { weights[0], weights[1], grid[1][2], 0.0 };"),
         {1, 2, 5});
}

// --- conditional scopes
TEST_F(RplTraps, CodeAfterAConditionalScopeThatReturns_InBothPolarities) {
  const std::string function =
      "u1 choose (in u1 x) { conditional (cheap) { return 1u; } conditional (!cheap) "
      "{ return x + 2u; } }\n";
  const std::string behind =
      "u1 behind (in u1 x) { conditional (!cheap) { return x + 5u; } conditional (cheap) "
      "{ x = x; } return 7u; }\n";
  const std::string probe = Probe("result.u0.x = choose (10u);");
  Unsigneds("global cheap: flag true;\n" + function + probe, {1});
  Unsigneds("global cheap: flag false;\n" + function + probe, {12});
  const std::string code =
      "u1 f (void) { conditional (cheap) { return 1u; } return 2u; }\n"
      "void main (void) { u1 a = f (); }\n";
  EXPECT_THAT(Said("global cheap: flag true;\n" + code, "fragment:main"), StartsWith("RPL6041 "));
  EXPECT_EQ(Said("global cheap: flag false;\n" + code, "fragment:main"), "");
}

TEST_F(RplTraps, ArrayInsideABuffer_IsAnArgument) {
  Samples samples{};
  for (uint32_t i = 0; i < kBenchPixels; ++i) {
    samples[i].f[8] = static_cast<float>(i);
    samples[i].f[29] = 2;
  }
  const Comparison comparison =
      Agree("f1 total (in f4[8] list) { return list[2].x + list[7].y; }\n" +
                Probe("result.f0.x = total (bench.samples[index].f);"),
            samples);
  EXPECT_EQ(comparison.open, 0U);
}

TEST_F(RplTraps, BareBooleanStatement_IsAWarning) {
  EXPECT_EQ(SaidOfCode("u1 a = 1u; a == 2u;"), "RPL6044 expression 'a == 2u' has no effect\n");
}

// --- tokens
TEST_F(RplTraps, MinusWithoutSpaces_IsAnOperator) {
  Floats(
      Probe("f1 x = 5.0;\nf1 y = x-1.0;\nf1 z = x -1.0;\nresult.f0 = f4 { y, z, -x-1.0, x--1.0 };"),
      {4, 4, -6, 6});
  Signeds(Probe("s1 x = 5;\nresult.s0 = s4 { x-1, x -1, -x-1, x--1 };"), {4, 4, -6, 6});
}

TEST_F(RplTraps, ReturnWithParentheses_IsAReturn) {
  Unsigneds("u1 twice (in u1 x) { return(x + x); }\n" + Probe("result.u0.x = twice (4u);"), {8});
}

TEST_F(RplTraps, SmallestSigned_IsALiteral) {
  Signeds(Probe("result.s0 = s4 { -2147483648, 2147483647, - 2147483648, -0 };"),
          {INT32_MIN, INT32_MAX, INT32_MIN, 0});
}

TEST_F(RplTraps, NegativeZero_IsAnotherConstant) {
  const std::string code = Code(
      "color_output_container target { f4 out_color; };\n"
      "void main (void) { target.out_color = f4 { 0.0, -0.0, 1.0, 1.0 }; }",
      "fragment:main");
  EXPECT_THAT(code, HasSubstr(" 0\n"));
  EXPECT_THAT(code, HasSubstr(" -0\n"));
  const BuiltVariant variant(BenchRequest(Probe("result.f0 = f4 { 0.0, -0.0, 0.0, -0.0 };")));
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const Value written = InterpretPixels(variant, {})[0].written.at("result.f0");
  EXPECT_EQ(written[0].bits, 0U);
  EXPECT_EQ(written[1].bits, 0x80000000U);
}

}  // namespace
}  // namespace kiln::oracle
