// SPDX-License-Identifier: MIT
// What goldens do not show: limits, speed of bad input, and which errors hide which. The grammar
// and every message are in tests/golden/parse.
#include "compiler/front/rpl/parse.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/test_cpu_time.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/rpl/dump.h"

namespace kiln::rpl {
namespace {

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

std::string InFunction(std::string_view statements) {
  return "void f (void) { " + std::string(statements) + " }";
}

// "RPL1110@23 RPL1002@40": codes and byte offsets.
std::string Errors(std::string_view text) {
  std::string out;
  for (const Diagnostic& d : ParseTokens(text, Lex(text, 0), 0).diagnostics) {
    out += (out.empty() ? "" : " ") + std::string(CodeText(d.code)) + "@" +
           std::to_string(d.primary.bytes.begin);
  }
  return out;
}

std::string Codes(std::string_view text) {
  std::string out;
  for (const Diagnostic& d : ParseTokens(text, Lex(text, 0), 0).diagnostics) {
    out += (out.empty() ? "" : " ") + std::string(CodeText(d.code));
  }
  return out;
}

TEST(Parse, Limits_AreExact) {
  const struct {
    const char* name;
    std::string fits;
    std::string too_deep;
  } cases[] = {
      {"parentheses", InFunction(Repeat("(", 256) + "x" + Repeat(")", 256) + ";"),
       InFunction(Repeat("(", 257) + "x" + Repeat(")", 257) + ";")},
      {"unary operators", InFunction(Repeat("-", 256) + "x;"), InFunction(Repeat("!", 257) + "x;")},
      {"indices", InFunction(Repeat("x[", 256) + "0u" + Repeat("]", 256) + ";"),
       InFunction(Repeat("x[", 257) + "0u" + Repeat("]", 257) + ";")},
      {"calls", InFunction(Repeat("g (", 256) + "x" + Repeat(")", 256) + ";"),
       InFunction(Repeat("g (", 257) + "x" + Repeat(")", 257) + ";")},
      {"constructors", InFunction(Repeat("f1 {", 256) + "x" + Repeat("}", 256) + ";"),
       InFunction(Repeat("f1 {", 257) + "x" + Repeat("}", 257) + ";")},
      {"assignments", InFunction(Repeat("x = ", 256) + "y;"),
       InFunction(Repeat("x = ", 257) + "y;")},
      {"scopes", InFunction(Repeat("{ ", 255) + Repeat("} ", 255)),
       InFunction(Repeat("{ ", 256) + Repeat("} ", 256))},
      {"else chains", InFunction(Repeat("if (a) { } else ", 255) + "{ }"),
       InFunction(Repeat("if (a) { } else ", 257) + "{ }")},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Codes(c.fits), "") << c.name;
    EXPECT_EQ(Codes(c.too_deep), "RPL1009") << c.name;
  }
}

TEST(Parse, LongChains_AreNotNested) {
  EXPECT_EQ(Codes(InFunction("f1 x = a" + Repeat(" + a", 20000) + ";")), "");
  EXPECT_EQ(Codes(InFunction("f1 x = a" + Repeat(" && a || b", 10000) + ";")), "");
  EXPECT_EQ(Codes(InFunction("f1 x = a" + Repeat(".b[0u]", 10000) + ";")), "");
  EXPECT_EQ(Codes("constant k = 1u" + Repeat(" + 1u", 20000) + ";"), "");
  EXPECT_EQ(Codes(InFunction(Repeat("x = 1.0; ", 20000))), "");
}

TEST(Parse, HostileInput_IsAnsweredQuickly) {
  const std::string cases[] = {
      InFunction(Repeat("(", 10000) + Repeat(")", 10000)),
      InFunction(Repeat("-", 100000)),
      InFunction(Repeat("{", 100000)),
      InFunction(Repeat("x[", 20000)),
      InFunction(Repeat("f4 {", 100000)),
      InFunction(Repeat("if (a) { } else ", 20000)),
      InFunction(Repeat("x (", 100000)),
      Repeat("struct s { ", 20000),
      Repeat("conditional (", 50000),
      Repeat("}", 20000),
      Repeat("\"", 100001),
      Repeat("@", 20000),
  };
  for (const std::string& text : cases) {
    const Duration begin = CpuOfThisThread();
    EXPECT_NE(Codes(text), "") << text.substr(0, 40);
    // far above what it takes, far below what anything quadratic would
    EXPECT_LT(CpuOfThisThread() - begin, std::chrono::seconds(20)) << text.substr(0, 40);
  }
}

TEST(Parse, OneConstruct_HasOneError) {
  const struct {
    std::string_view text;
    std::string_view errors;
  } cases[] = {
      {"void f (void) { f1 a = 1.5f + * 2.0; }", "RPL1004@23"},
      {"void f (void) { f1 a = * 1.5f; }", "RPL1172@23"},
      {"void f (void) { f1 a = b @ c; }", "RPL1002@25"},
      {"void f (void) { f1 sin_f1 = ; }", "RPL1107@19"},
      {"void f (f1 a, f1 b) { }", "RPL1152@8"},
      {"void f (f1 a) { f1 b = ; }", "RPL1152@8 RPL1174@23"},
      {"global pi: flag 3;", "RPL1107@7"},
      {"struct s { f4 a b; f4 c d; };", "RPL1110@16 RPL1110@24"},
      {"void f (void) { if (a b) { c = ; } }", "RPL1170@22 RPL1174@31"},
      {"void f (void) { while (!) { x; } y z w; }", "RPL1173@23 RPL1110@37"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Errors(c.text), c.errors) << c.text;
  }
}

// At most the error of the statement that was cut, and that of the list around it.
// Dotted names of constants are warnings.
TEST(Parse, ManyWarnings_HideNothing) {
  const std::string many = Repeat("constant a.b = 1u;\n", 2 * kMaxFound);
  const ParseResult right = ParseTokens(many, Lex(many, 0), 0);
  EXPECT_FALSE(HasErrors(right.diagnostics));
  EXPECT_EQ(right.diagnostics.size(), kMaxDiagnostics) << "the rest is left out";
  EXPECT_EQ(right.ast.decls.size(), 2 * kMaxFound);
  const std::string wrong = many + "this is ( no RPL";
  EXPECT_TRUE(HasErrors(ParseTokens(wrong, Lex(wrong, 0), 0).diagnostics));
}

TEST(Parse, ManyMistakes_AreAFailure) {
  const std::string text = Repeat("constant = 1u;\n", 2 * kMaxFound);
  const ParseResult parsed = ParseTokens(text, Lex(text, 0), 0);
  EXPECT_TRUE(HasErrors(parsed.diagnostics));
  EXPECT_LE(parsed.diagnostics.size(), kMaxFound);
}

TEST(Parse, EndOfFileAnywhere_IsReported) {
  const std::string text =
      "global a: enum \"x\" \"y\";\nconditional (a == \"x\") struct s { meta (t) f4[2u] b; "
      "alias (c, b) };\nvoid f (in f1 x, out f2 y) { if (x < 1.0) { f1 z = g (x)[1u]; } "
      "for (u1 i = 0u; i < 2u; i = i + 1u) { y = f2 {x, -x}; } return; }\n";
  for (size_t size = 0; size < text.size(); ++size) {
    const std::string_view part(text.data(), size);
    const ParseResult parsed = ParseTokens(part, Lex(part, 0), 0);
    EXPECT_LE(parsed.diagnostics.size(), 2u) << part;
    const bool whole = part.find_last_of(";}") == std::string_view::npos ||
                       part.find_last_not_of(" \n") == part.find_last_of(";}");
    EXPECT_TRUE(whole || !parsed.diagnostics.empty()) << part;
  }
}

TEST(Parse, MissingLineEnd_ContinuesOnTheNextLine) {
  EXPECT_EQ(Codes("constant a = 1u\nconstant b = ;\n"), "RPL1110 RPL1174");
  EXPECT_EQ(Codes("constant a = 1u constant b = ;\n"), "RPL1170");
}

// One mistake in a file that goes on: one message, and the rest is understood. The last constant is
// wrong, so that what went on in between shows.
TEST(Parse, OneMistake_IsOneMessage) {
  const struct {
    const char* source;
    const char* codes;
  } rows[] = {
      // a '}' is missing
      {"struct s { f4 a;\nstate_container t { f4 b; };\nset_pass sampler x;\n", "RPL1111"},
      {"struct s { f4 a; ;\nset_pass uniform_buffer x { f4 b; };\n", "RPL1111"},
      {"state_container s { f4 a;\nglobal o: flag true;\n", "RPL1111"},
      {"push_constant s { f4 a;\nvoid f (in f1 x) { return; }\n", "RPL1111"},
      {"set_pass uniform_buffer s { f4 a;\nf1 f (void) { return 1.0; }\n", "RPL1111"},
      {"struct s { f4 a;\nconditional (true) set_pass sampler x;\n", "RPL1111"},
      {"void f (void)\n{\n  x = 1.0;\n\nvoid g (void)\n{\n  y = 1.0;\n}\n", "RPL1111"},
      {"void f (void)\n{\n  if (a) { while (b) { x = 1.0;\n\nset_pass sampler s;\n", "RPL1111"},
      {"void f (void) { if (a) { x = 1.0; else { x = 2.0; } y = 1.0; }\n", "RPL1111"},
      // a '{' is missing
      {"struct s f4 a; f4 b; };\n", "RPL1113"},
      {"void f (void)\n  x = 1.0;\n  y = 2.0;\n}\n", "RPL1113"},
      {"void f (void);\nvoid g (void) { x = 1.0; }\n", "RPL1113"},
      {"void f (void)\n{\n  for (u1 i = 0u; i < 1u; i = 1u)\n    x = 1.0;\n    y = 1.0;\n  }\n"
       "  z = 1.0;\n}\n",
       "RPL1113"},
      {"void f (void)\n{\n  if (a) x = 1.0; }\n  else { x = 2.0; }\n  y = 1.0;\n}\n", "RPL1113"},
      {"void f (void)\n{\n  if (a)\n    x = 1.0;\n  y = 1.0;\n}\n", "RPL1113"},
      {"void f (void) { if (a) x = 1.0; }\n", "RPL1113"},
      // arguments
      {"void f (;) {}\n", "RPL1155"},
      {"void f (in f1 a; in f1 b) { x = 1.0; }\n", "RPL1111"},
      {"void f (in f1 a { x = 1.0; }\n", "RPL1111"},
      {"void f (in f1 a,) { x = 1.0; }\n", "RPL1155"},
      // headers
      {"void f (void) { if (a > 1.0 { x = 1.0; } else { x = 2.0; } }\n", "RPL1111"},
      {"void f (void) { if a > 1.0) { x = 1.0; } else { x = 2.0; } }\n", "RPL1113"},
      {"void f (void) { while a > 1.0 { x = 1.0; } y = 1.0; }\n", "RPL1113"},
      {"void f (void) { for u1 i = 0u; i < 1u; i = 1u) { x = 1.0; } }\n", "RPL1113"},
      {"void f (void) { conditional (a { x = 1.0; } y = 1.0; }\n", "RPL1111"},
      // what stands for nothing
      {"#version 450\nrpl 2;\nconstant a = true ? 1u : 2u;\n", "RPL1002"},
      {"#define A \\\n  b c d\nconstant a = 1u;\n", "RPL1002"},
      {"/* a\n comment */ constant a = 1u;\n", "RPL1010"},
      {"void f (void) { if ($ a > 1.0) { x = 1.0; } else { x = 2.0; } }\n", "RPL1002"},
      {"void f (void) { for ($ u1 i = 0u; i < 1u; i = 1u) { x = 1.0; } }\n", "RPL1002"},
      {"constant a = true ? 1u : 2u;\nvoid f (void) { x += 1.0; y -= 1.0; }\n", "RPL1192"},
      // words
      {"void f (void) { loop { x = 2.0; } y = 1.0; }\n", "RPL1110"},
      {"void f (void) { do { x = 2.0; } while (a); y = 1.0; }\n", "RPL1110"},
      {"void f (void) { if (a) { x = 1.0; } elseif { x = 2.0; } y = 1.0; }\n", "RPL1110"},
      {"void f (void) { do { x = 2.0; } while (a) { } }\n", "RPL1110"},
      {"constant a 1u + 2u;\n", "RPL1113"},
      {"constant a b + 2u;\n", "RPL1113"},
      {"constant f4 a = 2u;\n", "RPL1192"},
      // one bracket too many
      {"void f (void) { f4 x = f4 {0.0}}; y = 1.0; }\n", "RPL1110"},
      {"void f (void) { f4 x = f4 {0.0}); y = 1.0; }\n", "RPL1110"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Codes(std::string(row.source) + "constant last = ;\n"),
              std::string(row.codes) + " RPL1174")
        << row.source;
  }
}

// Where the '}' is missing is where a '}' is indented like that of an outer brace; the message
// points at the '{' before it.
TEST(Parse, MissingBrace_IsShownWhereItWasOpened) {
  const struct {
    const char* source;  // '@' stands before the brace
    const char* code;
  } rows[] = {
      {"void f (void)\n{\n  if (a)\n  @{\n    x = 1.0;\n}\nvoid g (void)\n{\n  y = 1.0;\n}\n",
       "RPL1111"},
      {"void f (void)\n{\n  while (a) @{\n    x = 1.0;\n}\n", "RPL1112"},
      {"void f (void)\n{\n  if (a) @{\n    x = 1.0;\n  y = 2.0;\n}\nconditional (c) void g (void)\n"
       "{\n  y = 1.0;\n}\nvoid h (void) { x = 1.0; }\n",
       "RPL1111"},
      {"void f (void)\n@{\n  x = 1.0;\n\nvoid g (void)\n{\n  y = 1.0;\n}\n", "RPL1111"},
      {"void f (void) @{ x = 1.0;\n", "RPL1112"},
  };
  for (const auto& row : rows) {
    std::string source = row.source;
    const size_t brace = source.find('@');
    source.erase(brace, 1);
    EXPECT_EQ(Errors(source), std::string(row.code) + "@" + std::to_string(brace)) << source;
  }
}

TEST(Parse, Fixes_MendTheSource) {
  const struct {
    const char* wrong;
    const char* mended;
  } rows[] = {
      {"constant a = 1u\nconstant b = 2u;\n", "constant a = 1u;\nconstant b = 2u;\n"},
      {"struct s { f4 a; }\nconstant b = 2u;\n", "struct s { f4 a; };\nconstant b = 2u;\n"},
      {"void f () { x = 1.0; }\n", "void f (void) { x = 1.0; }\n"},
      {"void f (f1 a) { x = 1.0; }\n", "void f (in f1 a) { x = 1.0; }\n"},
      {"void f (void) { x = 1.0f; }\n", "void f (void) { x = 1.0; }\n"},
      {"void f (void) { x = 2f; }\n", "void f (void) { x = 2.0; }\n"},
      {"void f (void) { x = 1.; }\n", "void f (void) { x = 1.0; }\n"},
      {"void f (void) { x = .5; }\n", "void f (void) { x = 0.5; }\n"},
      {"void f (void) { x = 1.0;; }\n", "void f (void) { x = 1.0; }\n"},
      {"void f (void) { alias (a, x); }\n", "void f (void) { alias (a, x) }\n"},
      {"void f (void) { x = g (a b); }\n", "void f (void) { x = g (a, b); }\n"},
      {"void f (void) { x += 1.0; }\n", "rpl 2;\nvoid f (void) { x += 1.0; }\n"},
      {"global a: bool true;\n", "global a: flag true;\n"},
      {"vertex_attribute_container c { pack (unom8) f4 a; };\n",
       "vertex_attribute_container c { pack (unorm8) f4 a; };\n"},
      {"state_contaner c { f4 a; };\n", "state_container c { f4 a; };\n"},
      {"set_pass imag_color_2d a;\n", "set_pass image_color_2d a;\n"},
  };
  for (const auto& row : rows) {
    std::string text = row.wrong;
    const std::vector<Diagnostic> found = ParseTokens(text, Lex(text, 0), 0).diagnostics;
    ASSERT_EQ(found.size(), 1u) << text;
    ASSERT_TRUE(found[0].fix.has_value()) << text;
    const Span where = found[0].fix->where.bytes;
    text.replace(where.begin, where.end - where.begin, found[0].fix->text);
    EXPECT_EQ(text, row.mended);
    EXPECT_EQ(Codes(text), "") << text;
  }
}

// What looks like the neighbours of the rows above and is right.
TEST(Parse, ContextualWords_AreNoMistakes) {
  EXPECT_EQ(Codes("void f (void)\n{\nconstant x = constant {1.0};\nsetting y = x;\nif z;\n"
                  "while w = z;\nz = f2 {x = 1.0, y};\n}\n"),
            "");
  EXPECT_EQ(Codes("struct s { set_pass sampler; global instance; constant constant; };\n"), "");
}

TEST(Parse, SizesOfAnArray_AreLimited) {
  EXPECT_EQ(Codes("struct s { f4" + Repeat("[1]", 256) + " a; };"), "");
  EXPECT_EQ(Codes("struct s { f4" + Repeat("[1]", 257) + " a; };"), "RPL1009");
  EXPECT_EQ(Codes(InFunction("f4" + Repeat("[1]", 20'000) + " a;")), "RPL1009");
}

TEST(Parse, Twice_GivesTheSame) {
  const std::string text = "global a: flag 3;\nvoid f (f1 x) { y = ; z w; }\nstruct s { };\n";
  const ParseResult first = ParseTokens(text, Lex(text, 0), 0);
  const ParseResult second = ParseTokens(text, Lex(text, 0), 0);
  EXPECT_EQ(first.diagnostics, second.diagnostics);
}

}  // namespace
}  // namespace kiln::rpl
