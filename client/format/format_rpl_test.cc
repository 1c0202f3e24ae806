// SPDX-License-Identifier: MIT
#include "client/format/format_rpl.h"

#include <string>

#include <gtest/gtest.h>

#include "client/format/format_file.h"

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

}  // namespace
}  // namespace kiln::format
