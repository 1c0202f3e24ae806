// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/syntax/parse.h"

#include <string>

#include <gtest/gtest.h>

#include "compiler/diag/message_count.h"
#include "compiler/front/wgsl/lex/lex.h"
#include "compiler/front/wgsl/syntax/dump.h"

namespace kiln::wgsl::front::syntax {
namespace {

// The tree, or "line:column message" of each error.
std::string ParseText(std::string_view text, const LanguageLimits& limits = {}) {
  const LexResult lexed = Lex(text, 0);
  const ParseResult parsed = Parse(lexed.stream, 0, limits);
  std::string errors;
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    errors += std::to_string(diagnostic.primary.bytes.begin) + " " + Message(diagnostic) + "\n";
  }
  return errors.empty() ? AstText(lexed.stream, parsed.ast) : errors;
}
std::string ExpressionText(std::string_view text) {
  const std::string tree = ParseText("const x = " + std::string(text) + ";");
  return tree.starts_with("const x = ") ? tree.substr(10, tree.size() - 11) : tree;
}

TEST(WgslParse, Operators_BindByClasses) {
  const struct {
    std::string_view text, tree;
  } kRows[] = {
      {"a + b * c", "(a + (b * c))"},
      {"a * b + c", "((a * b) + c)"},
      {"a - b - c", "((a - b) - c)"},
      {"a * b / c % d", "(((a * b) / c) % d)"},
      {"a + b < c * d", "((a + b) < (c * d))"},
      {"a << 2u < b", "((a << 2u) < b)"},
      {"a && b && c", "((a && b) && c)"},
      {"a < b || c == d", "((a < b) || (c == d))"},
      {"a & b & c", "((a & b) & c)"},
      {"a | -b", "(a | (-b))"},
      {"!a && -b.c[1] < 2", "((!a) && ((-b.c[1]) < 2))"},
      {"*p + &q", "((*p) + (&q))"},
      {"(a & b) == c", "((a & b) == c)"},
      {"f(a, b)[1].xy", "f(a, b)[1].xy"},
      {"vec3<f32>(a, b,)", "vec3<f32>(a, b)"},
      {"array<vec2<f32>, 2 + 1>()", "array<vec2<f32>, (2 + 1)>()"},
      {"- - a", "(-(-a))"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(ExpressionText(row.text), row.tree) << row.text;
  }
}

TEST(WgslParse, Operators_OfDifferentKindsNeedParentheses) {
  for (const std::string_view text :
       {"a & b | c", "a & b + c", "a && b || c", "a < b < c", "a << b << c", "a << b + c",
        "a + b << c", "a ^ b && c", "a == b == c", "a | b < c"}) {
    EXPECT_NE(ExpressionText(text).find("parentheses around one of two operators"),
              std::string::npos)
        << text << "\n"
        << ExpressionText(text);
  }
}

TEST(WgslParse, Statements_AreTrees) {
  EXPECT_EQ(
      ParseText(
          "@compute @workgroup_size(8, N) fn f(@builtin(position) a : u32) -> @location(0) f32 {\n"
          "  var<function> b = 1; let c : u32 = a; const d = 2;\n"
          "  b += c; b++; _ = d; f(1);\n"
          "  if a { return 1.0; } else if b { discard; } else { ; }\n"
          "  for (var i = 0; i < 3; i++) { continue; }\n"
          "  loop { break; continuing { b--; break if a; } }\n"
          "  while a { { } }\n"
          "  switch a { case 1, 2: { } case 3, default { break; } }\n"
          "}\n"),
      "@compute @workgroup_size(8, N) fn f -> @location(0) f32\n"
      "  @builtin(position) parameter a : u32\n"
      "  block\n"
      "    var b = 1\n"
      "    let c : u32 = a\n"
      "    const d = 2\n"
      "    assign b += c\n"
      "    increment b +\n"
      "    assign _ = d\n"
      "    call f(1)\n"
      "    if a\n"
      "      block\n"
      "        return 1.0\n"
      "      if b\n"
      "        block\n"
      "          discard\n"
      "        block\n"
      "    for (i < 3)\n"
      "      var i = 0\n"
      "      increment i +\n"
      "      block\n"
      "        continue\n"
      "    loop\n"
      "      block\n"
      "        increment b -\n"
      "        break if a\n"
      "      break\n"
      "    while a\n"
      "      block\n"
      "        block\n"
      "    switch a\n"
      "      case 1, 2\n"
      "        block\n"
      "      case 3, default\n"
      "        block\n"
      "          break\n");
}

TEST(WgslParse, Declarations_AreTrees) {
  EXPECT_EQ(ParseText("enable f16; requires a, b; diagnostic(off, derivative_uniformity);\n"
                      "alias T = vec2<f32>;\n@id(1) override o : f32 = 1;\noverride p : u32;\n"
                      "@group(0) @binding(1) var<storage, read_write> s : array<u32>;\n"
                      "struct S { @size(16) a : f32, b : T }\nconst_assert 1 < 2;;\n"),
            "directive f16\ndirective a b\ndirective off derivative_uniformity\n"
            "alias T : vec2<f32>\n@id(1) override o : f32 = 1\noverride p : u32\n"
            "@group(0) @binding(1) var<storage read_write> s : array<u32>\n"
            "struct S\n  @size(16) member a : f32\n  member b : T\nconst_assert (1 < 2)\n");
}

// One error a statement: what follows is read again behind it.
TEST(WgslParse, Errors_AreOneAStatement) {
  const struct {
    std::string_view text;
    size_t errors;
  } kRows[] = {
      {"fn f() { let a = ; let b = 1 + ; c = 2; }", 2},
      {"fn f() { if { } x = 1; }", 1},
      {"fn f() { x = 1 y = 2; }", 1},
      {"fn f( { } fn g() { x; }", 2},
      {"const a = 1 const b = 2;", 1},
      {"struct S { a f32, } fn f() { x }", 2},
      {"fn f() { { a = ; } b = ; }", 2},
      {"fn f() { switch a { case { } } b = ; }", 2},
      {"fn f() { a = (1; } fn g() { }", 1},
      {"fn f() { for (;;) b = 1; }", 1},
      {"] fn f() { }", 1},
  };
  for (const auto& row : kRows) {
    const LexResult lexed = Lex(row.text, 0);
    EXPECT_EQ(Parse(lexed.stream, 0).diagnostics.size(), row.errors) << row.text << "\n"
                                                                     << ParseText(row.text);
  }
}

TEST(WgslParse, Nesting_HasALimit) {
  LanguageLimits limits;
  limits.nesting = 8;
  const auto nested = [](size_t depth, std::string_view open, std::string_view close) {
    std::string text = "const a = ";
    for (size_t i = 0; i < depth; ++i) {
      text += open;
    }
    text += "1";
    for (size_t i = 0; i < depth; ++i) {
      text += close;
    }
    return text + ";";
  };
  EXPECT_EQ(ParseText(nested(8, "(", ")"), limits), "const a = 1\n");
  EXPECT_NE(ParseText(nested(9, "(", ")"), limits).find("nesting exceeds the limit of 8"),
            std::string::npos);
  EXPECT_NE(ParseText(nested(9, "~", ""), limits).find("nesting exceeds"), std::string::npos);
}

// Chains are no nesting, and deep sources end.
TEST(WgslParse, Chains_AreLong) {
  std::string chain = "const a = 1";
  for (int i = 0; i < 100'000; ++i) {
    chain += " + 1";
  }
  const std::string source = chain + ";";
  const LexResult lexed = Lex(source, 0);
  EXPECT_TRUE(Parse(lexed.stream, 0).diagnostics.empty());
  const std::string deep(1'000'000, '(');
  const LexResult brackets = Lex(deep, 0);
  EXPECT_FALSE(Parse(brackets.stream, 0).diagnostics.empty());
}

// Each word of the language's list and each statement without an end is an error.
TEST(WgslParse, ManyMistakes_AreBounded) {
  std::string text;
  for (size_t i = 0; i < 2 * kMaxFound; ++i) {
    text += "const NULL 1;\n";
  }
  const LexResult lexed = Lex(text, 0);
  EXPECT_EQ(lexed.diagnostics.size(), kMaxFound);
  EXPECT_EQ(Parse(lexed.stream, 0).diagnostics.size(), kMaxFound);
}

}  // namespace
}  // namespace kiln::wgsl::front::syntax
