// SPDX-License-Identifier: MIT
// Every rule of `statement`: source → dump, or → message.
#include <gtest/gtest.h>

#include "compiler/front/hlsl/syntax/parsed_source.h"

namespace kiln::hlsl::syntax {
namespace {

struct Case {
  std::string_view source;
  std::string_view dump;
};

TEST(Statements, EachKind_IsARow) {
  const Case cases[] = {
      {"", ""},
      {";", "empty\n"},
      {"{ }", "block\n"},
      {"{ a; { b; } }", "block\n  a\n  block\n    b\n"},
      {"a = b;", "(= a b)\n"},
      {"a, b;", "(, a b)\n"},
      {"break;", "break\n"},
      {"continue;", "continue\n"},
      {"discard;", "discard\n"},
      {"return;", "return\n"},
      {"return a + b;", "return (+ a b)\n"},
      {"if (a) b;", "if a\n  b\n"},
      {"if (a, b) c;", "if (, a b)\n  c\n"},
      {"if (a) b; else c;", "if-else a\n  b\n  c\n"},
      {"if (a) { b; } else { c; }", "if-else a\n  block\n    b\n  block\n    c\n"},
      {"if (a) b; else if (c) d; else e;", "if-else a\n  b\n  if-else c\n    d\n    e\n"},
      {"if (a) if (b) c; else d;", "if a\n  if-else b\n    c\n    d\n"},
      {"while (a) b;", "while a\n  b\n"},
      {"do a; while (b);", "do while b\n  a\n"},
      {"do { a; } while (b);", "do while b\n  block\n    a\n"},
      {"for (;;) a;", "for condition none step none\n  empty\n  a\n"},
      {"for (a = 0; b; ++c) d;", "for condition b step (++ c)\n  (= a 0)\n  d\n"},
      {"for (int i = 0, j = 1; i < 4; i++, j--) { }",
       "for condition (< i 4) step (, (++ post i) (-- post j))\n  variables int\n    i = 0\n    j "
       "= "
       "1\n  block\n"},
      {"switch (a) { case 0: case 1 + 1: b; break; default: c; }",
       "switch a\n  block\n    case 0\n    case (+ 1 1)\n    b\n    break\n    default\n    c\n"},
      {"switch (a) { }", "switch a\n  block\n"},
      {"case a ? b : c: d;", "case (? a b c)\nd\n"},
      {"float x;", "variables float\n  x\n"},
      {"float x = 1, y[2] = { 1, 2 };", "variables float\n  x = 1\n  y[2] = (list 1 2)\n"},
      {"static const row_major float2x2 m = a;",
       "variables static const row_major float2x2\n  m = a\n"},
      {"float4x4 const row_major m;", "variables const row_major float4x4\n  m\n"},
      {"struct { float a; } x;", "struct\n  variables float\n    a\nvariables struct\n  x\n"},
      {"struct q { float a; }; q x;", "struct q\n  variables float\n    a\nvariables q\n  x\n"},
      {"typedef float real; real x;", "alias float\n  real\nvariables real\n  x\n"},
      {"using real = float[2]; real x;", "alias float[2]\n  real\nvariables real\n  x\n"},
      {"enum q { r }; q x = r;", "enum q\n  r\nvariables q\n  x = r\n"},
      {"[unroll] for (;;) a;", "[unroll] for condition none step none\n  empty\n  a\n"},
      {"[unroll(4)] while (a) b;", "[unroll 4] while a\n  b\n"},
      {"[flatten] if (a) b; else [branch] if (c) d;",
       "[flatten] if-else a\n  b\n  [branch] if c\n    d\n"},
      {"[[kiln::meta(x)]] [loop] do a; while (b);", "[kiln::meta x] [loop] do while b\n  a\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOfStatement(c.source), c.dump) << c.source;
  }
}

TEST(Statements, UnknownTypes_AreDeclarations) {
  EXPECT_EQ(DumpOfStatement("unknown x = 1;"), "variables unknown\n  x = 1\n");
  EXPECT_EQ(DumpOfStatement("unknown<float> x;"), "variables unknown<float>\n  x\n");
  EXPECT_EQ(DumpOfStatement("n::unknown x;"), "variables n::unknown\n  x\n");
  EXPECT_EQ(DumpOfStatement("a < b;"), "(< a b)\n");
  EXPECT_EQ(DumpOfStatement("a < b > c;"), "(> (< a b) c)\n");
}

// The messages, without places; one line each.
std::string MessagesOf(std::string_view statement) {
  std::string out;
  const std::string found = DumpOfStatement(statement);
  for (size_t at = found.find(" HLSL"); at != std::string::npos; at = found.find(" HLSL", at + 1)) {
    out += found.substr(at + 1, found.find('\n', at) - at);
  }
  return out.empty() ? found : out;
}

TEST(Statements, Mistakes_HaveOneMessageEach) {
  const Case cases[] = {
      {"a b c;", "HLSL1040 expected ';' after variable 'b', found 'c'\n"},
      {"a = b c;", "HLSL1040 expected ';' after expression, found 'c'\n"},
      {"a = b\nc = d;", "HLSL1040 expected ';' after expression, found 'c'\n"},
      {"if a) b;", "HLSL1040 expected '(' after 'if', found 'a'\n"},
      {"if (a b;", "HLSL1041 'if' is not closed, expected ')' before 'b'\n"},
      {"if (a b) c d e;",
       "HLSL1041 'if' is not closed, expected ')' before 'b'\n"
       "HLSL1040 expected ';' after variable 'd', found 'e'\n"},
      {"else b;", "HLSL1040 expected a statement, found 'else'\n"},
      {"for (a; b) c;", "HLSL1040 expected ';' after condition of 'for', found ')'\n"},
      {"for (a) c;", "HLSL1040 expected ';' after first part of 'for', found ')'\n"},
      {"for a;", "HLSL1040 expected '(' after 'for', found 'a'\n"},
      {"for (a; b; c;) d;", "HLSL1041 head of 'for' is not closed, expected ')' before ';'\n"},
      {"while () a;", "HLSL1040 expected an expression, found ')'\n"},
      {"do a; b;", "HLSL1040 expected 'while' after body of 'do', found 'b'\n"},
      {"do a; while (b) c;", "HLSL1040 expected ';' after 'do', found 'c'\n"},
      {"switch (a) b;", "HLSL1040 expected '{' after head of 'switch', found 'b'\n"},
      {"case 1;", "HLSL1040 expected ':' after label, found ';'\n"},
      {"default;", "HLSL1040 expected ':' after 'default', found ';'\n"},
      {"break a;", "HLSL1040 expected ';' after statement 'break', found 'a'\n"},
      {"return a b;", "HLSL1040 expected ';' after 'return', found 'b'\n"},
      {"float;", "HLSL1040 expected the name of a variable, found ';'\n"},
      {"float 1;", "HLSL1040 expected the name of a variable, found '1'\n"},
      {"float x[;", "HLSL1040 expected an expression, found ';'\n"},
      {"float x = ;", "HLSL1040 expected an expression, found ';'\n"},
      {"float x (1);", "HLSL1040 expected ';' after variable 'x', found '('\n"},
      {"struct q { float a }; q x;", "HLSL1040 expected ';' after variable 'a', found '}'\n"},
      {"struct { float a; }", "HLSL1040 expected ';' after struct, found '}'\n"},
      {"[unroll for (;;) a;", "HLSL1041 attribute is not closed, expected ']' before 'for'\n"},
      {"[unroll(] a;", "HLSL1040 expected an expression, found ']'\n"},
      {"[domain(\"tri\")] a;",
       "HLSL8004 'domain' belongs to hull and domain stages, which this build lacks\n"},
      {"template<typename T> struct q { T a; };",
       "HLSL8004 'template' belongs to templates, which this build lacks\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MessagesOf(c.source), c.dump) << c.source;
  }
}

TEST(Statements, UnknownAttributes_AreWarnings) {
  const std::string_view source = "void f () { [nothing] a; [[vk::nothing(b c)]] d; [loop] e; }";
  EXPECT_EQ(FoundText(source, ParseSource(source).Found()),
            "1:14 HLSL1047 unknown attribute 'nothing'\n"
            "1:32 HLSL1047 unknown attribute 'nothing'\n");
}

TEST(Statements, BehindAMistake_TheOthersAreParsed) {
  EXPECT_EQ(MessagesOf("a b c; d = e f; g = h;"),
            "HLSL1040 expected ';' after variable 'b', found 'c'\n"
            "HLSL1040 expected ';' after expression, found 'f'\n");
  EXPECT_EQ(MessagesOf("if (a +) { b c d; } e f g;"),
            "HLSL1040 expected an expression, found ')'\n"
            "HLSL1040 expected ';' after variable 'c', found 'd'\n"
            "HLSL1040 expected ';' after variable 'f', found 'g'\n");
}

}  // namespace
}  // namespace kiln::hlsl::syntax
