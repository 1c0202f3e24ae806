// SPDX-License-Identifier: MIT
// Text -> tokens, through the dump; places of spliced text.
#include "compiler/front/hlsl/lex/lex.h"

#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/lex/spliced_text.h"
#include "compiler/front/hlsl/preprocess/dump.h"
#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

std::string Lexed(const std::string& text) { return DumpTokens(SourceFile("x.hlsl", text)); }

TEST(Lex, EveryKeywordAndPunctuator_IsOneToken) {
  std::string text;
  std::string expected;
  for (uint32_t kind = static_cast<uint32_t>(kFirstKeyword); kind < kTokenKinds; ++kind) {
    const std::string word(TokenKindText(static_cast<TokenKind>(kind)));
    text += "\na " + word;
    expected +=
        std::to_string(kind - static_cast<uint32_t>(kFirstKeyword) + 2) + ":3 " + word + "\n";
  }
  std::string found;
  std::string line;
  for (const char c : Lexed(text)) {
    line += c;
    if (c == '\n') {
      found += line.find(":3 ") != std::string::npos ? line : "";
      line.clear();
    }
  }
  EXPECT_EQ(found, expected);
}

TEST(Lex, LongestPunctuator_IsTaken) {
  const TestRun run("a<<=b>>=c<b>=d...e.f::g+++h---i&&&j|||k##");
  EXPECT_EQ(run.Tokens(), "a <<= b >>= c < b >= d ... e . f :: g ++ + h -- - i && & j || | k");
  EXPECT_EQ(run.Codes(), "1002");
}

TEST(Lex, Dump_HasPlacesAndKinds) {
  EXPECT_EQ(Lexed("a /* x */ 1.5f\n  \"s\\\"\" 08 @ \"open\n# include <a/b>"),
            "1:1 identifier a\n1:11 float 1.5f\n2:3 string \"s\\\"\"\n2:9 number 08\n"
            "2:12 character @\n2:14 string \"open\n3:1 #\n3:3 identifier include\n3:11 path <a/b>\n"
            "3:16 end of file\n");
}

TEST(Lex, LineEnds_AreThree) {
  EXPECT_EQ(Lexed("a\rb\r\nc\nd"),
            "1:1 identifier a\n2:1 identifier b\n3:1 identifier c\n4:1 identifier d\n"
            "4:2 end of file\n");
  EXPECT_EQ(TestRun("#define A \\\r\n 1\\\r2\rA").Tokens(), "12");
}

TEST(Lex, ByteOrderMark_IsSkipped) {
  const TestRun run("\xef\xbb\xbf#define A 1\nA");
  EXPECT_EQ(run.Tokens(), "1");
  EXPECT_EQ(run.Codes(), "");
}

TEST(Lex, Comments_AreSpaces) {
  EXPECT_EQ(TestRun("a/**/b//c\nd/*\n*/e").Tokens(), "a b d e");
  EXPECT_EQ(TestRun("a // b \\\n c\nd").Tokens(), "a d") << "a spliced comment goes on";
  EXPECT_EQ(TestRun("\"/*\" \"//\" /").Tokens(), "\"/*\" \"//\" /");
  EXPECT_EQ(TestRun("a /* b").Messages(), "HLSL1003 root.hlsl:1:3 comment '/*' is not closed\n");
  EXPECT_EQ(TestRun("/*/ a").Codes(), "1003");
}

TEST(Lex, Splices_KeepPlaces) {
  SplicedText text("ab\\\ncd\\\r\n e\\f");
  EXPECT_EQ(text.text(), "abcd e\\f");
  EXPECT_EQ(text.InSource(0, 2), (Span{0, 2}));
  EXPECT_EQ(text.InSource(0, 4), (Span{0, 6}));
  EXPECT_EQ(text.InSource(2, 4), (Span{4, 6}));
  EXPECT_EQ(text.InSource(4, 5), (Span{9, 10}));
  EXPECT_EQ(text.InSource(6, 8), (Span{11, 13}));
  const TestRun run("a\\\nb 1x");
  EXPECT_EQ(run.Tokens(), "ab 0");
  EXPECT_EQ(run.Messages(), "HLSL1005 root.hlsl:2:3 malformed number '1x'\n");
}

TEST(Lex, WhatIsNoToken_IsReportedWhereItIsRead) {
  EXPECT_EQ(TestRun("a @ b ' \\ \xc3\xa9").Tokens(), "a b");
  EXPECT_EQ(TestRun("a @ b ' \\ \xc3\xa9").Messages(),
            "HLSL1002 root.hlsl:1:3 unexpected character '@'\n"
            "HLSL1002 root.hlsl:1:7 unexpected character '''\n"
            "HLSL1002 root.hlsl:1:9 unexpected character '\\'\n"
            "HLSL1002 root.hlsl:1:11 unexpected character '\xc3\xa9'\n");
  EXPECT_EQ(TestRun("x \"abc\ny").Messages(),
            "HLSL1003 root.hlsl:1:3 string '\"abc' is not closed\n");
  EXPECT_EQ(TestRun("x \"abc\ny").Tokens(), "x \"\" y");
  EXPECT_EQ(TestRun("#define A @\n#define B \"open\n#define C 1x\n").Codes(), "")
      << "nobody uses them";
  EXPECT_EQ(TestRun(std::string("a\0b", 3)).Codes(), "1002");
}

TEST(Lex, InvalidUtf8_IsOneErrorAndNoTokens) {
  const TestRun run("a \xff b \xfe");
  EXPECT_EQ(run.Messages(), "HLSL1001 root.hlsl:1:3 source is not valid UTF-8 at byte 2\n");
  EXPECT_EQ(run.Tokens(), "");
  const TestRun included(TestFiles{{"root.hlsl", "a\n#include \"b.h\"\nc"}, {"b.h", "x\n\xc3"}});
  EXPECT_EQ(included.Messages(),
            "HLSL1001 b.h:2:1 source is not valid UTF-8 at byte 2 "
            "[root.hlsl:2:10 'b.h' is included here]\n");
  EXPECT_EQ(included.Tokens(), "a c");
}

TEST(Lex, SingleTokens_AreWhole) {
  SymbolTable symbols;
  for (const char* text : {"a", "while", "1.5", "+=", "\"s\"", "@", "##", "1x"}) {
    EXPECT_TRUE(LexSingle(text, symbols).has_value()) << text;
  }
  for (const char* text :
       {"", " ", "a b", "a ", " a", "//", "/*", "/**/", "+-", "\"a\"b", "1.5.x"}) {
    EXPECT_FALSE(LexSingle(text, symbols).has_value()) << text;
  }
}

TEST(Preprocessed, Dump_HasALineForEachLineThatGaveTokens) {
  const TestFiles files{{"root.hlsl", "#include \"a.h\"\n  float x = F( 1);\n\nG y;"},
                        {"a.h", "#define F(v) (v+1)\nstruct S { int a;\n};\n#define G"}};
  const TestRun run(files);
  EXPECT_EQ(DumpPreprocessed(run.stream(), *run.set().Find("root.hlsl"), run.set()),
            "a.h:2:1: struct S { int a;\na.h:3:1: };\nroot.hlsl:2:3: float x = ( 1 +1) ; y;\n");
}

}  // namespace
}  // namespace kiln::hlsl
