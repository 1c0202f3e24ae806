// SPDX-License-Identifier: MIT
// What the dump does not show: token ranges, ranges of rows, flags.
#include <gtest/gtest.h>

#include "compiler/front/hlsl/syntax/parsed_source.h"
#include "compiler/front/hlsl/syntax/tree_check.h"

namespace kiln::hlsl::syntax {
namespace {

std::string_view kSource =
    "namespace n { struct s { float m; float f (float a) { return m + a; } }; }\n"
    "cbuffer c : register (b0) { float4 v[2][3] : packoffset (c1); }\n"
    "[numthreads(1, 1, 1)] void g (in uint3 i : SV_GroupID) {\n"
    "  n::s x = { 1 }, y = (n::s) 0;\n"
    "  for (int k = 0; k < 4 && k != 3; ++k) if (k) x.m += v[0][k].x; else if (!k) break; else { ; "
    "}\n"
    "  y.m = k ? x.f (vector<float, 2> (1, 2).x) : -(vector<float, 2>) 1, 2;\n"
    "}\n";

TEST(Tree, AllRules_KeepItsPromises) {
  const ParsedSource source = ParseSource(kSource);
  ASSERT_TRUE(source.ok()) << FoundText(kSource, source.Found());
  EXPECT_EQ(CheckTree(source.read.stream, source.parsed.ast), "");
}

// The text of tokens [begin, end), with single spaces.
std::string TextOf(const ParsedSource& source, uint32_t begin, uint32_t end) {
  std::string out;
  for (uint32_t token = begin; token < end; ++token) {
    out += (out.empty() ? "" : " ");
    out += source.read.stream.Text(source.read.stream.tokens[token]);
  }
  return out;
}

TEST(Tree, Expressions_CoverTheirTokens) {
  const ParsedSource source = ParseSource("static float x = (a + (b)) * c[d] ? e : f (g);");
  ASSERT_TRUE(source.ok());
  std::string found;
  for (const Expr& e : source.parsed.ast.exprs) {
    if (e.begin != kNone) {
      found += TextOf(source, e.begin, e.end) + '\n';
    }
  }
  EXPECT_EQ(found,
            "a\nb\na + ( b )\nc\nd\nc [ d ]\n( a + ( b ) ) * c [ d ]\ne\nf\ng\nf ( g )\n"
            "( a + ( b ) ) * c [ d ] ? e : f ( g )\n");
}

TEST(Tree, Parentheses_AreAFlag) {
  const ParsedSource source = ParseSource("static float x = (a) = ((b)) + c;");
  ASSERT_TRUE(source.ok());
  std::string found;
  for (const Expr& e : source.parsed.ast.exprs) {
    found += TextOf(source, e.begin, e.end) +
             ((e.flags & Expr::kParenthesised) != 0 ? " yes\n" : " no\n");
  }
  EXPECT_EQ(found, "a yes\nb yes\nc no\n( ( b ) ) + c no\n( a ) = ( ( b ) ) + c no\n");
}

TEST(Tree, Types_KeepModifiersInOrder) {
  const ParsedSource source = ParseSource("row_major static const float2x2 precise m = 1;");
  ASSERT_TRUE(source.ok());
  const Type& type = source.parsed.ast.types.at(0);
  std::string found;
  for (const uint32_t token : source.parsed.ast.List(type.modifier_tokens)) {
    found += std::string(source.read.stream.Text(source.read.stream.tokens[token])) + ' ';
  }
  EXPECT_EQ(found, "row_major static const precise ");
  EXPECT_TRUE(type.Has(Modifier::kRowMajor) && type.Has(Modifier::kStatic));
  EXPECT_FALSE(type.Has(Modifier::kColumnMajor));
  EXPECT_EQ(TextOf(source, type.begin, type.end), "row_major static const float2x2 precise");
}

TEST(Tree, Inout_IsBoth) {
  const ParsedSource source = ParseSource("void f (inout float a, in float b, out float c);");
  ASSERT_TRUE(source.ok());
  const std::vector<Variable>& variables = source.parsed.ast.variables;
  const auto type = [&](size_t i) { return source.parsed.ast.types[variables[i].type]; };
  EXPECT_TRUE(type(0).Has(Modifier::kIn) && type(0).Has(Modifier::kOut));
  EXPECT_TRUE(type(1).Has(Modifier::kIn) && !type(1).Has(Modifier::kOut));
  EXPECT_TRUE(!type(2).Has(Modifier::kIn) && type(2).Has(Modifier::kOut));
}

TEST(Tree, LocalDeclarations_AreRowsOfTheirFunction) {
  const ParsedSource source =
      ParseSource("void f () { float a; { struct s { float b; } c; } typedef float d; } float e;");
  ASSERT_TRUE(source.ok());
  const std::vector<Decl>& decls = source.parsed.ast.decls;
  ASSERT_EQ(decls.size(), 7u);
  EXPECT_EQ(decls[0].next, 6u);
  std::string local;
  for (const Decl& decl : decls) {
    local += decl.Is(Decl::kLocal) ? '1' : '0';
  }
  EXPECT_EQ(local, "0110110");  // f, a, s, b, c, d, e: b is a member
}

}  // namespace
}  // namespace kiln::hlsl::syntax
