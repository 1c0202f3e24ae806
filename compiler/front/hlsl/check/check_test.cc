// SPDX-License-Identifier: MIT
// What is wrong with a source, by tables: for each code one that has it and one like it that has
// not. Both dialects.
#include "compiler/front/hlsl/check/check.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/diag/message_count.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/parse.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {
namespace {

std::vector<Diagnostic> FoundIn(std::string_view text, Version version) {
  const SourceFile root("test.hlsl", std::string(text));
  Settings settings;
  settings.version = version;
  const PreprocessResult read = Preprocess(root, SourceSet(), settings, 0);
  const std::string_view texts[] = {root.text};
  const syntax::ParseResult parsed = syntax::Parse(read.stream, texts, version);
  std::vector<Diagnostic> all = parsed.diagnostics;
  if (!HasErrors(all)) {
    const CheckResult checked = Check(read.stream, parsed.ast, settings);
    all.insert(all.end(), checked.diagnostics.begin(), checked.diagnostics.end());
  }
  return all;
}

std::string MessagesOf(std::string_view text) {
  std::string all;
  for (const Diagnostic& found : FoundIn(text, Version::k2021)) {
    all += Message(found) + "\n";
  }
  return all;
}

// The codes of a source, each once, in order; "" if there are none.
std::string CodesOf(std::string_view text, Version version = Version::k2021) {
  std::string codes;
  for (const Diagnostic& found : FoundIn(text, version)) {
    const std::string_view code = CodeText(found.code);
    if (codes.find(code) == std::string::npos) {
      codes += (codes.empty() ? "" : " ") + std::string(code);
    }
  }
  return codes;
}

struct Pair {
  std::string_view code, wrong, right;
};

constexpr Pair kExpressions[] = {
    {"HLSL1006", "uint f () { return 4294967296u; }", "uint f () { return 4294967295u; }"},
    {"HLSL2001", "float f () { return x; }", "static float x; float f () { return x; }"},
    {"HLSL2004", "int g () { return 1; } int f () { return g; }",
     "int g () { return 1; } int f () { return g (); }"},
    {"HLSL2005", "struct S { int a; }; int f (S s) { return s.b; }",
     "struct S { int a; }; int f (S s) { return s.a; }"},
    {"HLSL2006", "float f (float2 v) { return v.z; }", "float f (float2 v) { return v.y; }"},
    {"HLSL2006", "float2 f (float4 v) { return v.xg; }", "float2 f (float4 v) { return v.rg; }"},
    {"HLSL2006", "float f (float3x3 m) { return m._m33; }",
     "float f (float3x3 m) { return m._33 + m._m22; }"},
    {"HLSL2009", "void f (inout float2 v) { v.xx = 1; }", "void f (inout float2 v) { v.yx = 1; }"},
    {"HLSL2010", "float3 f (float2 v) { return v; }", "float3 f (float v) { return v; }"},
    {"HLSL2010", "struct S { float2 a; }; S f () { return 0; }",
     "struct S { float2 a; }; S f () { return (S) 0; }"},
    {"HLSL2010", "enum E { a }; E f () { return 0; }", "enum E { a }; int f () { return a; }"},
    {"HLSL2011", "float2 f (float4 v) { return v; }", "float2 f (float4 v) { return (float2) v; }"},
    {"HLSL2013", "float2x2 f (float2x2 m, float3 v) { return m + v; }",
     "float2x2 f (float2x2 m, float v) { return m + v; }"},
    {"HLSL2014", "float f (float x) { return x << 1; }", "int f (int x) { return x << 1; }"},
    {"HLSL2014", "float f (float x) { return ~x; }", "int f (int x) { return ~x; }"},
    {"HLSL2016", "float f (float2 v) { return v ? 1 : 2; }",
     "float f (float v) { return v ? 1 : 2; }"},
    {"HLSL2018", "void f () { 1 = 2; }", "void f () { int x; x = 2; }"},
    {"HLSL2018", "static const int x = 1; void f () { x = 2; }",
     "static int x; void f () { x = 2; }"},
    {"HLSL2018", "cbuffer B { int x; }; void f () { x = 2; }",
     "cbuffer B { int x; }; int f () { return x; }"},
    {"HLSL2019", "float3 f () { return float3 (1, 2); }",
     "float3 f (float2 v) { return float3 (v, 2); }"},
    {"HLSL2019", "static const float a[2] = { 1, 2, 3 };",
     "static const float a[3] = { 1, 2, 3 };"},
    {"HLSL2019", "static vector<float, 4, 3> v;", "static vector<float, 4> v;"},
    {"HLSL2019", "static matrix<float, 2, 2, 7> m;", "static matrix<float, 2, 2> m;"},
    {"HLSL2021", "float f (float2x2 m) { return dot (m, m); }",
     "float f (float2 v) { return dot (v, v); }"},
    {"HLSL2021", "float3 f (float2 v, float3x3 m) { return mul (v, m); }",
     "float3 f (float2 v, float2x3 m) { return mul (v, m); }"},
    {"HLSL2022",
     "int g (int a, float b) { return a; } int g (float a, int b) { return b; } int f () { return "
     "g (1.0, 1.0); }",
     "int g (int a, float b) { return a; } int g (float a, int b) { return b; } int f () { return "
     "g (1, 1.0); }"},
    {"HLSL2023", "void g (out int x) { x = 1; } void f () { g (1); }",
     "void g (out int x) { x = 1; } void f () { int x; g (x); }"},
    {"HLSL2027", "static int a[-1];", "static int a[1 + 1];"},
    {"HLSL2028", "static int n; static int a[n];", "static const int n = 2; static int a[n];"},
    {"HLSL2031", "void f (void x, int y) {}", "void f (void) {}"},
    {"HLSL2033", "float f (float3 v) { return v[3]; }", "float f (float3 v) { return v[2]; }"},
    {"HLSL2034", "float f (float v) { return v[0]; }", "float f (float1 v) { return v[0]; }"},
    {"HLSL2035", "float4 f (float2 v) { return tex2D (v, v); }",
     "float4 tex2D (float2 a, float2 b) { return 1; } float4 f (float2 v) { return tex2D (v, v); "
     "}"},
    {"HLSL2036", "void f () { abort (); }", "void abort () {} void f () { abort (); }"},
    {"HLSL2042", "float f (float x) { return x / 0; }", "float f (float x) { return x / 2; }"},
    {"HLSL2043", "void f (int x) { x; }", "void f (int x) { x++; }"},
};

constexpr Pair kStatements[] = {
    {"HLSL2002", "void f (int x) { int x = 1; int x = 2; }",
     "void f () { int x = 1; { int x = 2; } }"},
    {"HLSL2041", "void f () { const int x; }", "void f () { const int x = 1; }"},
    {"HLSL3001", "void f () { continue; }", "void f () { while (true) { continue; } }"},
    {"HLSL3001", "void f (int n) { switch (n) { case 1: continue; } }",
     "void f (int n) { do { switch (n) { case 1: continue; } } while (n > 0); }"},
    {"HLSL3003", "void f (int n) { switch (n) { case 1: case 1: break; } }",
     "void f (int n) { switch (n) { case 1: case 2: break; } }"},
    {"HLSL3003", "void f (int n) { switch (n) { default: default: break; } }",
     "void f (int n) { switch (n) { default: break; } }"},
    {"HLSL3004", "void f () { return 1; }", "int f () { return 1; }"},
    {"HLSL3004", "int f () { return; }", "void f () { return; }"},
    {"HLSL3006", "int f (bool b) { if (b) return 1; }",
     "int f (bool b) { if (b) return 1; else return 2; }"},
    {"HLSL3006", "int f (int n) { switch (n) { case 1: return 1; } }",
     "int f (int n) { switch (n) { case 1: return 1; default: return 2; } }"},
    {"HLSL3006", "int f () { while (true) { break; } }", "int f () { while (true) {} }"},
    {"HLSL3009", "int f () { return 1; return 2; }", "int f () { return 1; }"},
    {"HLSL1049", "void f () { [unroll] if (true) {} }", "void f () { [flatten] if (true) {} }"},
    {"HLSL1046", "[[vk::binding (-1)]] cbuffer B { int y; };",
     "[[vk::binding (1)]] cbuffer B { int y; };"},
};

constexpr Pair kDeclarations[] = {
    {"HLSL2002", "int f () { return 1; } int f () { return 2; }",
     "int f (); int f () { return 1; } int f (int x) { return 2; }"},
    {"HLSL2002", "struct S { int a; int a; };", "struct S { int a; int b; };"},
    {"HLSL2019", "Texture2D<float4, 4> t;", "Texture2DMS<float4, 4> t;"},
    {"HLSL2019", "StructuredBuffer<int, 2> b;", "StructuredBuffer<int> b;"},
    {"HLSL2019", "RWStructuredBuffer b;", "RWStructuredBuffer<float4> b;"},
    {"HLSL2019", "ConstantBuffer b;", "struct S { int a; }; ConstantBuffer<S> b;"},
    {"HLSL2028",
     "float g; [shader (\"pixel\")] [[kiln::setting (\"cull_mode\", g > 0 ? \"none\" : \"back\")]] "
     "float4 f () : SV_Target { return g; }",
     "[[kiln::option (instance)]] static const bool k = true; [shader (\"pixel\")] "
     "[[kiln::setting (\"cull_mode\", k ? \"none\" : \"back\")]] float4 f () : SV_Target { return "
     "1; "
     "}"},
    {"HLSL8004", "[[kiln::set (1)]] Texture2D t : register (space3);",
     "[[kiln::set (3)]] Texture2D t : register (space3);"},
    {"LAY2004", "Texture2D t : register (s3);", "Texture2D t : register (t3);"},
    {"LAY2004", "Texture2D t[2] : register (u3);", "RWTexture2D<float4> t[2] : register (U3);"},
    {"LAY2004", "SamplerState s : register (t5);", "SamplerState s : register (s5, space1);"},
    {"LAY2004", "cbuffer C : register (u7) { float4 c; }",
     "cbuffer C : register (b7) { float4 c; }"},
    {"LAY2004", "tbuffer C : register (b7) { float4 c; }",
     "tbuffer C : register (t7) { float4 c; }"},
    {"LAY2004", "struct S { int a; }; ConstantBuffer<S> b : register (t1);",
     "struct S { int a; }; ConstantBuffer<S> b : register (B1);"},
    {"LAY2004", "RWByteAddressBuffer w : register (b9);", "RWByteAddressBuffer w : register (u9);"},
    {"LAY2004", "StructuredBuffer<float4> q : register (c2);",
     "float4 x : register (c2); StructuredBuffer<float4> q : register (t2);"},
    {"HLSL4004", "Texture2D<float4x4> t;", "Texture2D<float3> t;"},
    {"HLSL4005",
     "Texture2D t; SamplerState s; float4 f (float2 v) { return t.Sample (s, v, int2 (v)); }",
     "Texture2D t; SamplerState s; float4 f (float2 v) { return t.Sample (s, v, int2 (-8, 7)); }"},
    {"HLSL4006", "Texture2D t; float4 f () { return t.GatherCmpBlue (); }",
     "Texture2D t; SamplerState s; float4 f (float2 v) { return t.GatherBlue (s, v); }"},
    {"HLSL4007", "Texture2D t; float4 f () { return t.Paint (); }",
     "Texture2D t; float4 f (int3 p) { return t.Load (p); }"},
    {"HLSL4008", "void f () { uint x = 0; InterlockedAdd (x, 1); }",
     "groupshared uint x; void f () { InterlockedAdd (x, 1); }"},
    {"HLSL4009", "groupshared float x; void f () { InterlockedAdd (x, 1); }",
     "groupshared int x; void f () { int old; InterlockedAdd (x, 1, old); }"},
    {"HLSL4014", "cbuffer B { float x : packoffset (k0); };",
     "cbuffer B { float x : packoffset (c1.y); };"},
    {"HLSL4021", "Texture2D t : register (q5);", "Texture2D t : register (t5, space1);"},
    {"HLSL4035", "[[vk::image_format (\"r32i\")]] RWTexture2D<float> t;",
     "[[vk::image_format (\"r16f\")]] RWTexture2D<float> t;"},
    {"HLSL4036", "float x = 1;", "static float x = 1;"},
    {"HLSL4040", "volatile float x;", "uniform float x;"},
    {"HLSL6001", "[[kiln::option (global)]] static bool k = true;",
     "[[kiln::option (global)]] static const bool k = true;"},
    {"HLSL6002", "[[kiln::option (global)]] static const double k = 1;",
     "[[kiln::option (global)]] static const float k = 1;"},
    {"HLSL6003",
     "[[kiln::option (global)]] static const int a = 1; [[kiln::option (global)]] static const int "
     "b = a;",
     "[[kiln::option (global)]] static const int a = 1; static const int b = a;"},
    {"HLSL2020",
     "[[kiln::option (global)]] static const uint n = 2; void f () { int a[n] = { 1, 2 }; }",
     "[[kiln::option (global)]] static const uint n = 2; void f () { int a[n]; a[0] = 1; }"},
    {"HLSL8004", "int64_t x;", "int32_t x;"},
    {"HLSL8004", "uint f () { return WaveGetLaneIndex (); }",
     "float f (float x) { return sin (x); }"},
    {"HLSL8004", "cbuffer B { int2x2 b; };", "cbuffer B { bool b; float2x3 m[2]; };"},
    {"HLSL8004", "cbuffer B { [[kiln::meta(world)]] uint b; };", "cbuffer B { uint b; };"},
    {"HLSL8004", "struct V { [[kiln::pack(unorm8)]] float4 c : COLOR; };",
     "struct V { float4 c : COLOR; };"},
    {"HLSL8004", "float f () { return 1; } static float v = f ();", "static float v = 1;"},
};

constexpr Pair kResources[] = {
    // --- handles
    {"HLSL8004", "void f (inout Texture2D t) {}", "void f (Texture2D t) {}"},
    {"HLSL8004", "Texture2D f ();", "float4 f ();"},
    {"HLSL8004", "struct S { Texture2D t; };", "struct S { float4 t; };"},
    {"HLSL8004", "Texture2D t[2][2];", "Texture2D t[4];"},
    {"HLSL8004", "Texture2D t[];", "Texture2D t[2];"},
    {"HLSL8004", "Texture2D a, b; void f () { Texture2D t; }",
     "Texture2D a, b; float4 f () { Texture2D t = a; return t.Load (int3 (0, 0, 0)); }"},
    {"HLSL2010", "Texture3D a; void f () { Texture2D t = a; }",
     "Texture2D a[2]; void f (uint i) { Texture2D t = a[i]; }"},
    {"HLSL2018", "Texture2D a, b; void f () { Texture2D t = a; t = b; }",
     "Texture2D a; void f () { Texture2D t = a; Texture2D u = t; }"},
    {"HLSL2021", "Texture2D a; void g (Texture3D t) {} void f () { g (a); }",
     "Texture3D a; void g (Texture3D t) {} void f () { g (a); }"},
    {"HLSL8004",
     "StructuredBuffer<uint> a[2]; uint g (StructuredBuffer<uint> b) { return b[0]; } uint f (uint "
     "i) "
     "{ return g (a[i]); }",
     "StructuredBuffer<uint> a[2]; uint g (StructuredBuffer<uint> b) { return b[0]; } uint f (uint "
     "i) "
     "{ return g (a[1]) + a[i][0]; }"},
    {"HLSL2033", "Texture2D a[2]; float4 f (int3 p) { return a[2].Load (p); }",
     "Texture2D a[2]; float4 f (int3 p) { return a[1].Load (p); }"},
    // --- blocks
    {"HLSL2031", "ConstantBuffer<float4> c;", "struct S { float4 x; }; ConstantBuffer<S> c;"},
    {"HLSL2018", "struct S { float4 x; }; ConstantBuffer<S> c; void f () { c.x = 1; }",
     "struct S { float4 x; }; ConstantBuffer<S> c; float4 f () { S s = c; return s.x + c.x; }"},
    {"HLSL2005", "struct S { float4 x; }; TextureBuffer<S> c; float4 f () { return c.y; }",
     "struct S { float4 x; }; TextureBuffer<S> c[2]; float4 f (uint i) { return c[i].x; }"},
    {"HLSL8004", "[[vk::push_constant]] float4 c;",
     "[[vk::push_constant]] struct { float4 x; } c; float4 f () { return c.x; }"},
    // --- specialisation constants
    {"HLSL2028", "[[vk::constant_id (1)]] const int n = 2; static int a[n];",
     "[[vk::constant_id (1)]] const int n = 2; static int a = n;"},
    {"HLSL2041", "[[vk::constant_id (1)]] const int n;",
     "[[vk::constant_id (1)]] const int n = 1; int f () { return n + n; }"},
    {"HLSL6002", "[[vk::constant_id (1)]] const float2 n = 1;",
     "[[vk::constant_id (1)]] const float n = 1;"},
    {"HLSL6002", "enum E { a }; [[kiln::option (instance, specialize)]] static const E e = a;",
     "enum E { a }; [[kiln::option (instance)]] static const E e = a;"},
    {"HLSL1046", "[[kiln::option (global, specialize)]] static const bool k = true;",
     "[[kiln::option (instance, specialize)]] static const bool k = true; bool f () { return !k; "
     "}"},
    {"HLSL2018", "[[vk::constant_id (1)]] const int n = 1; void f () { n = 2; }",
     "[[vk::constant_id (1)]] const int n = 1; void f () { int m = n; m = 2; }"},
    // --- bytes
    {"HLSL4007", "ByteAddressBuffer b; void f () { b.Store (0, 1); }",
     "RWByteAddressBuffer b; void f () { b.Store (0, 1); b.Store3 (4, uint3 (1, 2, 3)); }"},
    {"HLSL2021", "ByteAddressBuffer b; uint f () { return b.Load (); }",
     "ByteAddressBuffer b; uint4 f () { return b.Load4 (b.Load (4)); }"},
    {"HLSL8004", "ByteAddressBuffer b; void f () { uint s; b.Load (0, s); }",
     "ByteAddressBuffer b; void f () { uint s = b.Load (0); }"},
    {"HLSL2018", "RWByteAddressBuffer b; void f () { b.Load (0) = 1; }",
     "RWByteAddressBuffer b; void f () { uint o; b.InterlockedMax (0, 1, o); }"},
    {"HLSL2034", "ByteAddressBuffer b; uint f () { return b[0]; }",
     "StructuredBuffer<uint> b; uint f () { return b[0]; }"},
    // --- texels and sizes
    {"HLSL4005", "Texture2D t; float4 f (int2 o) { return t.Load (int3 (0, 0, 0), o); }",
     "Texture2D t; float4 f () { return t.Load (int3 (0, 0, 0), int2 (1, -8)); }"},
    {"HLSL2005", "TextureCube t; float4 f () { return t.mips[0][0]; }",
     "Texture2D t; float4 f (uint2 p) { return t.mips[1][p]; }"},
    {"HLSL2005", "Texture2D t; float4 f (uint2 p) { return t.sample[0][p]; }",
     "Texture2DMS<float4> t; float4 f (uint2 p) { return t.sample[2][p]; }"},
    {"HLSL2010", "Texture2D t; void g (Texture2D u) {} void f () { Texture2D a = t.mips; }",
     "Texture2D t; void f () { Texture2D a = t; }"},
    {"HLSL2021", "Texture2D t; void f () { uint w; t.GetDimensions (w); }",
     "Texture2D t; void f () { float w, h, n; t.GetDimensions (w, h); t.GetDimensions (1, w, h, "
     "n); "
     "}"},
    {"HLSL2023", "Texture2D t; void f () { uint w; t.GetDimensions (w, 1); }",
     "Buffer<float> t; void f () { uint w; t.GetDimensions (w); }"},
    {"HLSL2021", "StructuredBuffer<uint> b; void f () { uint n; b.GetDimensions (n); }",
     "StructuredBuffer<uint> b; void f () { uint n, s; b.GetDimensions (n, s); }"},
    {"HLSL4007", "Texture3D t; SamplerState s; float4 f () { return t.Gather (s, 0); }",
     "TextureCube t; SamplerState s; float4 f (float3 v) { return t.Gather (s, v); }"},
    {"HLSL8004",
     "Texture2D t; SamplerState s; float4 f (float2 v, int2 o) { return t.GatherRed (s, v, o, o); "
     "}",
     "Texture2D t; SamplerState s; float4 f (float2 v, int2 o) { return t.GatherRed (s, v, o) + "
     "t.GatherRed (s, v, o, o, o, o); }"},
    {"HLSL4008", "RWTexture2D<float4> t; void f () { InterlockedAdd (t[uint2 (0, 0)].x, 1); }",
     "RWTexture2D<uint> t; void f () { InterlockedAdd (t[uint2 (0, 0)], 1); }"},
};

constexpr Pair kMethods[] = {
    {"HLSL4007", "struct S { int a; }; int f (S s) { return s.g (); }",
     "struct S { int a; int g () { return a; } }; int f (S s) { return s.g (); }"},
    {"HLSL2001", "int f () { return this.a; }", "struct S { int a; int f () { return this.a; } };"},
    {"HLSL2004", "struct S { int a; static int f () { return a; } };",
     "struct S { static const int a = 1; static int f () { return a; } }; int g () { return S::a + "
     "S::f (); }"},
    {"HLSL2004", "struct S { int a; }; int f () { return S::a; }",
     "struct S { static const int a = 1; }; int f () { return S::a; }"},
    {"HLSL2005", "struct S { int a; }; int S::f () { return a; }",
     "struct S { int a; int f (); }; int S::f () { return a; }"},
    {"HLSL2018",
     "struct S { int a; void f () { a = 1; } }; void g () { const S s = (S) 0; s.f (); }",
     "struct S { int a; void f () { a = 1; } }; void g () { S s = (S) 0; s.f (); }"},
    {"HLSL2018",
     "struct S { int a; void f () { g (); } void g () { a = 1; } }; cbuffer B { S s; }; void h () "
     "{ "
     "s.f (); }",
     "struct S { int a; int f () { return g (); } int g () { return a; } }; cbuffer B { S s; }; "
     "int "
     "h () { return s.f (); }"},
    {"HLSL2002", "struct S { int f () { return 1; } int f () { return 2; } };",
     "struct S { int f () { return 1; } int f (int x) { return x; } };"},
    {"HLSL2021", "struct S { int f (float2 x) { return 1; } }; int g (S s) { return s.f (); }",
     "struct S { int f (float2 x) { return 1; } }; int g (S s) { return s.f (1); }"},
};

void CheckPairs(std::span<const Pair> pairs) {
  for (const Pair& pair : pairs) {
    EXPECT_EQ(CodesOf(pair.wrong), pair.code) << pair.wrong;
    EXPECT_EQ(CodesOf(pair.right), "") << pair.right;
  }
}

TEST(Check, Expressions_HaveTheirCodes) { CheckPairs(kExpressions); }
TEST(Check, Statements_HaveTheirCodes) { CheckPairs(kStatements); }
TEST(Check, Resources_HaveTheirCodes) { CheckPairs(kResources); }
TEST(Check, Methods_HaveTheirCodes) { CheckPairs(kMethods); }
TEST(Check, Declarations_HaveTheirCodes) { CheckPairs(kDeclarations); }

TEST(Check, Dialects_Differ) {
  const struct {
    std::string_view text, in_2018, in_2021;
  } rows[] = {
      {"bool2 f (bool2 a, bool2 b) { return a && b; }", "", "HLSL2015"},
      {"float2 f (bool2 a) { return a ? 1 : 2; }", "", "HLSL2016"},
      {"struct A { int x; }; struct B { int y; }; B f (A a) { return a; }", "HLSL2011", "HLSL2010"},
      {"int f () { for (int i = 0; i < 2; ++i) {} return i; }", "", "HLSL2001"},
      {"void f () { for (int i = 0; i < 2; ++i) {} for (int i = 0; i < 2; ++i) {} }", "HLSL2037",
       ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(CodesOf(row.text, Version::k2018), row.in_2018) << row.text;
    EXPECT_EQ(CodesOf(row.text, Version::k2021), row.in_2021) << row.text;
  }
}

// One error for each statement: what is made of a failed thing has failed, in silence.
TEST(Check, AFailedThing_IsSaidOnce) {
  EXPECT_EQ(CodesOf("float f () { float3 v = nothing.xyz * 2; return dot (v, v) + v.x; }"),
            "HLSL2001");
  EXPECT_EQ(CodesOf("missing f (missing a) { return a; }").find("HLSL2010"), std::string::npos);
}

// How often a code is said.
TEST(Check, AnOptionThatIsNone_IsSaidOnce) {
  for (const std::string_view declaration : {
           "[[kiln::option (global)]] const int mode;",
           "[[kiln::option (global)]] static int mode = 1;",
       }) {
    EXPECT_EQ(CodesOf(std::string(declaration) + " int f () { return mode + mode; }"), "HLSL6001")
        << declaration;
  }
}

// The component that stands twice, not the first one.
TEST(Check, ARepeatedComponent_IsNamed) {
  const struct {
    std::string_view statement, component;
  } rows[] = {
      {"v.xyy = 1;", "'xyy' is written and names 'y' twice"},
      {"v.rgr = 1;", "'rgr' is written and names 'r' twice"},
      {"m._m00_m01_m01 = 1;", "names '_m01' twice"},
      {"m._12_11_12 = 1;", "names '_12' twice"},
      {"n._m00_m01_m01 = 1;", "names '_m01' twice"},
  };
  for (const auto& row : rows) {
    const std::string text = "void f (inout float4 v, inout float2x2 m, inout float1x2 n) { " +
                             std::string(row.statement) + " }";
    EXPECT_NE(MessagesOf(text).find(row.component), std::string::npos) << row.statement << "\n"
                                                                       << MessagesOf(text);
  }
}

// 20,000 terms, nested structs, doubled constants: nothing recurses or grows without a bound.
TEST(Check, LargeSources_AreCheckedOrRefused) {
  std::string sum = "int f (int x) { return x";
  for (int i = 0; i < 20'000; ++i) {
    sum += " + x";
  }
  EXPECT_EQ(CodesOf(sum + "; }"), "");
  std::string doubled = "[[kiln::option (global)]] static const int k0 = 1;\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "k" + std::to_string(i - 1);
    doubled += "static const int k" + std::to_string(i) + " = " + before + " + " + before + ";\n";
  }
  EXPECT_EQ(CodesOf(doubled), "HLSL1007");
  std::string nested = "struct S0 { float4 a[1000]; };\n";
  for (int i = 1; i < 10; ++i) {
    const std::string number = std::to_string(i);
    nested += "struct S" + number + " { S" + std::to_string(i - 1) + " a[1000]; };\n";
  }
  EXPECT_EQ(CodesOf(nested), "HLSL1007");
}

std::string Times(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

std::string Labels(uint32_t count) {
  std::string all;
  for (uint32_t i = 0; i < count; ++i) {
    all += "case " + std::to_string(i) + ": ";
  }
  return all;
}

// What SPIR-V or the recursion over types bounds, at the limit and one above.
TEST(Check, Extents_Parameters_Labels_AreBounded) {
  const struct {
    std::string right, wrong;
    std::string_view code;
  } rows[] = {
      {"static float a[65532];", "static float a[65533];", "HLSL1007"},
      {"typedef float A[65532];", "typedef float A[65533];", "HLSL1007"},
      {"static float a" + Times(256, "[1]") + ";", "static float a" + Times(257, "[1]") + ";",
       "HLSL1008"},
      {"typedef float A" + Times(200, "[1]") + "; static A a" + Times(56, "[1]") + ";",
       "typedef float A" + Times(200, "[1]") + "; static A a" + Times(57, "[1]") + ";", "HLSL1008"},
      {"void f (int" + Times(254, ", int") + ") {}", "void f (int" + Times(255, ", int") + ") {}",
       "HLSL1007"},
      {"void f (int a) { switch (a) { " + Labels(16'383) + "break; } }",
       "void f (int a) { switch (a) { " + Labels(16'384) + "break; } }", "HLSL1007"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(CodesOf(row.right), "") << row.right.substr(0, 60);
    EXPECT_EQ(CodesOf(row.wrong), row.code) << row.wrong.substr(0, 60);
  }
}

// One message for the type; what is done with the value says nothing more.
TEST(Check, CallOfAFunctionWhoseTypeFailed_HasFailed) {
  const std::string function = "foo F (float a) { return a; } ";
  for (const char* use : {"float x = F (p); return x;",
                          "return F (p);",
                          "return (float) F (p);",
                          "return float2 (F (p), 1).x;",
                          "return F (p) + 1;",
                          "return -F (p);",
                          "return !F (p);",
                          "return ~F (p);",
                          "return F (p) ? 1 : 2;",
                          "return true ? F (p) : 1;",
                          "return F (p).x;",
                          "return F (p)[0];",
                          "return F (p), 1;",
                          "return dot (F (p), 1);",
                          "return F (F (p));",
                          "return F (p)++;",
                          "return p += F (p);",
                          "if (F (p)) { } return 1;",
                          "switch (F (p)) { case 0: break; } return 1;",
                          "float x[F (p)]; return 1;",
                          "float x[2] = { F (p), F (p) }; return x[0];",
                          "F (p); return 1;",
                          "for (; F (p);) { } return 1;",
                          "return F (p).f ();",
                          "return asuint (F (p));"}) {
    const std::string text = function + "float f (float p) { " + use + " }";
    EXPECT_EQ(CodesOf(text), "HLSL2001") << text;
  }
}

// What has no value is neither dropped nor kept in memory.
TEST(Check, Resources_AreNoOperandsOfCommasAndNotShared) {
  const std::string image = "Texture2D t; ";
  EXPECT_EQ(CodesOf(image + "float f () { return (t, 1); }"), "HLSL8004");
  EXPECT_EQ(CodesOf(image + "float4 f () { return (1, t).Load (0); }"), "HLSL8004");
  EXPECT_EQ(CodesOf(image + "float f () { return (t.Load (0), 1); }"), "");
  EXPECT_EQ(CodesOf("groupshared Texture2D t;"), "HLSL8004");
  EXPECT_EQ(CodesOf("groupshared SamplerState s[2];"), "HLSL8004");
  EXPECT_EQ(CodesOf("groupshared float4 v[2];"), "");
}

TEST(Check, ManyWarnings_HideNoError) {
  std::string text = "float2 f (float4 v) { float2 x;\n";
  for (size_t i = 0; i < 2 * kMaxFound; ++i) {
    text += "x = v;\n";
  }
  EXPECT_EQ(CodesOf(text + "return x; }"), "HLSL2011");
  EXPECT_EQ(CodesOf(text + "return y; }"), "HLSL2011 HLSL2001");
}

}  // namespace
}  // namespace kiln::hlsl
