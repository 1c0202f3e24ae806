// SPDX-License-Identifier: MIT
// Limits of a source, each at its default: one less, as many, one more.
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/rpl/front.h"
#include "compiler/front/rpl/parse.h"

namespace kiln::rpl {
namespace {

constexpr LanguageLimits kDefault;

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

std::string InFunction(std::string_view statements) {
  return "void f (void) { " + std::string(statements) + " }";
}

// "12: LIM1001 source has too many tokens, the limit is 2000000": place and message of each error.
std::string TextOf(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    out += std::to_string(d.primary.bytes.begin) + ": " + std::string(CodeText(d.code)) + " " +
           Message(d) + "\n";
  }
  return out;
}

std::string Errors(std::string_view text, const LanguageLimits& limits = {}) {
  return TextOf(ParseTokens(text, Lex(text, 0, limits), 0, limits).diagnostics);
}

TEST(SourceLimits, Tokens_AreCounted) {
  const uint32_t most = kDefault.tokens;
  for (const uint32_t count : {most - 1, most}) {
    const LexResult lexed = Lex(std::string(count, ';'), 0);
    EXPECT_EQ(lexed.tokens.size(), count + 1);
    EXPECT_TRUE(lexed.diagnostics.empty());
  }
  const LexResult lexed = Lex(std::string(most + 1, ';'), 0);
  EXPECT_EQ(TextOf(lexed.diagnostics),
            "2000000: LIM1001 source has too many tokens, the limit is 2000000\n");
  EXPECT_EQ(lexed.tokens.size(), 1u);
}

TEST(SourceLimits, Identifiers_AreMeasured) {
  const uint32_t most = kDefault.identifier;
  const auto of = [](uint32_t size) { return "f1 x = " + std::string(size, 'a') + ";"; };
  EXPECT_EQ(Errors(InFunction(of(most - 1))), "");
  EXPECT_EQ(Errors(InFunction(of(most))), "");
  EXPECT_EQ(Errors(InFunction(of(most + 1))), "23: LIM1001 identifier '" + std::string(60, 'a') +
                                                  "...' has too many bytes, the limit is 1024\n");
}

TEST(SourceLimits, Strings_AreMeasuredWithoutTheirQuotes) {
  const uint32_t most = kDefault.string;
  const auto of = [](uint32_t size) {
    return "global kind: enum \"" + std::string(size, 'a') + "\";";
  };
  EXPECT_EQ(Errors(of(most - 1)), "");
  EXPECT_EQ(Errors(of(most)), "");
  EXPECT_EQ(Errors(of(most + 1)), "18: LIM1001 string '" + std::string(60, 'a') +
                                      "...' has too many bytes, the limit is 65536\n");
}

// One symbol for both, which is told once of each.
TEST(SourceLimits, SpellingOfBothKinds_HasTheLimitOfEach) {
  const std::string name(6, 'a');
  const std::string text = name + " \"" + name + "\" " + name + " \"" + name + "\" \x01 b";
  const auto errors = [&](uint32_t identifier, uint32_t string) {
    return TextOf(Lex(text, 0, {.identifier = identifier, .string = string}).diagnostics);
  };
  const std::string other = "32: RPL1002 unexpected character '\\x01'\n";
  EXPECT_EQ(errors(6, 6), other);
  EXPECT_EQ(errors(5, 6),
            "0: LIM1001 identifier 'aaaaaa' has too many bytes, the limit is 5\n" + other);
  EXPECT_EQ(errors(6, 5),
            "7: LIM1001 string 'aaaaaa' has too many bytes, the limit is 5\n" + other);
  EXPECT_EQ(errors(5, 5),
            "0: LIM1001 identifier 'aaaaaa' has too many bytes, the limit is 5\n"
            "7: LIM1001 string 'aaaaaa' has too many bytes, the limit is 5\n" +
                other);
}

TEST(SourceLimits, TermsOfAChain_AreCounted) {
  const uint32_t most = kDefault.terms;
  const auto of = [](uint32_t terms) { return "a" + Repeat("+a", terms - 1); };
  const std::string error = ": LIM1001 expression has too many terms, the limit is 65536\n";
  EXPECT_EQ(Errors(InFunction("f1 x = " + of(most - 1) + ";")), "");
  EXPECT_EQ(Errors(InFunction("f1 x = " + of(most) + "; f1 y = " + of(most) + ";")), "");
  EXPECT_EQ(Errors(InFunction("f1 x = " + of(most + 1) + "; f1 y = a;")),
            std::to_string(23 + 2 * most - 1) + error);
  EXPECT_EQ(Errors("constant k = " + of(most) + ";"), "");
  EXPECT_EQ(Errors("constant k = " + of(most + 1) + "; constant i = 1u;"),
            std::to_string(13 + 2 * most - 1) + error);
}

// Operators of all levels are one chain; what stands in brackets has its own.
TEST(SourceLimits, BracketsBeginAChainOfTheirOwn) {
  const LanguageLimits limits{.terms = 4};
  EXPECT_EQ(
      Errors(InFunction("f1 x = a * b + (c - d - e) / g (a + b + c, a + b + c + d);"), limits), "");
  EXPECT_EQ(Errors(InFunction("b1 x = a * b + c < d && e;"), limits),
            "37: LIM1001 expression has too many terms, the limit is 4\n");
  EXPECT_EQ(Errors(InFunction("f1 x = a + (a + b + c + d + e);"), limits),
            "42: LIM1001 expression has too many terms, the limit is 4\n");
}

TEST(SourceLimits, LocalsOfAFunction_AreCounted) {
  const uint32_t most = kDefault.locals;
  const auto of = [](uint32_t locals) {
    return "void f (in f1 x, out f1 y) { alias (z, x) " + Repeat("f1 v;", locals - 3) + " }";
  };
  EXPECT_EQ(Errors(of(most - 1)), "");
  EXPECT_EQ(Errors(of(most) + of(most)), "");
  EXPECT_EQ(
      Errors(of(most + 2)),
      std::to_string(42 + 5 * (most - 3) + 3) +
          ": LIM1001 function 'f' has too many variables, arguments and aliases, the limit is "
          "65536\n");
}

// Rows of the syntax tree and of the module that is made of it.
TEST(SourceLimits, Nodes_AreCounted) {
  const std::string text =
      "global g: flag true; constant k = 1u + 2u; struct s { f4 a; f4[k] b; };" +
      InFunction("f1 x = 1.0; conditional (g) { if (x > 2.0 && x < 3.0) { x = x + 1.0; } }");
  const SourceFile source("m.rpl", text);
  const Ast ast = ParseTokens(text, Lex(text, 0), 0).ast;
  const Diagnosed<ir::Module> module = Parse(source, {}, 0);
  const ir::ModuleView& view = module.value->view();
  const size_t tree = ast.decls.size() + ast.fields.size() + ast.stmts.size() + ast.exprs.size();
  const size_t rows = view.options.size() + view.decls.size() + view.members.size() +
                      view.locals.size() + view.cexprs.size() + view.insts.size() +
                      view.blocks.size();
  const auto exact = static_cast<uint32_t>(tree + rows);
  EXPECT_GT(tree, 25u);
  EXPECT_GT(rows, 25u);
  for (const uint32_t most : {exact, exact + 1}) {
    EXPECT_TRUE(Parse(source, {}, 0, {.nodes = most}).ok());
  }
  for (const uint32_t most : {exact - 1, static_cast<uint32_t>(tree), uint32_t{1}}) {
    const Diagnosed<ir::Module> refused = Parse(source, {}, 0, {.nodes = most});
    EXPECT_FALSE(refused.ok());
    EXPECT_EQ(TextOf(refused.diagnostics),
              "0: LIM1001 source has too many syntax and IR nodes, the limit is " +
                  std::to_string(most) + "\n");
  }
}

TEST(SourceLimits, NodesOfMillionsOfTokens_AreTooMany) {
  const auto parse = [](size_t statements) {
    const std::string text = InFunction(Repeat("a=a" + Repeat("&&a", 997) + ";", statements));
    return TextOf(Parse(SourceFile("m.rpl", text), {}, 0).diagnostics);
  };
  EXPECT_EQ(parse(500), "");
  EXPECT_EQ(parse(900),
            "0: LIM1001 source has too many syntax and IR nodes, the limit is 4000000\n");
}

}  // namespace
}  // namespace kiln::rpl
