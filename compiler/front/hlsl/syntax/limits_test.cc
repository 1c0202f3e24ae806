// SPDX-License-Identifier: MIT
// What nests is bounded, what is long is not: each construct that recurses has a row, at its limit
// and one beyond.
#include <gtest/gtest.h>

#include "compiler/front/hlsl/syntax/dump.h"
#include "compiler/front/hlsl/syntax/parsed_source.h"
#include "compiler/front/hlsl/syntax/tree_check.h"

namespace kiln::hlsl::syntax {
namespace {

std::string Times(size_t count, std::string_view text) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

struct Nesting {
  std::string_view name;
  std::string_view before, open, middle, close, behind;
  uint32_t levels;  // that one repetition takes
  uint32_t extra;   // that what is around takes
};

std::string SourceOf(const Nesting& n, size_t times) {
  return std::string(n.before) + Times(times, n.open) + std::string(n.middle) +
         Times(times, n.close) + std::string(n.behind);
}

constexpr Nesting kNestings[] = {
    {"group", "static int x = ", "(", "1", ")", ";", 1, 0},
    {"index", "static int x = ", "a[", "1", "]", ";", 1, 0},
    {"call", "static int x = ", "f (", "1", ")", ";", 1, 0},
    {"constructor", "static int x = ", "int (", "1", ")", ";", 1, 0},
    {"cast", "static int x = ", "(int) ", "1", "", ";", 1, 0},
    {"unary", "static int x = ", "- ", "1", "", ";", 1, 0},
    {"assignment", "static int x = ", "a = ", "1", "", ";", 1, 0},
    {"third operand", "static int x = ", "a ? b : ", "1", "", ";", 1, 0},
    {"second operand", "static int x = ", "a ? ", "1", " : b", ";", 1, 0},
    {"list", "static int x = ", "{", "1", "}", ";", 1, 0},
    {"type argument", "", "Buffer<", "int", "> ", "x;", 1, 0},
    {"block", "void f () {", "{", "", "}", "}", 1, 1},
    {"if", "void f () {", "if (a) ", ";", "", "}", 1, 2},
    {"else", "void f () {", "if (a) ; else {", "", "}", "}", 2, 1},
    {"while", "void f () {", "while (a) ", ";", "", "}", 1, 2},
    {"do", "void f () {", "do ", ";", " while (a);", "}", 1, 2},
    {"for", "void f () {", "for (;;) ", ";", "", "}", 1, 2},
    {"switch", "void f () {", "switch (a) { case 1: ", "", "}", "}", 1, 2},
    {"namespace", "", "namespace n {", "", "}", "", 1, 0},
    {"record", "", "struct s {", "", "} a;", "", 1, 0},
    {"method", "", "struct s { void f () {", "", "} };", "", 3, 0},
};

TEST(Limits, Nesting_IsBoundedForEachConstruct) {
  LanguageLimits limits;
  limits.nesting = 24;
  for (const Nesting& n : kNestings) {
    const size_t most = (limits.nesting - n.extra) / n.levels;
    const std::string deep = SourceOf(n, most);
    const ParsedSource right = ParseSource(deep, Version::k2021, limits);
    EXPECT_TRUE(right.ok()) << n.name << "\n" << FoundText(deep, right.Found());
    const std::string deeper = SourceOf(n, most + 2);
    const std::string found =
        FoundText(deeper, ParseSource(deeper, Version::k2021, limits).Found());
    EXPECT_NE(found.find("HLSL1008"), std::string::npos) << n.name << "\n" << found;
    EXPECT_NE(found.find("nested more than 24 levels deep"), std::string::npos) << n.name;
  }
}

TEST(Limits, VeryDeepSources_AreRefusedWithTheDefaults) {
  for (const Nesting& n : kNestings) {
    const std::string deep = SourceOf(n, 100'000);
    const ParsedSource source = ParseSource(deep);
    EXPECT_FALSE(source.ok()) << n.name;
    EXPECT_FALSE(SourceOf(n, 100'000 / 2).empty());
  }
  for (const Nesting& n : kNestings) {  // and what is open at the end
    const std::string open = std::string(n.before) + Times(100'000, n.open);
    EXPECT_FALSE(ParseSource(open).ok()) << n.name;
  }
}

struct Chain {
  std::string_view name;
  std::string_view before, link, behind;
};

TEST(Limits, Chains_MayBeLong) {
  constexpr Chain kChains[] = {
      {"sum", "static int x = 1", " + 1", ";"},
      {"and", "static int x = 1", " && 1", ";"},
      {"comma", "static int x = (1", ", 1", ");"},
      {"member", "static int x = a", ".b", ";"},
      {"postfix", "static int x = a", "[0]", ";"},
      {"arguments", "static int x = f (1", ", 1", ");"},
      {"list", "static int x = { 1", ", 1", "};"},
      {"strings", "static int x = \"a\"", " \"b\"", ";"},
      {"extents", "static int x", "[2]", ";"},
      {"declarators", "static int x", ", x", ";"},
      {"modifiers", "", "static ", "int x;"},
      {"attributes", "", "[loop] ", "int x;"},
      {"path", "static int x = a", "::a", ";"},
      {"parameters", "void f (int x", ", int x", ");"},
      {"statements", "void f () { ", "a;", "}"},
      {"ladder", "void f () { if (a) b;", " else if (a) b;", "}"},
      {"members", "struct s { ", "int a;", "};"},
      {"enumerators", "enum e { a", ", a", "};"},
      {"declarations", "", "int a;", ""},
      {"places", "int x", " : A", ";"},
  };
  for (const Chain& c : kChains) {
    const std::string text = std::string(c.before) + Times(20'000, c.link) + std::string(c.behind);
    const ParsedSource source = ParseSource(text);
    EXPECT_TRUE(source.ok()) << c.name << "\n" << FoundText(text, source.Found()).substr(0, 200);
    EXPECT_EQ(CheckTree(source.read.stream, source.parsed.ast), "") << c.name;
  }
}

// What is looked at ahead of the parser must not be looked at for each token: these would take
// minutes.
TEST(Limits, Lookahead_IsBounded) {
  const std::string_view pieces[] = {"f < float, ",         "vector < int, ",        "for (x; ",
                                     "struct s { cbuffer ", "(vector < 1 + ",        "[loop ",
                                     "struct s { ",         "void f (int a, [loop] "};
  for (const std::string_view piece : pieces) {
    EXPECT_FALSE(ParseSource("void f () { x = " + Times(100'000, piece)).ok()) << piece;
    EXPECT_FALSE(ParseSource(Times(100'000, piece)).ok()) << piece;
  }
}

TEST(Limits, Terms_AreBounded) {
  LanguageLimits limits;
  limits.terms = 64;
  const auto found = [&](size_t operators) {
    const std::string text = "static int x = 1" + Times(operators, " + 1") + ";";
    return FoundText(text, ParseSource(text, Version::k2021, limits).Found());
  };
  EXPECT_EQ(found(63), "");
  EXPECT_EQ(found(64), "1:270 HLSL1007 expression has 65 operands, the limit is 64\n");
}

// Steps behind an operand are a chain as well.
TEST(Limits, PostfixSteps_AreTerms) {
  LanguageLimits limits;
  limits.terms = 64;
  for (const char* step : {".xyzw", "[0]", "++"}) {
    const auto found = [&](size_t steps) {
      const std::string text = "void f () { x = y" + Times(steps, step) + "; }";
      return FoundText(text, ParseSource(text, Version::k2021, limits).Found());
    };
    EXPECT_EQ(found(63), "") << step;
    EXPECT_NE(found(64).find("HLSL1007 expression has 65 operands, the limit is 64\n"),
              std::string::npos)
        << step;
  }
}

TEST(Limits, Strings_AreBounded) {
  LanguageLimits limits;
  limits.string = 64;
  const auto found = [&](size_t pieces) {
    const std::string text = "static int x = \"12345678\"" + Times(pieces, " \"12345678\"") + ";";
    return FoundText(text, ParseSource(text, Version::k2021, limits).Found());
  };
  EXPECT_EQ(found(7), "");
  EXPECT_EQ(found(8), "1:16 HLSL1007 string has 72 bytes, the limit is 64\n");
}

TEST(Limits, Nodes_AreBounded) {
  LanguageLimits limits;
  limits.nodes = 1024;
  const std::string text = Times(1000, "int a;");
  EXPECT_EQ(FoundText(text, ParseSource(text, Version::k2021, limits).Found()),
            "1:1 LIM1001 source has too many rows of its syntax tree, the limit is 1024\n");
  EXPECT_TRUE(ParseSource(Times(100, "int a;"), Version::k2021, limits).ok());
}

}  // namespace
}  // namespace kiln::hlsl::syntax
