// SPDX-License-Identifier: MIT
// Names decide what is a type: `(a) - b` is a cast where `a` is one. Each row shows which it was.
#include <gtest/gtest.h>

#include "compiler/front/hlsl/syntax/parsed_source.h"

namespace kiln::hlsl::syntax {
namespace {

enum class Seen { kCast, kDifference };

struct Case {
  std::string_view before;  // declarations
  std::string_view inside;  // statements before the question
  Seen seen;
};

std::string Ask(std::string_view before, std::string_view inside, std::string_view name) {
  return DumpOf(std::string(before) + "\nvoid f () { " + std::string(inside) + " q = (" +
                std::string(name) + ") - 1; }");
}

TEST(Names, Scopes_HideAndEnd) {
  const Case cases[] = {
      {"", "", Seen::kDifference},
      {"struct t { float a; };", "", Seen::kCast},
      {"class t { float a; };", "", Seen::kCast},
      {"enum t { a };", "", Seen::kCast},
      {"typedef float t;", "", Seen::kCast},
      {"typedef float u, t;", "", Seen::kCast},
      {"using t = float;", "", Seen::kCast},
      {"static float t;", "", Seen::kDifference},
      {"struct t { float a; };", "float t;", Seen::kDifference},
      {"struct t { float a; };", "{ float t; }", Seen::kCast},
      {"struct t { float a; };", "for (float t;;) { }", Seen::kCast},
      {"struct t { float a; };", "for (float t;;) { t; }", Seen::kCast},
      {"float t;", "struct t { float a; };", Seen::kCast},
      {"float t;", "{ struct t { float a; }; }", Seen::kDifference},
      {"struct u { struct t { float a; }; };", "", Seen::kDifference},
      {"namespace n { struct t { float a; }; }", "", Seen::kDifference},
      {"cbuffer c { float t; }", "", Seen::kDifference},
      {"enum e { t };", "", Seen::kDifference},
      {"enum class e { t };", "", Seen::kDifference},
      {"struct t { float a; }; enum e { u };", "float u = t::a;", Seen::kCast},
      {"void t () { }", "", Seen::kDifference},
      {"struct t { float a; }; float g (float t) { return (t) - 1; }", "", Seen::kCast},
  };
  for (const Case& c : cases) {
    const std::string dump = Ask(c.before, c.inside, "t");
    const std::string_view shown = c.seen == Seen::kCast ? "(= q (cast t (- 1)))" : "(= q (- t 1))";
    EXPECT_NE(dump.find(shown), std::string::npos) << c.before << "|" << c.inside << "\n" << dump;
  }
}

TEST(Names, Paths_LeadIntoScopes) {
  struct Path {
    std::string_view before;
    std::string_view name;
    Seen seen;
  };
  const Path cases[] = {
      {"namespace n { struct t { float a; }; }", "n::t", Seen::kCast},
      {"namespace n { struct t { float a; }; } namespace n { float u; }", "n::t", Seen::kCast},
      {"namespace n { struct t { float a; }; } namespace n { float u; }", "n::u",
       Seen::kDifference},
      {"namespace n { namespace m { struct t { float a; }; } }", "n::m::t", Seen::kCast},
      {"struct s { struct t { float a; }; };", "s::t", Seen::kCast},
      {"struct s { static float t; };", "s::t", Seen::kDifference},
      {"struct s { struct t { float a; }; }; typedef s r;", "r::t", Seen::kCast},
      {"struct s { struct t { float a; }; }; using r = s;", "r::t", Seen::kCast},
      {"enum class s { t };", "s::t", Seen::kDifference},
      {"struct t { float a; };", "::t", Seen::kCast},
      {"float t;", "::t", Seen::kDifference},
      {"", "n::t", Seen::kDifference},
  };
  for (const Path& c : cases) {
    const std::string dump = Ask(c.before, "", c.name);
    const std::string name(c.name);
    const std::string shown =
        c.seen == Seen::kCast ? "(= q (cast " + name + " (- 1)))" : "(= q (- " + name + " 1))";
    EXPECT_NE(dump.find(shown), std::string::npos) << c.before << "|" << name << "\n" << dump;
  }
}

TEST(Names, Global_IsNotHidden) {
  EXPECT_NE(Ask("struct t { float a; };", "float t;", "::t").find("(cast ::t (- 1))"),
            std::string::npos);
}

// The first word of each list is hidden by a variable.
TEST(Names, ContextualWords_CanBeNames) {
  for (const std::string_view word : {"float4", "sample", "linear", "point", "vector", "Texture2D",
                                      "row_major", "unsigned", "shared"}) {
    const std::string name(word);
    EXPECT_EQ(DumpOf("void f () { float " + name + " = 1; " + name + " = (" + name + ") - 1; }"),
              "function void f\n  block\n    variables float\n      " + name +
                  " = 1\n    (= " + name + " (- " + name + " 1))\n");
  }
}

TEST(Names, Modifiers_NeedSomethingBehindThem) {
  EXPECT_EQ(
      DumpOf("linear float a; float linear; float b = linear;"),
      "variables linear float\n  a\nvariables float\n  linear\nvariables float\n  b = linear\n");
  EXPECT_EQ(DumpOf("void f (sample float a, float sample);"),
            "function void f prototype\n  parameter sample float a\n  parameter float sample\n");
}

TEST(Names, Members_SeeTypesDeclaredBelow) {
  EXPECT_EQ(DumpOf("struct s {\n"
                   "  void f () { t a; q = (t) - 1; r = (u) - 1; w = (v) - 1; }\n"
                   "  struct t { float b; void g () { struct x { float y; }; } };\n"
                   "  typedef t u;\n"
                   "  enum class v { z };\n"
                   "};"),
            "struct s\n"
            "  function void f\n"
            "    block\n"
            "      variables t\n"
            "        a\n"
            "      (= q (cast t (- 1)))\n"
            "      (= r (cast u (- 1)))\n"
            "      (= w (cast v (- 1)))\n"
            "  struct t\n"
            "    variables float\n"
            "      b\n"
            "    function void g\n"
            "      block\n"
            "        struct x\n"
            "          variables float\n"
            "            y\n"
            "  alias t\n"
            "    u\n"
            "  enum class v\n"
            "    z\n");
}

TEST(Names, MethodsOutsideTheirRecord_SeeItsTypes) {
  EXPECT_NE(DumpOf("struct s { struct t { float a; }; void f (); };\n"
                   "void s::f () { q = (t) - 1; }")
                .find("(cast t (- 1))"),
            std::string::npos);
}

TEST(Names, LoopVariables_StayIn2018) {
  const std::string_view source =
      "struct t { float a; };\nvoid f () { for (float t;;) { } q = (t) - 1; }";
  EXPECT_NE(DumpOf(source, Version::k2018).find("(- t 1)"), std::string::npos);
  EXPECT_NE(DumpOf(source, Version::k2021).find("(cast t (- 1))"), std::string::npos);
}

}  // namespace
}  // namespace kiln::hlsl::syntax
