// SPDX-License-Identifier: MIT
// Sources that are large in one way each: an answer, success or the code, and no more work than
// their size. What would take exponential time or deep stacks does not end or crashes, so the
// answer alone is the test; seconds depend on the machine and are not asked. See spec/rpl 1.5,
// spec/daemon 10
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/built_variant.h"

namespace kiln {
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

std::string Said(const std::string& source) {
  return BuiltVariant({.sources = {source}}).messages();
}

std::string SaidOfCode(const std::string& statements, const std::string& declarations = "") {
  return BuiltVariant({.sources = {declarations + "void main (void) {\n" + statements + "\n}\n"},
                       .entries = {"fragment:main"}})
      .messages();
}

// --- chains are no nesting
constexpr size_t kTerms = 20'000;

TEST(RplLimits, SumOfManyTerms_Compiles) {
  EXPECT_EQ(SaidOfCode("f1 x = 1.0; f1 sum = x" + Repeated(" + x", kTerms) + ";"), "");
  EXPECT_EQ(SaidOfCode("u1 x = 1u; u1 sum = x" + Repeated(" * x - x", kTerms / 2) + ";"), "");
}

TEST(RplLimits, LogicOfManyTerms_Compiles) {
  EXPECT_EQ(SaidOfCode("u1 x = 1u; if (x == 1u" + Repeated(" && x == 1u", 2'000) + ") { x = 2u; }"),
            "");
}

TEST(RplLimits, ConstantOfManyTerms_IsEvaluated) {
  const BuiltVariant variant(
      {.sources = {"constant sum = 0u" + Repeated(" + 1u", kTerms) +
                   ";\nconditional (sum == 20000u) set_pass sampler found;"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  EXPECT_EQ(variant.metadata().sets[0].samplers.size(), 1U);
}

TEST(RplLimits, AssignmentOfManyTargets_Answers) {
  EXPECT_EQ(SaidOfCode("f1 x = 1.0; x" + Repeated(" = x", 200) + ";"), "");
  EXPECT_THAT(SaidOfCode("f1 x = 1.0; x" + Repeated(" = x", kTerms) + ";"), StartsWith("RPL1009 "));
}

TEST(RplLimits, ManyStatements_Compile) {
  EXPECT_EQ(SaidOfCode("f1 x = 1.0;" + Repeated("x = x + 1.0; if (x > 2.0) { x = 1.0; }\n", 2'000)),
            "");
}

TEST(RplLimits, OneTokenAMillionTimes_AnswersWithFewErrors) {
  for (const std::string_view token :
       {"(", ")", "{", "}", ";", "+", "!", "@", "\"", "a ", "1 ", "0x "}) {
    const std::string said = Said(Repeated(token, 1'000'000));
    EXPECT_NE(said, "") << token;
    EXPECT_LE(std::ranges::count(said, '\n'), 100) << token;
  }
}

TEST(RplLimits, ManyElseIfs_Answer) {
  const std::string chain = Repeated(" else if (x == 2u) { x = 4u; }", kTerms);
  const std::string said = SaidOfCode("u1 x = 1u; if (x == 1u) { x = 3u; }" + chain);
  EXPECT_THAT(said, StartsWith("RPL1009 "));
}

// --- nesting
TEST(RplLimits, NestedParentheses_AreRefused) {
  EXPECT_EQ(SaidOfCode("u1 x = " + Repeated("(", 200) + "1u" + Repeated(")", 200) + ";"), "");
  const std::string said =
      SaidOfCode("u1 x = " + Repeated("(", 10'000) + "1u" + Repeated(")", 10'000) + ";");
  EXPECT_THAT(said, StartsWith("RPL1009 "));
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

TEST(RplLimits, NestedOfEveryKind_IsRefused) {
  const std::pair<std::string_view, std::string_view> kinds[] = {
      {"f4 { ", " }"}, {"sin_f1 (", ")"}, {"a[", "]"},    {"- ", ""},     {"! ", ""},
      {"~ ", ""},      {"x = ", ""},      {"x + (", ")"}, {"x && (", ")"}};
  for (const auto& [open, close] : kinds) {
    EXPECT_THAT(
        SaidOfCode("f1 y = " + Repeated(open, 10'000) + "1u" + Repeated(close, 10'000) + ";"),
        HasSubstr("RPL1009 "))
        << open;
  }
  for (const std::string_view open :
       {"{ ", "if (x == 1u) { ", "while (x == 1u) { ", "for (u1 i = 0u; i < 1u; i = i + 1u) { "}) {
    EXPECT_THAT(SaidOfCode("u1 x = 1u;" + Repeated(open, 10'000) + Repeated("}", 10'000)),
                HasSubstr("RPL1009 "))
        << open;
  }
  EXPECT_THAT(Said("constant a = " + Repeated("(", 10'000) + "1u" + Repeated(")", 10'000) + ";"),
              HasSubstr("RPL1009 "));
}

// struct n0 { item }; struct n1 { n0 in n1 }; …
std::string NestedStructs(size_t count, std::string_view members) {
  std::string text = "struct n0 { f4 a; };\n";
  for (size_t i = 1; i < count; ++i) {
    text += fmt::format(fmt::runtime(members), i, i - 1) + "\n";
  }
  return text;
}
constexpr std::string_view kOnce = "struct n{} {{ n{} a; }};";
constexpr std::string_view kTwice = "struct n{0} {{ n{1} a; n{1} b; }};";

TEST(RplLimits, NestedStructs_Compile) {
  EXPECT_EQ(Said(NestedStructs(200, kOnce) + "set_pass uniform_buffer b { n199 v; };"), "");
  EXPECT_EQ(SaidOfCode("n199 v; n199 w = v;", NestedStructs(200, kOnce)),
            "RPL6043 'v' is read before it is assigned\n");
}

TEST(RplLimits, DoublingStructs_AreTooLarge) {
  const std::string structs = NestedStructs(200, kTwice);
  EXPECT_THAT(Said(structs + "set_pass read_only_storage_buffer b { n199 v; };"),
              StartsWith("LIM1001 "));
  EXPECT_THAT(Said(structs + "set_pass uniform_buffer b { n199 v; };"), StartsWith("LIM1001 "));
  EXPECT_NE(SaidOfCode("n199 v;", structs), "");
  EXPECT_EQ(SaidOfCode("n5 v;", structs), "");
}

// --- arrays
TEST(RplLimits, LargeArrays_Answer) {
  EXPECT_EQ(Said("set_pass read_only_storage_buffer b { f1[4000000] v; };"), "");
  EXPECT_EQ(Said("set_pass read_only_storage_buffer b { f4[2000][2000] v; };"), "");
  EXPECT_EQ(
      SaidOfCode("f1 x = b.v[3999999];", "set_pass read_only_storage_buffer b { f1[4000000] v; };"),
      "");
  EXPECT_THAT(Said("set_pass read_only_storage_buffer b { f1[65536][65536] v; };"),
              StartsWith("RPL4003 "));
  EXPECT_THAT(Said("set_pass read_only_storage_buffer b { f1[65536][65536][65536][65536] v; };"),
              StartsWith("RPL4003 "));
  EXPECT_THAT(Said("set_pass uniform_buffer b { f4[4000000] v; };"), StartsWith("RPL4053 "));
  EXPECT_EQ(SaidOfCode("f1[65536] v;"), "");
  EXPECT_THAT(SaidOfCode("f1[4000000] v;"), StartsWith("LIM1001 "));
  EXPECT_THAT(SaidOfCode("f1[65537] v;"), StartsWith("LIM1001 "));
}

// --- many of a kind: looked up, not looked through
constexpr size_t kMany = 10'000;

std::string Numbered(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += fmt::format(fmt::runtime(text), i);
  }
  return all;
}

TEST(RplLimits, ManyPlaces_Compile) {
  EXPECT_EQ(SaidOfCode(Numbered("f1 l{0} = 1.0; l{0} = l{0} + 1.0;\n", kMany)), "");
  EXPECT_EQ(SaidOfCode("s v;" + Numbered("v.a{} = 1.0;\n", 5'000),
                       "struct s {" + Numbered("f1 a{};", 5'000) + "};\n"),
            "");
  EXPECT_EQ(SaidOfCode("f4 x = f4 {0.0};" + Numbered("x = c{}.a;\n", 5'000),
                       Numbered("state_container c{} {{ f4 a; }};\n", 5'000)),
            "");
  EXPECT_EQ(SaidOfCode("f1 c = 0.0; f1 d = 0.0;" + Repeated("c = g (c, d);", 5'000),
                       "f1 g (in f1 x, out f1 y) { y = x; return x; }\n"),
            "");
}

TEST(RplLimits, ManyConditionalScopes_Compile) {
  EXPECT_EQ(SaidOfCode("f1 x = 1.0;" + Repeated("conditional (on1) { x = x + 1.0; }\n", kMany),
                       "instance on1: flag true;\n"),
            "");
}

TEST(RplLimits, ManyFieldsUnderConditions_Compile) {
  EXPECT_EQ(Said("global o: uint 3;\nset_pass read_only_storage_buffer b { f1 z;" +
                 Numbered("conditional (o == {0}u) f1 a{0}; alias (b{0}, z)\n", 5'000) + "};"),
            "");
}

TEST(RplLimits, OneNameManyTimes_Answers) {
  EXPECT_THAT(SaidOfCode(Repeated("f1 a = 1.0;\n", kMany)), StartsWith("RPL6040 "));
  EXPECT_THAT(Said("global e: enum " + Numbered("\"v{}\" ", kMany) + "\"v7\";"),
              StartsWith("RPL1122 "));
}

TEST(RplLimits, AliasesOfAliasesInCode_FailOnce) {
  std::string aliases = "f1 x = 1.0; alias (a0, x)\n";
  for (size_t i = 1; i < 5'000; ++i) {
    aliases += fmt::format("alias (a{0}, a{1} + x)\n", i, i - 1);
  }
  const std::string said = SaidOfCode(aliases + "f1 y = a4999;");
  EXPECT_THAT(said, StartsWith("RPL1009 "));
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

TEST(RplLimits, SizesOfAnArray_AreLimited) {
  EXPECT_THAT(SaidOfCode("f1" + Repeated("[1]", kMany) + " a;"), StartsWith("RPL1009 "));
}

// --- cycles
TEST(RplLimits, AliasCycles_OfAnyLength) {
  for (const size_t length : {1, 2, 3, 200, 5'000}) {
    std::string aliases;
    for (size_t i = 0; i < length; ++i) {
      aliases += fmt::format("alias (a{}, a{}) ", i, (i + 1) % length);
    }
    EXPECT_THAT(Said("set_pass uniform_buffer b { f4 v; " + aliases + "};"), HasSubstr("RPL4032 "))
        << length;
  }
}

TEST(RplLimits, ConstantCycles_AreUsesBeforeDeclaration) {
  EXPECT_THAT(Said("constant a = b;\nconstant b = a;"), StartsWith("RPL3004 "));
  std::string constants;
  for (size_t i = 0; i < 5'000; ++i) {
    constants += fmt::format("constant c{} = c{};\n", i, (i + 1) % 5'000);
  }
  EXPECT_THAT(Said(constants), StartsWith("RPL3004 "));
}

TEST(RplLimits, Recursion_OfAnyLength) {
  for (const size_t length : {1, 2, 3, 100, 5'000}) {
    std::string functions;
    for (size_t i = 0; i < length; ++i) {
      functions += fmt::format("void f{} (void) {{ f{} (); }}\n", i, (i + 1) % length);
    }
    const std::string said = SaidOfCode("f0 ();", functions);
    EXPECT_THAT(said, HasSubstr("RPL5020 ")) << length;
    EXPECT_LT(said.size(), 2'000U) << length;
  }
}

TEST(RplLimits, CyclesOfEveryLength_AreNotAllWritten) {
  std::string functions;
  for (size_t i = 0; i < 5'000; ++i) {
    functions += fmt::format("void f{} (void) {{ f0 (); f{} (); }}\n", i, (i + 1) % 5'000);
  }
  EXPECT_LT(SaidOfCode("f0 ();", functions).size(), 100'000U);
}

// --- growth
TEST(RplLimits, DoublingAliases_AreRefused) {
  std::string aliases = "f1 x = 1.0; alias (a0, x)\n";
  for (size_t i = 1; i < 60; ++i) {
    aliases += fmt::format("alias (a{0}, (a{1} + a{1}))\n", i, i - 1);
  }
  EXPECT_THAT(SaidOfCode(aliases + "f1 y = a59;"), HasSubstr("LIM1001 "));
}

TEST(RplLimits, DoublingCalls_AreFunctionsOnce) {
  std::string functions = "f1 f0 (void) { return 1.0; }\n";
  for (size_t i = 1; i < 100; ++i) {
    functions += fmt::format("f1 f{0} (void) {{ return f{1} () + f{1} (); }}\n", i, i - 1);
  }
  EXPECT_EQ(SaidOfCode("f1 y = f99 ();", functions), "");
}

TEST(RplLimits, DoublingConstants_AreValues) {
  std::string constants = "constant c0 = 1u;\n";
  for (size_t i = 1; i < 100; ++i) {
    constants += fmt::format("constant c{0} = c{1} + c{1};\n", i, i - 1);
  }
  EXPECT_EQ(Said(constants), "");
}

}  // namespace
}  // namespace kiln
