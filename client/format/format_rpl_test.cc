// SPDX-License-Identifier: MIT
#include "client/format/format_rpl.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/format/format_file.h"
#include "client/format/items.h"
#include "compiler/base/files/file.h"
#include "compiler/front/rpl/parse.h"

namespace kiln::format {
namespace {

std::string Formatted(std::string_view text) {
  const Result<std::string> formatted = FormatFile("a.rpl", text);
  return formatted.ok() ? *formatted : formatted.error().context;
}

struct StyleRow {
  const char* name;
  const char* before;
  const char* after;
};
constexpr StyleRow kRows[] = {
    {"operators have spaces", "constant a=1.0+2.0*  3.0;", "constant a = 1.0 + 2.0 * 3.0;\n"},
    {"unary operators have none", "constant a = - 1.0 - -2.0;", "constant a = -1.0 - -2.0;\n"},
    {"negative defaults", "global a: sint - 3;", "global a: sint -3;\n"},
    {"option colons", "instance b :flag  false ;", "instance b: flag false;\n"},
    {"calls and constructors", "constant a=f2{ 1.0,2.0 };", "constant a = f2 {1.0, 2.0};\n"},
    {"function heads", "f4 f( in f3 a,in   f1 b ){ return f4{a,b}; }",
     "f4 f (in f3 a, in f1 b) { return f4 {a, b}; }\n"},
    {"blocks of several lines", "void f (void) {\nreturn;\n}",
     "void f (void)\n{\n    return;\n}\n"},
    {"nested blocks", "void f (void)\n{\nif (a) {\nb = c;\n} else {\nd = e;\n}\n}",
     "void f (void)\n{\n    if (a)\n    {\n        b = c;\n    }\n    else\n    {\n        d = e;\n"
     "    }\n}\n"},
    {"blocks of one line stay", "void f (void)\n{\nif (a) {b = c;}\n}",
     "void f (void)\n{\n    if (a) { b = c; }\n}\n"},
    {"what goes on is indented", "constant a = 1.0\n+ 2.0;", "constant a = 1.0\n    + 2.0;\n"},
    {"empty lines", "\n\nglobal a: flag false;\n\n\n\nglobal b: flag true;\n\n",
     "global a: flag false;\n\nglobal b: flag true;\n"},
    {"no empty line inside braces", "struct a\n{\n\nf4 b;\n\n};", "struct a\n{\n    f4 b;\n};\n"},
    {"comments in one column", "struct a\n{\nf4 b; // b\nf4x4 longer; // c\n};",
     "struct a\n{\n    f4 b;           // b\n    f4x4 longer;    // c\n};\n"},
    {"comments stand where they stood", "// one\n  // two\nglobal a: flag false;//three",
     "// one\n// two\nglobal a: flag false;   //three\n"},
    {"blanks behind a comment go", "// one  \nglobal a: flag false;",
     "// one\nglobal a: flag false;\n"},
    {"members and indices", "void f (void) { a . b [ 1u ] = c [ 0u ].d; }",
     "void f (void) { a.b[1u] = c[0u].d; }\n"},
    {"aliases have no semicolon", "struct a\n{\nf4 b;\nalias (c,b.x)\nalias (d,b.y)\n};",
     "struct a\n{\n    f4 b;\n    alias (c, b.x)\n    alias (d, b.y)\n};\n"},
    {"conditions of declarations", "conditional(a)\nf1 f (void)\n{\nreturn 1.0;\n}",
     "conditional (a)\nf1 f (void)\n{\n    return 1.0;\n}\n"},
    {"what a condition decides is indented", "conditional (a)\nsetting b = true;",
     "conditional (a)\n    setting b = true;\n"},
    {"line ends of the text", "global a:flag true;\r\nglobal b:flag true;\r\n",
     "global a: flag true;\r\nglobal b: flag true;\r\n"},
    {"nothing", "", ""},
};

TEST(FormatRpl, EveryRow_HasItsStyle) {
  for (const StyleRow& row : kRows) {
    EXPECT_EQ(Formatted(row.before), row.after) << row.name;
  }
}

TEST(FormatRpl, EveryRow_FormattedTwice_IsTheSame) {
  for (const StyleRow& row : kRows) {
    EXPECT_EQ(Formatted(row.after), row.after) << row.name;
  }
}

TEST(FormatFile, WrongSource_IsRefusedWithItsPlace) {
  EXPECT_EQ(Formatted("global a flag;").substr(0, 11), "a.rpl:1:10:");
  EXPECT_FALSE(FormatFile("a.hlsl", "").ok());
}

// Tokens and comments as texts, in order.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (const Item& item : ItemsOf(text, rpl::Lex(text, 0))) {
    words.emplace_back(TextOf(text, item.bytes));
  }
  return words;
}

// The sources of a file: itself, or of goldens that share one (tests/golden/README.md) each.
std::vector<std::string> SourcesIn(const std::filesystem::path& path) {
  const Result<std::string> text = ReadFile(path.string());
  std::vector<std::string> sources;
  if (path.extension() == ".rpl") {
    sources.push_back(*text);
  }
  for (size_t at = 0;
       path.extension() == ".golden" && (at = text->find("//--- ", at)) != text->npos;) {
    const size_t end = text->find('\n', at);
    const bool is_source = std::string_view(*text).substr(at, end - at).ends_with(".rpl");
    at = std::min(text->find("//--- ", end), text->size());
    if (is_source) {
      sources.push_back(text->substr(end + 1, at - end - 1));
    }
  }
  return sources;
}

TEST(FormatRpl, EverySourceOfTheRepository_KeepsItsWordsAndIsStable) {
  size_t formatted = 0;
  for (const char* folder : {"examples", "tests", "docs", "compiler"}) {
    const std::filesystem::path root = std::filesystem::path(KILN_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) {
        continue;
      }
      for (const std::string& text : SourcesIn(entry.path())) {
        const Result<std::string> once = FormatFile("a.rpl", text);
        if (!once.ok()) {
          continue;  // a case of an error
        }
        ++formatted;
        EXPECT_EQ(WordsOf(text), WordsOf(*once)) << entry.path();
        EXPECT_EQ(*FormatFile("a.rpl", *once), *once) << entry.path();
      }
    }
  }
  EXPECT_GT(formatted, 100u);
}

}  // namespace
}  // namespace kiln::format
