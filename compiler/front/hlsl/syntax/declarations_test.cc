// SPDX-License-Identifier: MIT
// Every rule of `unit` down to `param`, `place` and `attrs`: source → dump, or → message.
#include <gtest/gtest.h>

#include "compiler/front/hlsl/syntax/parsed_source.h"

namespace kiln::hlsl::syntax {
namespace {

struct Case {
  std::string_view source;
  std::string_view dump;
};

TEST(Declarations, Top_EachKind) {
  const Case cases[] = {
      {"", ""},
      {";", ""},
      {"namespace n { }", "namespace n\n"},
      {"namespace n { float a; namespace m { float b; } }",
       "namespace n\n  variables float\n    a\n  namespace m\n    variables float\n      b\n"},
      {"typedef float4 colour;", "alias float4\n  colour\n"},
      {"typedef float row[4], cell;", "alias float\n  row[4]\n  cell\n"},
      {"typedef const row_major float2x2 m;", "alias const row_major float2x2\n  m\n"},
      {"using colour = float4;", "alias float4\n  colour\n"},
      {"using row = float[4][2];", "alias float[4][2]\n  row\n"},
      {"enum tone { warm, cold = 4, };", "enum tone\n  warm\n  cold = 4\n"},
      {"enum class tone : uint { warm = 1 + 2 };", "enum class tone : uint\n  warm = (+ 1 2)\n"},
      {"enum struct tone { warm };", "enum class tone\n  warm\n"},
      {"struct s { };", "struct s\n"},
      {"class s { };", "class s\n"},
      {"struct { float a; } x;", "struct\n  variables float\n    a\nvariables struct\n  x\n"},
      {"static const struct s { float a; } x = { 1 }, y[2];",
       "struct s\n  variables float\n    a\nvariables static const struct\n  x = (list 1)\n  "
       "y[2]\n"},
      {"float a;", "variables float\n  a\n"},
      {"float a = 1, b[2][3] = { 1, 2 }, c;",
       "variables float\n  a = 1\n  b[2][3] = (list 1 2)\n  c\n"},
      {"float a[];", "variables float\n  a[]\n"},
      {"Texture2D<float4> t : register (t0);", "variables Texture2D<float4>\n  t : register t0\n"},
      {"Texture2DMS<float4, 4> t;", "variables Texture2DMS<float4, 4>\n  t\n"},
      {"RWBuffer<unorm float4> t;", "variables RWBuffer<unorm float4>\n  t\n"},
      {"ConstantBuffer<vector<float, 4>> c;", "variables ConstantBuffer<vector<float, 4>>\n  c\n"},
      {"StructuredBuffer<matrix<float, 2, 1 + 1> > c;",
       "variables StructuredBuffer<matrix<float, 2, (+ 1 1)>>\n  c\n"},
      {"vk::SampledTexture2D<float4> t;", "variables vk::SampledTexture2D<float4>\n  t\n"},
      {"struct s { float a; }; StructuredBuffer<s> c;",
       "struct s\n  variables float\n    a\nvariables StructuredBuffer<s>\n  c\n"},
      {"groupshared uint g[64];", "variables groupshared uint\n  g[64]\n"},
      {"unsigned int a; unsigned b;", "variables unsigned\n  a\nvariables unsigned\n  b\n"},
      {"float a : SEMANTIC : register (c0, space1) : packoffset (c1.x);",
       "variables float\n  a : SEMANTIC : register c0 space1 : packoffset c1 x\n"},
      {"float a : packoffset (c2);", "variables float\n  a : packoffset c2\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOf(c.source), c.dump) << c.source;
  }
}

TEST(Declarations, Records_HaveAllMembers) {
  EXPECT_EQ(DumpOf("struct s {\n"
                   "  float a : A, b[2] : B;\n"
                   "  nointerpolation row_major float2x2 m;\n"
                   "  [[vk::offset(16)]] float c;\n"
                   "  static const float d = 1;\n"
                   "  struct t { float e; } f;\n"
                   "  enum { g };\n"
                   "};"),
            "7:8 HLSL1040 expected the name of an enum, found '{'\n");
  EXPECT_EQ(DumpOf("struct s {\n"
                   "  float a : A, b[2] : B;\n"
                   "  nointerpolation row_major float2x2 m;\n"
                   "  [[vk::offset(16)]] float c;\n"
                   "  static const float d = 1;\n"
                   "  struct t { float e; } f;\n"
                   "  enum u { g };\n"
                   "  typedef t v;\n"
                   "  v h;\n"
                   "  float i () { return a; }\n"
                   "  static void j (float k);\n"
                   "};"),
            "struct s\n"
            "  variables float\n"
            "    a : A\n"
            "    b[2] : B\n"
            "  variables row_major nointerpolation float2x2\n"
            "    m\n"
            "  [vk::offset 16] variables float\n"
            "    c\n"
            "  variables static const float\n"
            "    d = 1\n"
            "  struct t\n"
            "    variables float\n"
            "      e\n"
            "  variables struct\n"
            "    f\n"
            "  enum u\n"
            "    g\n"
            "  alias t\n"
            "    v\n"
            "  variables v\n"
            "    h\n"
            "  function float i\n"
            "    block\n"
            "      return a\n"
            "  function static void j prototype\n"
            "    parameter float k\n");
}

TEST(Declarations, Blocks_HaveVariables) {
  EXPECT_EQ(
      DumpOf("cbuffer c : register (b0) { float4 a; row_major float4x4 m : packoffset (c1); }\n"
             "tbuffer t { float b; };"),
      "cbuffer c : register b0\n"
      "  variables float4\n"
      "    a\n"
      "  variables row_major float4x4\n"
      "    m : packoffset c1\n"
      "tbuffer t\n"
      "  variables float\n"
      "    b\n");
}

TEST(Declarations, Functions_HaveParametersAndBody) {
  const Case cases[] = {
      {"void f ();", "function void f prototype\n"},
      {"void f (void) { }", "function void f\n  block\n"},
      {"float4 f (float2 a : A, in float b, out float c, inout float d[2], uniform float e) : "
       "SV_Target "
       "{ return a; }",
       "function float4 f : SV_Target\n  parameter float2 a : A\n  parameter in float b\n  "
       "parameter "
       "out float c\n  parameter in out float d[2]\n  parameter uniform float e\n  block\n    "
       "return "
       "a\n"},
      {"void f (float a = 1, float = 2);",
       "function void f prototype\n  parameter float a = 1\n  parameter float  = 2\n"},
      {"void f (const float a, [[kiln::rate(instance)]] noperspective centroid float b);",
       "function void f prototype\n  parameter const float a\n  [kiln::rate instance] parameter "
       "centroid noperspective float b\n"},
      {"static inline precise float f () { return 1; }",
       "function static inline precise float f\n  block\n    return 1\n"},
      {"struct s { float f (); }; float s::f () { return 1; }",
       "struct s\n  function float f prototype\nfunction float s::f\n  block\n    return 1\n"},
      {"[numthreads(8, 8, 1)] void f (uint3 i : SV_DispatchThreadID) { }",
       "[numthreads 8 8 1] function void f\n  parameter uint3 i : SV_DispatchThreadID\n  block\n"},
      {"void f () { struct t { void g () { a; } }; }",
       "function void f\n  block\n    struct t\n      function void g\n        block\n          "
       "a\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOf(c.source), c.dump) << c.source;
  }
}

TEST(Declarations, Attributes_OfEveryForm) {
  const Case cases[] = {
      {"[[vk::binding(3, 1)]] Texture2D t;", "[vk::binding 3 1] variables Texture2D\n  t\n"},
      {"[[vk::binding(3), vk::counter_binding(4)]] Texture2D t;",
       "[vk::binding 3] [vk::counter_binding 4] variables Texture2D\n  t\n"},
      {"[[using Vulkan: set(1), binding(2)]] Texture2D t;",
       "[Vulkan::set 1] [vk::binding 2] variables Texture2D\n  t\n"},
      {"[[vk::push_constant]] cbuffer c { float a; }",
       "[vk::push_constant] cbuffer c\n  variables float\n    a\n"},
      {"[[kiln::option(instance, specialize)]] static const float a = 1;",
       "[kiln::option instance specialize] variables static const float\n  a = 1\n"},
      {"[[kiln::pack(float16)]] float a;", "[kiln::pack float16] variables float\n  a\n"},
      {"[[kiln::setting(\"cull_mode\", a ? \"none\" : \"back\")]] [shader(\"vertex\")] void f ();",
       "[kiln::setting \"cull_mode\" (? a \"none\" \"back\")] [shader \"vertex\"] function void f "
       "prototype\n"},
      {"[[kiln::conditional(a && !b)]] float c;",
       "[kiln::conditional (&& a (! b))] variables float\n  c\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOf(c.source), c.dump) << c.source;
  }
  EXPECT_EQ(DumpOf("[[other::thing(a (b) [c], d)]] float c;"), "variables float\n  c\n");
}

TEST(Declarations, EffectSyntax_IsIgnored) {
  const Case cases[] = {
      {"technique t { pass p { VertexShader = compile vs_3_0 f (); } }", ""},
      {"technique11 t < string a = \"b\"; > { }; float a;", "variables float\n  a\n"},
      {"float a < string b = \"c\"; > = 1;", "variables float\n  a = 1\n"},
      {"SamplerState s { Filter = x; }; float a;",
       "variables SamplerState\n  s\nvariables float\n  a\n"},
      {"SamplerState s = sampler_state { Filter = x; };", "variables SamplerState\n  s\n"},
      {"float technique;", "variables float\n  technique\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOf(c.source), c.dump) << c.source;
  }
  EXPECT_EQ(FoundText("technique t { }", ParseSource("technique t { }").Found()),
            "1:1 HLSL1044 'technique' is effect syntax and is ignored\n");
}

TEST(Declarations, OtherFamilies_AreRefusedByName) {
  struct Refused {
    std::string_view source;
    std::string_view in_2021;
    std::string_view in_2018;
  };
  const Refused cases[] = {
      {"template<typename T> T f (T a) { return a; } float b;",
       "1:1 HLSL8004 'template' belongs to templates, which this build lacks\n",
       "1:1 HLSL1045 'template' needs HLSL 2021\n"},
      {"struct s { float a; s operator+ (s b) { return b; } float c; };",
       "1:23 HLSL8004 'operator' belongs to operator overloads, which this build lacks\n",
       "1:23 HLSL1045 'operator' needs HLSL 2021\n"},
      {"struct s { uint a : 4; uint b; };",
       "1:19 HLSL8004 ':' belongs to bit-fields, which this build lacks\n",
       "1:19 HLSL1045 ':' needs HLSL 2021\n"},
      {"struct s : t { float a; };",
       "1:8 HLSL8004 's' belongs to inheritance, which this build lacks\n",
       "1:8 HLSL8004 's' belongs to inheritance, which this build lacks\n"},
      {"export float f () { return 1; }",
       "1:1 HLSL8004 'export' belongs to libraries, which this build lacks\n",
       "1:1 HLSL8004 'export' belongs to libraries, which this build lacks\n"},
      {"struct s { float a; }; void f (triangle s a[3]);",
       "1:32 HLSL8004 'triangle' belongs to geometry stages, which this build lacks\n",
       "1:32 HLSL8004 'triangle' belongs to geometry stages, which this build lacks\n"},
      {"struct s { float a; }; void f (out vertices s a[3]);",
       "1:36 HLSL8004 'vertices' belongs to mesh stages, which this build lacks\n",
       "1:36 HLSL8004 'vertices' belongs to mesh stages, which this build lacks\n"},
      {"[[vk::ext_instruction(1)]] float f ();",
       "1:7 HLSL8004 'ext_instruction' belongs to inline SPIR-V, which this build lacks\n",
       "1:7 HLSL8004 'ext_instruction' belongs to inline SPIR-V, which this build lacks\n"},
  };
  for (const Refused& c : cases) {
    EXPECT_EQ(DumpOf(c.source, Version::k2021), c.in_2021) << c.source;
    EXPECT_EQ(DumpOf(c.source, Version::k2018), c.in_2018) << c.source;
  }
}

TEST(Declarations, Mistakes_HaveOneMessageEach) {
  const Case cases[] = {
      {"a = b;", "1:1 HLSL1040 expected a declaration, found 'a'\n"},
      {"f () { }", "1:1 HLSL1040 expected a declaration, found 'f'\n"},
      {"}", "1:1 HLSL1040 expected a declaration, found '}'\n"},
      {"float", "1:6 HLSL1040 expected the name of a variable, found 'end of file'\n"},
      {"float a", "1:8 HLSL1040 expected ';' after variable 'a', found 'end of file'\n"},
      {"float a float b;", "1:9 HLSL1040 expected ';' after variable 'a', found 'float'\n"},
      {"float a\nfloat b;", "1:8 HLSL1040 expected ';' after variable 'a', found 'float'\n"},
      {"namespace { }", "1:11 HLSL1040 expected the name of a namespace, found '{'\n"},
      {"namespace n { float a;",
       "1:23 HLSL1041 namespace 'n' is not closed, expected '}' before 'end of file'\n"},
      {"typedef float;", "1:14 HLSL1040 expected the name of an alias, found ';'\n"},
      {"typedef 1 a;", "1:9 HLSL1040 expected a type, found '1'\n"},
      {"using float4;", "1:13 HLSL1040 expected '=' after alias 'float4', found ';'\n"},
      {"using = float4;", "1:7 HLSL1040 expected the name of an alias after 'using', found '='\n"},
      {"enum e { };", "1:10 HLSL1040 expected an enumerator, found '}'\n"},
      {"enum e { a b };", "1:12 HLSL1041 enum 'e' is not closed, expected '}' before 'b'\n"},
      {"enum e;", "1:7 HLSL1040 expected '{' after enum 'e', found ';'\n"},
      {"struct s;", "1:9 HLSL1040 expected the name of a variable, found ';'\n"},
      {"struct s { a = 1; };", "1:12 HLSL1040 expected a member or '}', found 'a'\n"},
      {"struct s { ; };", "1:12 HLSL1040 expected a member or '}', found ';'\n"},
      {"struct s { float a; }", "1:22 HLSL1040 expected ';' after struct, found 'end of file'\n"},
      {"struct s { float a; }\nfloat b;",
       "1:22 HLSL1040 expected ';' after struct, found 'float'\n"},
      {"struct s { float a;\ncbuffer c { float b; }",
       "2:1 HLSL1041 record 's' is not closed, expected '}' before 'cbuffer'\n"},
      {"cbuffer { float a; }", "1:9 HLSL1040 expected the name of a block, found '{'\n"},
      {"cbuffer c float a; }", "1:11 HLSL1040 expected '{' after cbuffer 'c', found 'float'\n"},
      {"cbuffer c { a = 1; }", "1:13 HLSL1040 expected a member or '}', found 'a'\n"},
      {"cbuffer c { float a;\nfloat f () { return a; }",
       "2:1 HLSL1041 cbuffer 'c' is not closed, expected '}' before 'float'\n"},
      {"float f ( { }", "1:11 HLSL1040 expected a type, found '{'\n"},
      {"float f (float a { }",
       "1:18 HLSL1041 function 'f' is not closed, expected ')' before '{'\n"},
      {"float f (a b c) { return d e; }",
       "1:14 HLSL1041 function 'f' is not closed, expected ')' before 'c'\n"
       "1:28 HLSL1040 expected ';' after 'return', found 'e'\n"},
      {"float f () return 1; }",
       "1:12 HLSL1040 expected ';' or '{' after function 'f', found 'return'\n"},
      {"float a : 1.0;",
       "1:11 HLSL1040 expected a semantic, 'register' or 'packoffset' after ':', found '1.0'\n"},
      {"float a : register;", "1:19 HLSL1040 expected '(' after 'register', found ';'\n"},
      {"float a : register ();", "1:21 HLSL1040 expected a register or space, found ')'\n"},
      {"float a : register (c0;",
       "1:23 HLSL1041 'register' is not closed, expected ')' before ';'\n"},
      {"float a : packoffset (c0.);", "1:26 HLSL1040 expected a component, found ')'\n"},
      {"[] float a;", "1:2 HLSL1040 expected the name of an attribute, found ']'\n"},
      {"[[vk::binding(1)] float a;",
       "1:19 HLSL1041 attribute is not closed, expected ']' before 'float'\n"},
      {"[[using vk binding(1)]] float a;",
       "1:12 HLSL1040 expected ':' after attribute name space 'vk', found 'binding'\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOf(c.source), c.dump) << c.source;
  }
}

}  // namespace
}  // namespace kiln::hlsl::syntax
