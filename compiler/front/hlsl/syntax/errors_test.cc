// SPDX-License-Identifier: MIT
// Where errors are shown and where parsing goes on. Sources have lines, since people's sources do.
#include <gtest/gtest.h>

#include "compiler/diag/message_count.h"
#include "compiler/front/hlsl/syntax/parsed_source.h"

namespace kiln::hlsl::syntax {
namespace {

std::string FoundIn(std::string_view text) { return FoundText(text, ParseSource(text).Found()); }

TEST(Errors, MissingBraceOfAFunction_IsShownWhereItIsDue) {
  EXPECT_EQ(FoundIn("float f (float a) {\n"
                    "  if (a) {\n"
                    "    a = 1;\n"
                    "  return a;\n"
                    "}\n"
                    "float g () {\n"
                    "  return 1;\n"
                    "}\n"),
            "4:3 HLSL1041 scope is not closed, expected '}' before 'return'\n");
  EXPECT_EQ(FoundIn("float f (float a) {\n"
                    "  return a;\n"
                    "\n"
                    "[numthreads(1, 1, 1)]\n"
                    "void g () {\n"
                    "}\n"),
            "4:1 HLSL1041 function 'f' is not closed, expected '}' before '['\n");
  EXPECT_EQ(FoundIn("float f (float a) {\n"
                    "  return a;\n"),
            "3:1 HLSL1041 function 'f' is not closed, expected '}' before 'end of file'\n");
}

TEST(Errors, DoubledBrace_IsShownWhereItIs) {
  EXPECT_EQ(FoundIn("float f (float a) { {\n"
                    "  return a;\n"
                    "}\n"
                    "float g () {\n"
                    "  return 1;\n"
                    "}\n"),
            "1:21 HLSL1041 function 'f' is not closed, expected '}' before '{'\n");
}

TEST(Errors, BraceTooMany_IsSaidOnce) {
  EXPECT_EQ(FoundIn("float f (float a) {\n"
                    "  if (a) { a = 1; } }\n"
                    "  a = 2;\n"
                    "  if (a) {\n"
                    "    a = 3;\n"
                    "  }\n"
                    "  return a;\n"
                    "}\n"
                    "float g () {\n"
                    "  return 1 2;\n"
                    "}\n"),
            "3:3 HLSL1040 expected a declaration, found 'a'\n"
            "10:12 HLSL1040 expected ';' after 'return', found '2'\n");
}

TEST(Errors, SwitchLabels_MayStandAtItsColumn) {
  EXPECT_EQ(FoundIn("float f (int a) {\n"
                    "  switch (a) {\n"
                    "  case 0:\n"
                    "    return 1;\n"
                    "  default:\n"
                    "    return 2;\n"
                    "  }\n"
                    "  if (a) {\n"
                    "    a = 1;\n"
                    "}\n"
                    "float g () {\n"
                    "  return 1;\n"
                    "}\n"),
            "10:1 HLSL1041 scope is not closed, expected '}' before '}'\n");
}

TEST(Errors, MissingSemicolon_IsBehindItsLine) {
  EXPECT_EQ(FoundIn("void f () {\n"
                    "  a = 1\n"
                    "  b = 2;\n"
                    "  float c\n"
                    "  if (c) { }\n"
                    "  return\n"
                    "}\n"),
            "2:8 HLSL1040 expected ';' after expression, found 'b'\n"
            "4:10 HLSL1040 expected ';' after variable 'c', found 'if'\n"
            "6:9 HLSL1040 expected ';' after 'return', found '}'\n");
}

TEST(Errors, MissingSemicolon_HasAFix) {
  const ParsedSource source = ParseSource("float a\nfloat b;");
  ASSERT_EQ(source.parsed.diagnostics.size(), 1u);
  ASSERT_TRUE(source.parsed.diagnostics[0].fix.has_value());
  EXPECT_EQ(source.parsed.diagnostics[0].fix->text, ";");
}

TEST(Errors, UnclosedThings_SayWhereTheyBegin) {
  const ParsedSource source = ParseSource("float a = f (1;");
  ASSERT_EQ(source.parsed.diagnostics.size(), 1u);
  const Diagnostic& found = source.parsed.diagnostics[0];
  ASSERT_EQ(found.labels.size(), 1u);
  EXPECT_EQ(LabelText(found.labels[0]), "call of 'f' starts here");
  EXPECT_EQ(found.labels[0].where.bytes, (Span{12, 13}));
}

TEST(Errors, EachMember_HasItsOwn) {
  EXPECT_EQ(FoundIn("struct s {\n"
                    "  float a b;\n"
                    "  float c;\n"
                    "  float 1;\n"
                    "  float f () { return 1 2; }\n"
                    "};\n"
                    "cbuffer c {\n"
                    "  float d e;\n"
                    "  float 2;\n"
                    "}\n"),
            "2:11 HLSL1040 expected ';' after variable 'a', found 'b'\n"
            "4:9 HLSL1040 expected the name of a variable, found '1'\n"
            "5:25 HLSL1040 expected ';' after 'return', found '2'\n"
            "8:11 HLSL1040 expected ';' after variable 'd', found 'e'\n"
            "9:9 HLSL1040 expected the name of a variable, found '2'\n");
}

TEST(Errors, InMacros_PointAtTheUse) {
  EXPECT_EQ(FoundIn("#define BAD a b c\n"
                    "void f () {\n"
                    "  BAD;\n"
                    "}\n"),
            "1:17 HLSL1040 expected ';' after variable 'b', found 'c'\n");
}

TEST(Errors, OfThePreprocessor_CountForTheirStatement) {
  EXPECT_EQ(FoundIn("void f () {\n"
                    "  a = 1 @ 2;\n"
                    "  b = 12px c;\n"
                    "  d e f;\n"
                    "}\n"),
            "2:9 HLSL1002 unexpected character '@'\n"
            "3:7 HLSL1005 malformed number '12px'\n"
            "4:7 HLSL1040 expected ';' after variable 'e', found 'f'\n");
}

TEST(Errors, ManyWarnings_HideNothing) {
  std::string text;
  for (size_t i = 0; i < 2 * kMaxFound; ++i) {
    text += "[a]\n";
  }
  const ParsedSource right = ParseSource(text + "float f () { return 1; }\n");
  EXPECT_FALSE(HasErrors(right.parsed.diagnostics));
  EXPECT_EQ(right.parsed.diagnostics.size(), kMaxDiagnostics) << "the rest is left out";
  EXPECT_EQ(right.parsed.ast.stmts.size(),
            ParseSource("float f () { return 1; }").parsed.ast.stmts.size());
  const ParsedSource wrong = ParseSource(text + "void g () { } this is ( no HLSL");
  EXPECT_TRUE(HasErrors(wrong.parsed.diagnostics));
}

TEST(Errors, ManyMistakes_EndTheParse) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "float 1;\n";
  }
  const ParsedSource source = ParseSource(text);
  EXPECT_GE(source.parsed.diagnostics.size(), kMaxDiagnostics);
  EXPECT_LE(source.parsed.diagnostics.size(), kMaxFound);
  EXPECT_TRUE(HasErrors(source.parsed.diagnostics)) << "a parse that gave up has failed";
}

}  // namespace
}  // namespace kiln::hlsl::syntax
