// SPDX-License-Identifier: MIT
// #if to #endif, and the arithmetic of conditions.
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

// "yes" or "no", and the codes of messages.
std::string If(const std::string& condition, const std::string& before = "") {
  const TestRun run(before + "#if " + condition + "\nyes\n#else\nno\n#endif\n");
  return run.Tokens() + (run.Codes().empty() ? "" : " " + run.Codes());
}

struct Row {
  const char* condition;
  const char* answer;
};

TEST(Conditions, Expressions_AreC) {
  const Row rows[] = {
      {"1", "yes"},
      {"0", "no"},
      {"0x10 == 16 && 010 == 8 && 10ul == 10", "yes"},
      {"+1 - -1 == 2", "yes"},
      {"!0 && !(1 && 0)", "yes"},
      {"~0 == -1", "yes"},
      {"2 + 3 * 4 == 14", "yes"},
      {"(2 + 3) * 4 == 20", "yes"},
      {"10 - 4 - 3 == 3", "yes"},
      {"20 / 2 / 5 == 2", "yes"},
      {"-7 / 2 == -3 && -7 % 2 == -1", "yes"},
      {"1 << 4 == 16 && -16 >> 2 == -4", "yes"},
      {"1 << 63 < 0 && 1u << 63 > 0", "yes"},
      {"1 << 64 == 0 && -1 >> 64 == -1", "yes"},
      {"1 | 2 ^ 3 & 1", "yes"},
      {"(1 | 6 ^ 3 & 1) == 7", "yes"},
      {"1 < 2 == 1 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2", "yes"},
      {"-1 > 0u", "yes"},
      {"-1 < 0", "yes"},
      {"0x7fffffffffffffff + 1 < 0", "yes"},
      {"0xffffffffffffffff > 0", "yes"},
      {"(0x8000000000000000u >> 63) == 1", "yes"},
      {"(-0x7fffffffffffffff - 1) / -1 < 0", "yes"},
      {"1 ? 2 : 0", "yes"},
      {"0 ? 2 : 0", "no"},
      {"0 ? 1 : 0 ? 1 : 2", "yes"},
      {"1 ? 0 ? 1 : 0 : 1", "no"},
      {"(1 ? -1 : 0u) > 0", "yes"},
      {"1 || 0 && 0", "yes"},
      {"true && !false", "yes"},
      {"while", "no"},
      {"missing", "no"},
      {"missing == 0", "yes"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(If(row.condition), row.answer) << row.condition;
  }
}

TEST(Conditions, WhatDoesNotCount_IsNotDivided) {
  EXPECT_EQ(If("0 && 1 / 0"), "no");
  EXPECT_EQ(If("1 || 1 % 0"), "yes");
  EXPECT_EQ(If("1 ? 1 : 1 / 0"), "yes");
  EXPECT_EQ(If("0 ? 1 / 0 : 1"), "yes");
  EXPECT_EQ(If("0 && (1 || 1 / 0)"), "no");
  EXPECT_EQ(If("0 && 0 || 1 / 0"), "no 1031");
  EXPECT_EQ(If("1 / 0"), "no 1031");
  EXPECT_EQ(If("1 % 0"), "no 1031");
}

TEST(Conditions, WhatIsNoExpression_IsReportedOnce) {
  for (const char* condition :
       {"",      "1 +",     "(1",          "1)",        "1 2",       "+",
        "1 ? 2", "1 : 2",   "1 ? (2 : 3)", "()",        "1.5",       "\"a\"",
        "a b",   "1 = 1",   "1, 2",        "a[0]",      "1 ++",      "@",
        "1x",    "defined", "defined(",    "defined(A", "defined 1", "1 ? 2 : "}) {
    EXPECT_EQ(If(condition), "no 1031") << condition;
  }
  EXPECT_EQ(If("0x10000000000000000"), "no 1006");
  EXPECT_EQ(If("18446744073709551615 == 0xffffffffffffffff"), "yes");
}

TEST(Conditions, Macros_AreExpanded) {
  const std::string macros =
      "#define A 1\n#define F(x) ((x) * 2)\n#define E\n#define D defined(A)\n";
  EXPECT_EQ(If("A", macros), "yes");
  EXPECT_EQ(If("F(3) == 6", macros), "yes");
  EXPECT_EQ(If("F == 0", macros), "yes");
  EXPECT_EQ(If("E", macros), "no 1031");
  EXPECT_EQ(If("E 1", macros), "yes");
  EXPECT_EQ(If("D", macros), "yes");
  EXPECT_EQ(If("F(1", macros), "no 1003") << "its name counts as 0";
}

TEST(Conditions, Defined_AsksForNames) {
  const std::string macros = "#define A 0\n#define F(x) x\n";
  EXPECT_EQ(If("defined A", macros), "yes");
  EXPECT_EQ(If("defined(A) && defined ( F )", macros), "yes");
  EXPECT_EQ(If("!defined B", macros), "yes");
  EXPECT_EQ(If("defined B || defined A", macros), "yes");
  EXPECT_EQ(If("defined __FILE__ && defined __KILN__"), "yes");
  EXPECT_EQ(If("defined __DATE__"), "no");
}

TEST(Conditions, NamesOfStageOrTarget_AreWarnedAbout) {
  EXPECT_EQ(If("__SHADER_TARGET_STAGE == 1"), "no 1036");
  EXPECT_EQ(If("defined __SHADER_STAGE_VERTEX"), "no 1036");
  EXPECT_EQ(If("__SPIRV_MAJOR_VERSION__"), "no 1036");
  EXPECT_EQ(If("__SHADER_STAGE_VERTEX", "#define __SHADER_STAGE_VERTEX 1\n"), "yes");
  EXPECT_EQ(TestRun("#ifdef __SHADER_STAGE_PIXEL\n#endif").Codes(), "1036");
  EXPECT_EQ(TestRun("__SHADER_STAGE_PIXEL").Codes(), "") << "code that mentions it is the parser's";
}

TEST(Conditions, UndefinedNames_AreListedOnce) {
  const TestRun run("#define A 1\n#if A + B + C + B\n#elif B\n#endif\n#ifdef D\n#endif");
  std::string names;
  for (const UndefinedName& name : run.stream().undefined_names) {
    names += std::string(run.stream().symbols.Text(name.symbol)) + " ";
  }
  EXPECT_EQ(names, "B C ");
}

TEST(Conditions, Groups_AreChosen) {
  struct GroupRow {
    const char* text;
    const char* tokens;
    const char* codes = "";
  };
  const GroupRow rows[] = {
      {"#if 1\na\n#endif\nb", "a b"},
      {"#if 0\na\n#endif\nb", "b"},
      {"#if 0\na\n#else\nb\n#endif", "b"},
      {"#if 0\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif", "b"},
      {"#if 0\na\n#elif 0\nb\n#else\nd\n#endif", "d"},
      {"#if 1\na\n#elif 1/0\nb\n#endif", "a"},
      {"#ifdef A\na\n#else\nb\n#endif", "b"},
      {"#define A\n#ifdef A\na\n#endif\n#ifndef A\nb\n#endif", "a"},
      {"#if 0\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif", "c"},
      {"#if 1\n#if 0\na\n#else\nb\n#endif\n#else\nc\n#endif", "b"},
      {"#if 0\n#elif 1\n#if 1\na\n#endif\n#endif\nb", "a b"},
      {"#if 0\nit's \"wrong @ 1x\n#unknown\n#error no\n#include nothing\n#define A 1\n#endif\nA",
       "A"},
      {"#if 0\n#else\n#define A 1\n#endif\nA", "1"},
      {"#ifdef A // comment\n#endif // A\nx", "x"},
      {"# if 1\n #  endif\nx", "x"},
      {"#\n#\nx", "x"},
      {"#if 0\n#\n#endif\nx", "x"},
      // unbalanced
      {"#endif\nx", "x", "1021"},
      {"#else\nx", "x", "1021"},
      {"#elif 1\nx", "x", "1021"},
      {"#if 1\nx", "x", "1022"},
      {"#if 0\nx", "", "1022"},
      {"#if 1\n#if 0\nx", "", "1022 1022"},
      {"#if 1\na\n#else\n#else\nb\n#endif\nc", "a c", "1021"},
      {"#if 0\n#else\na\n#elif 1\nb\n#endif\nc", "a c", "1021"},
      {"#ifdef\na\n#endif\nb", "b", "1040"},
      {"#ifndef 1\na\n#endif\nb", "b", "1040"},
      {"#elifdef A\nx", "x", "1020"},
  };
  for (const GroupRow& row : rows) {
    const TestRun run{std::string(row.text)};
    EXPECT_EQ(run.Tokens(), row.tokens) << row.text;
    EXPECT_EQ(run.Codes(), row.codes) << row.text << "\n" << run.Messages();
  }
}

}  // namespace
}  // namespace kiln::hlsl
