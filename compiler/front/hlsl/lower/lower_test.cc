// SPDX-License-Identifier: MIT
// Sources as typed modules: the instructions that each construct becomes, and that every module is
// one that the verifier takes.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/clock.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/check.h"
#include "compiler/front/hlsl/lower/module.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/parse.h"
#include "compiler/ir/text/print_generic.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string TextOf(std::string_view text, Version version = Version::k2021) {
  const SourceFile root("test.hlsl", std::string(text));
  Settings settings;
  settings.version = version;
  const PreprocessResult read = Preprocess(root, SourceSet(), settings, 0);
  const std::string_view texts[] = {root.text};
  const syntax::ParseResult parsed = syntax::Parse(read.stream, texts, version);
  const CheckResult checked = Check(read.stream, parsed.ast, settings);
  for (const Diagnostic& found : checked.diagnostics) {
    EXPECT_NE(CodeSeverity(found.code), Severity::kError) << text << ": " << Message(found);
  }
  if (HasErrors(checked.diagnostics)) {
    return "";
  }
  const ir::ModuleFiles files;
  const ir::Module module = Lower(checked.unit, read.stream, settings, {files, {}}, {});
  const Result<void> verdict = ir::VerifyIds(module.view());
  EXPECT_TRUE(verdict.ok()) << text << ": " << verdict.error().context;
  return ir::Print(module.view());
}

// What the body of `T f (…) { return EXPRESSION; }` has in it.
TEST(Lower, Operators_AreTheInstructionsOfTheTable) {
  const struct {
    std::string_view parameters, result, expression, expected;
  } rows[] = {
      {"int a, int b", "int", "a + b", "binary add %1, %2 : s1"},
      {"int a, int b", "int", "a % b", "binary rem %1, %2 : s1"},
      {"uint a, uint b", "uint", "a % b", "binary mod %1, %2 : u1"},
      {"float a, float b", "float", "a % b", "binary rem %1, %2 : f1"},
      {"int a, int b", "int", "a >> b", "binary shift_right_arithmetic"},
      {"uint a, uint b", "uint", "a >> b", "binary shift_right "},
      {"int a, int b", "int", "a << b", "const s1 31"},
      {"float3 a, float3 b", "bool3", "a != b", "binary not_equal %1, %2 : b3"},
      {"bool a, bool b", "int", "a + b", "binary add"},
      {"bool a, bool b", "bool", "a == b", "binary equal %1, %2 : bool"},
      {"uint a", "uint", "-a", "binary sub"},
      {"int a", "int", "-a", "unary negate"},
      {"float a", "bool", "!a", "unary not"},
      {"int a", "int", "~a", "unary complement"},
      {"int a", "float", "a", "convert"},
      {"int a", "uint", "a", "bitcast"},
      {"bool a", "float", "a", "select"},
      {"float a", "bool", "a", "binary not_equal"},
      {"float a", "double", "a", "convert %1 : d1"},
      {"float a", "float3", "a", "splat %1 : f3"},
      {"float4 a", "float2", "a.zx", "swizzle %1, zx : f2"},
      {"float4 a", "float", "a.w", "extract %1, 3 : f1"},
      {"float a", "float3", "a.xxx", "splat %1 : f3"},
      {"float3x2 a", "float2", "a[1]", "extract %1, 1 : f2"},
      {"float3x2 a", "float", "a._m21", "extract %2, 1 : f1"},
      {"float2x2 a, float2x2 b", "float2x2", "a * b", "construct"},
      {"float2x3 a, float3x4 b", "float2x4", "mul (a, b)", "binary mul %2, %1 : f2x4"},
      {"float2x3 a, float3 b", "float2", "mul (a, b)", "binary mul %2, %1 : f2"},
      {"float2 a, float2x3 b", "float3", "mul (a, b)", "binary mul %2, %1 : f3"},
      {"float3 a, float3 b", "float", "mul (a, b)", "builtin dot"},
      {"int3 a, int3 b", "int", "dot (a, b)", "builtin dot_integers"},
      {"float a, float b", "float", "dot (a, b)", "binary mul"},
      {"bool a, bool b", "bool", "a && b", "logical and"},
      {"bool a, float b", "float", "a ? b : 1", "select"},
      {"float3 a, int i", "float", "a[i]", "temp : f3"},
      {"float a", "float4", "float4 (a, 1, 2, 3)", "const f1 3.0"},
      {"float3 a", "float3", "saturate (a)", "builtin nclamp"},
      {"float a", "float", "sin (a)", "builtin sin"},
      {"float2x2 a", "float2x2", "sin (a)", "builtin sin [%2] : f2"},
      {"uint a", "uint", "min (1, a)", "builtin min"},
      {"float2x3 a", "float3x2", "transpose (a)", "builtin transpose"},
      {"float a", "uint", "asuint (a)", "bitcast"},
      {"float3 a", "bool", "any (a)", "builtin any"},
  };
  for (const auto& row : rows) {
    const std::string text = std::string(row.result) + " f (" + std::string(row.parameters) +
                             ") { return " + std::string(row.expression) + "; }";
    EXPECT_THAT(TextOf(text), HasSubstr(std::string(row.expected))) << text;
  }
}

TEST(Lower, Constants_AreFolded) {
  const struct {
    std::string_view type, expression, expected;
  } rows[] = {
      {"int", "2 + 3 * 4", "const s1 14"},
      {"float", "1 / 2", "const f1 0.0"},
      {"float", "1 / 2.0", "const f1 0.5"},
      {"uint", "-1", "const u1 4294967295"},
      {"float3", "float3 (1, 2, 3) * 2", "const f3 {f1 2.0, f1 4.0, f1 6.0}"},
      {"float2x2", "{ 1, 2, 3, 4 }", ""},
      {"float2", "float2 (65536 * 65536, 0)", "const f2 {f1 4294967300.0, f1 0.0}"},
      {"bool", "true && !false", "flag true"},
      {"int", "7 & 12 | 1 << 4", "const s1 20"},
      {"float", "float4 (1, 2, 3, 4).wz.y", "const f1 3.0"},
  };
  for (const auto& row : rows) {
    if (row.expected.empty()) {
      continue;
    }
    const std::string text =
        TextOf(std::string(row.type) + " f () { return " + std::string(row.expression) + "; }");
    EXPECT_THAT(text, HasSubstr(std::string(row.expected))) << row.expression;
    EXPECT_THAT(text, Not(HasSubstr("binary"))) << row.expression;
  }
}

// `=` evaluates its right side first; arguments go from left to right; outputs come back in order.
TEST(Lower, AssignmentsAndCalls_KeepTheirOrder) {
  const std::string text = TextOf(
      "int g (inout int x, out float y) { y = 1; return x++; }\n"
      "void f () { int a[2]; float4 v; a[g (a[0], v.y)] = 3; }");
  EXPECT_THAT(text, HasSubstr("const s1 3"));
  EXPECT_LT(text.rfind("const s1 3"), text.find("call @g"));
  EXPECT_LT(text.find("call @g"), text.rfind("store"));
}

// A parameter is a variable only if something writes to it, by whatever name.
TEST(Lower, CommaThatIsWritten_IsItsLastOperand) {
  for (const char* statement :
       {"(w, i) = 2;", "(1, w, i) += 2;", "--(w, i);", "(w, i)++;", "(w, i).x = 2;",
        "(w, i)[1] = 2;", "(w, (w, i)) = 2;", "g ((w, i));"}) {
    const std::string text = TextOf(
        "void g (inout uint4 x) { x = 1; }\n"
        "uint4 f (float w, uint4 i) { " +
        std::string(statement) + " return i; }");
    EXPECT_THAT(text.substr(std::min(text.find("@f"), text.size())), HasSubstr("store"))
        << statement << "\n"
        << text;
  }
}

// The name stands alone in a `cexpr`; what is computed with it are instructions.
TEST(Lower, SpecialisationConstants_StayOpen) {
  const std::string text = TextOf(
      "[[vk::constant_id (7)]] const bool kFog = true;\n"
      "[[kiln::option (instance, specialize)]] static const uint kCount = 3;\n"
      "float f (float x) { if (kFog) x += 1; return x * kCount + (kCount << 1); }\n");
  for (const std::string_view part : {"option specialize instance kFog : flag = true id 7",
                                      "option specialize instance kCount : uint = 3",
                                      "= name \"kFog\"", "cexpr", "if %", "binary shift_left"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("when")));
}

TEST(Lower, OptionsDecide_WithoutBeingFolded) {
  const std::string text = TextOf(
      "enum class Tone { dark, bright };\n"
      "[[kiln::option (global)]] static const bool kFog = true;\n"
      "[[kiln::option (instance)]] static const Tone kTone = Tone::bright;\n"
      "[[kiln::option (global)]] static const uint kCount = 3;\n"
      "static const bool kBoth = kFog && kTone == Tone::dark;\n"
      "float f (float x) {\n"
      "  float a[kCount];\n  a[0] = x;\n"
      "  if (kFog) x += 1; else x -= 1;\n"
      "  switch (kTone) { case Tone::dark: x *= 2; break; default: x *= 3; break; }\n"
      "  return (kBoth ? x : -x) + kCount;\n}\n");
  for (const std::string_view part :
       {"option global kFog : flag = true", "enum = [\"dark\", \"bright\"] default 1",
        "option global kCount : uint = 3", "when_region", "choose", "cexpr", "f1[?", "equal"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
}

// Which is not reached is not lowered; what options do not decide is.
TEST(Lower, KnownConditions_LeaveOneSide) {
  const std::string text =
      TextOf("float f (float x) { if (1 < 2) x += 5; else x -= 6; return false ? x : 7; }");
  EXPECT_THAT(text, HasSubstr("const f1 5.0"));
  EXPECT_THAT(text, Not(HasSubstr("const f1 6.0")));
  EXPECT_THAT(text, HasSubstr("const f1 7.0"));
}

TEST(Lower, ControlFlow_IsStructured) {
  const std::string text = TextOf(
      "int f (int n) {\n"
      "  int sum = 0;\n"
      "  [unroll (4)] for (int i = 0; i < n; ++i) { if (i == 2) continue; if (i == 9) break; sum "
      "+= i; }\n"
      "  do { sum--; } while (sum > 100);\n"
      "  switch (n) { case 1: sum += 1; case 2: { int k = 3; sum += k; break; } default: sum = 0; "
      "}\n"
      "  return sum;\n}\n");
  for (const std::string_view part : {"loop $exit unroll(4) {", "continue $exit", "break $exit",
                                      "case s1 1 through", "case s1 2 {", "default {", "return"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
}

TEST(Lower, Interfaces_AreAttributes) {
  const std::string text = TextOf(
      "struct Surface { float4 place : SV_Position; noperspective float2 uv : TEXCOORD3; };\n"
      "[shader (\"vertex\")] Surface vs (float3 p : POSITION, uint id : SV_VertexID) {\n"
      "  Surface s = (Surface) 0; s.place = float4 (p, id); return s; }\n"
      "[numthreads (8, 4, 1)] void cs (uint3 id : SV_DispatchThreadID) {}\n"
      "float4 ps (Surface s) : SV_Target1 { return s.place; }\n");
  for (const std::string_view part :
       {"place : f4 semantic(\"SV_Position\", 0)",
        "semantic(\"TEXCOORD\", 3) interpolation(no_perspective)",
        "in $id : u1 semantic(\"SV_VertexID\", 0)", "-> f4 semantic(\"SV_Target\", 1)",
        "entry @vs vertex", "setting @cs \"workgroup_size_x\""}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
}

TEST(Lower, Resources_AreDeclarations) {
  const std::string text = TextOf(
      "struct Light { float3 color; };\n"
      "[[kiln::set (material)]] cbuffer View { float4x4 m; row_major float4x4 r; };\n"
      "float4 tint;\n"
      "StructuredBuffer<Light> lights : register (t3, space1);\n"
      "[[vk::binding (2, 1)]] RWStructuredBuffer<uint> counts;\n"
      "Texture2D albedo; SamplerState linear_sampler; RWTexture2D<float> target;\n"
      "groupshared uint total; static int seed = 7; static float3 up = float3 (0, 1, 0);\n"
      "void f (uint i, float2 uv) {\n"
      "  counts[i] += 1; up.x = 1; InterlockedAdd (total, counts[i]); seed++;\n"
      "  float4 c = albedo.SampleLevel (linear_sampler, uv, 0) * tint;\n"
      "  target[uint2 (uv)] = c.x + lights[i].color.y; target[uint2 (0, 0)] *= 2;\n}\n");
  for (const std::string_view part :
       {"buffer uniform material @View rules(std140_relaxed) {", "m : f4x4 row_major",
        "buffer uniform pass @\"$Globals\"", "@lights register(\"t3\", 1) rules(std430_relaxed) {",
        "@counts binding(2, 1) rules(std430_relaxed) {", "counts : u1...",
        "sampler pass @linear_sampler", "workgroup @total : u1", "private @seed : s1 = ?",
        "private @up : f3 initialise @\"up.initial\"", "image sample", "image write", "image read",
        "atomic add"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
  EXPECT_THAT(text, Not(HasSubstr("r : f4x4 row_major")));
}

// spec/hlsl 16.1: a space without a number is the set in which one is looked for.
TEST(Lower, SpacesAlone_AreHomeSets) {
  const std::string text = TextOf(
      "Texture2D a : register (space3); cbuffer b : register (space2) { float4 x; };\n"
      "[[kiln::set (7)]] Texture2D c; [[kiln::set (shared)]] Texture2D d : register (space3);\n"
      "[[kiln::set (shared)]] Texture2D e; [[vk::binding (4)]] Texture2D g : register (space3);\n");
  for (const std::string_view part :
       {"@a : image_color_2d register(\"\", 3)", "@b register(\"\", 2)",
        "@c : image_color_2d register(\"\", 7)", "@d : image_color_2d register(\"\", 3)",
        "shared @e : image_color_2d\n", "@g : image_color_2d binding(4, 0)\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
}

// spec/hlsl 13.2: an `inout` argument is read where it stands. A copy is only made where what
// stands behind it could write it.
TEST(Lower, ArgumentsThatComeBack_AreCopiedBeforeEffects) {
  const std::string head = "int f (inout int a, int b) { return a += b; } int g (int x, int y) { ";
  EXPECT_THAT(TextOf(head + "return f (x, x++); }"), HasSubstr("temp : s1"));
  EXPECT_THAT(TextOf(head + "return f (x, y = 3); }"), HasSubstr("temp : s1"));
  EXPECT_THAT(TextOf(head + "return f (x, y + 3); }"), Not(HasSubstr("temp : s1")));
  EXPECT_THAT(TextOf("int f (int b, inout int a) { return a += b; } int g (int x) "
                     "{ return f (x++, x); }"),
              Not(HasSubstr("temp : s1")));
}

// Of two arguments that name one variable the last wins, also if one of them is a part of it: then
// both are copies, which are written back from left to right.
TEST(Lower, ArgumentsOfOneVariable_AreCopies) {
  const std::string head =
      "struct S { int a; int b; }; void f (out int x, out S s) { s.a = 1; s.b = 2; x = 7; } "
      "void g (out S s, out int x) { s.a = 1; s.b = 2; x = 7; } int h (S v, S w) { ";
  const auto temporaries = [&](const std::string& body) {
    const std::string text = TextOf(head + body + " return v.a; }");
    size_t count = 0;
    for (size_t at = text.find("temp : "); at != std::string::npos;
         at = text.find("temp : ", at + 1)) {
      ++count;
    }
    return count;
  };
  const size_t none = temporaries("v.a = 1;");
  EXPECT_EQ(temporaries("f (w.a, v);"), none + 1);  // the part
  EXPECT_EQ(temporaries("f (v.a, v);"), none + 2);
  EXPECT_EQ(temporaries("g (v, v.a);"), none + 2);
  EXPECT_EQ(temporaries("g ((w.a = 3, v), v.a);"), none + 2);
}

TEST(Lower, Instructions_AreCharged) {
  std::string text = "int f (int x) {";
  for (int i = 0; i < 1000; ++i) {
    text += " x = x * 3;";
  }
  text += " return x; }";
  const SourceFile root("test.hlsl", text);
  const Settings settings;
  const PreprocessResult read = Preprocess(root, SourceSet(), settings, 0);
  const std::string_view texts[] = {root.text};
  const syntax::ParseResult parsed = syntax::Parse(read.stream, texts, settings.version);
  const CheckResult checked = Check(read.stream, parsed.ast, settings);
  const auto is_stopped = [&](uint64_t bytes) {
    FakeClock clock;
    const StopScope scope({.bytes = bytes}, clock);
    try {
      Lower(checked.unit, read.stream, settings, {ir::ModuleFiles{}, {}}, {});
    } catch (const Stopped& stopped) {
      return stopped.why() == Stopped::Why::kMemory;
    }
    return false;
  };
  EXPECT_FALSE(is_stopped(1u << 20));
  EXPECT_TRUE(is_stopped(1u << 16));
}

TEST(Lower, ResourcesAsParameters_ArePlaces) {
  const std::string text = TextOf(
      "struct Item { float3 v; }; struct Pass { float4x4 m; };\n"
      "StructuredBuffer<Item> items; ByteAddressBuffer bytes; ConstantBuffer<Pass> pass;\n"
      "Texture2D maps[4]; Texture2D depths; SamplerComparisonState compare;\n"
      "float read (StructuredBuffer<Item> b, uint i) { return b[i].v.y; }\n"
      "float bits (ByteAddressBuffer b) { return asfloat (b.Load (8)); }\n"
      "float lit (Texture2D t, SamplerComparisonState s) { return t.SampleCmpLevelZero (s, 0, 1); "
      "}\n"
      "float4x4 whole (ConstantBuffer<Pass> p) { return p.m; }\n"
      "float f (uint i) {\n"
      "  Texture2D map = maps[i];\n"
      "  return read (items, i) + bits (bytes) + lit (depths, compare) + whole (pass)[0][0] +\n"
      "         map.Load (int3 (0, 0, 0)).x + maps[NonUniformResourceIndex (i)].Load (0).x;\n}\n");
  for (const std::string_view part :
       {"function @read(place $b : @Item..., in $i : u1)", "function @bits(place $b : u1...)",
        "function @lit(place $t : image_depth_2d, place $s : sampler)",
        "function @whole(place $p : @Pass)", "image read_only pass @depths : image_depth_2d",
        "image read_only pass @maps : image_color_2d[",
        "buffer uniform pass @pass : @Pass rules(std140_relaxed)", "access non_uniform",
        "call @read"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
}

// What is picked when it runs is handed on as it is, however many calls below.
TEST(Lower, PickedImages_AreParameters) {
  const std::string text = TextOf(
      "Texture2D maps[4]; Texture2D one; SamplerComparisonState s;\n"
      "float inner (Texture2D t, SamplerComparisonState c) { return t.SampleCmpLevelZero (c, 0, "
      "1); }\n"
      "float outer (Texture2D t) { return inner (t, s); }\n"
      "float f (uint i) { return outer (maps[NonUniformResourceIndex (i)]) + outer (one); }\n");
  for (const std::string_view part :
       {"function @inner(in $t : image_depth_2d, place $c : sampler)",
        "function @outer(in $t : image_depth_2d)", "@maps : image_depth_2d[",
        "@one : image_depth_2d", "access non_uniform"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
}

// The object is a parameter, and comes back from those that write to it, however far below.
TEST(Lower, Methods_TakeTheirObject) {
  const std::string text = TextOf(
      "struct Counter { int n; int next () { step (); return n; } void step () { n += 1; }\n"
      "  int twice () { return n * 2; } static int one () { return 1; } };\n"
      "int f (Counter c) { return c.next () + c.twice () + Counter::one (); }\n");
  for (const std::string_view part : {"function @\"Counter.step\"(in_out $this : @Counter) -> void",
                                      "function @\"Counter.next\"(in_out $this : @Counter) -> s1",
                                      "function @\"Counter.twice\"(in $this : @Counter) -> s1",
                                      "function @\"Counter.one\"() -> s1"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
}

TEST(Lower, Faults_WaitForWhoReachesThem) {
  const std::string text = TextOf(
      "int g (int n); int h (int n) { return g (n); }\n"
      "int again (int n) { return n > 0 ? again (n - 1) : 0; }\n");
  EXPECT_THAT(text, HasSubstr("fault \"HLSL2025\" [\"g\"]"));
  EXPECT_THAT(text, HasSubstr("fault \"HLSL3008\" [\"again\", \"again\"]"));
}

TEST(Lower, LongChains_AreNoNesting) {
  std::string text = "float f (float x) { return x";
  for (int i = 0; i < 5000; ++i) {
    text += " + x";
  }
  EXPECT_THAT(TextOf(text + "; }"), HasSubstr("binary add"));
  std::string places = "float f (float x) { x = 1; (";
  for (int i = 0; i < 20'000; ++i) {
    places += "x, 1, ";
  }
  EXPECT_THAT(TextOf(places + "x) = 2; return x; }"), HasSubstr("store"));
  EXPECT_THAT(TextOf(places + "x); return x; }"), HasSubstr("store"));
}

}  // namespace
}  // namespace kiln::hlsl
