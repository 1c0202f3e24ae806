// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "client/lsp/analysis/cursor.h"
#include "client/lsp/analysis/mend.h"
#include "client/lsp/analysis/names.h"
#include "client/lsp/analysis/outline.h"
#include "client/lsp/analysis/source.h"
#include "compiler/driver/stages.h"

namespace kiln::lsp {
namespace {

std::string Mended(const std::string& text) { return Mend(ParseText(text)).text; }

// '~' stands for what became a space.
struct MendRow {
  const char* text;
  const char* mended;
};
constexpr MendRow kMends[] = {
    {"void f (void) { f1 a = 1.0; a. }", "void f (void) { f1 a = 1.0; ~~ }"},
    {"void f (void) { f1 a = 1.0; a }", "void f (void) { f1 a = 1.0; ~ }"},
    {"void f (void) { f1 a = ; f1 b = 2.0; }", "void f (void) { ~~~~~~~~ f1 b = 2.0; }"},
    {"global a: flag; global b: flag true;", "~~~~~~~~~~~~~~~ global b: flag true;"},
    {"struct s { f4 a; f4 }; global b: flag true;", "struct s { f4 a; ~~ }; global b: flag true;"},
    {"global a: flag true; $", "global a: flag true; ~"},
    {"constant c = ;\nvoid f (void)\n{\n}\n", "~~~~~~~~~~~~~~\nvoid f (void)\n{\n}\n"},
    {"\xff", "~"},
    {"", ""},
};

TEST(Mend, EveryRow_KeepsWhatIsRight) {
  for (const MendRow& row : kMends) {
    std::string expected = row.mended;
    std::ranges::replace(expected, '~', ' ');
    EXPECT_EQ(Mended(row.text), expected) << row.text;
  }
}

TEST(Mend, AnyPrefixOfASource_HasItsSizeAndParses) {
  const std::string text =
      "instance wet: flag false;\nstruct s { f4 a; f4[2] b; alias (c, a.x) };\n"
      "conditional (wet) f1 f (in f1 x)\n{\n    for (f1 i = 0.0; i < 3.0; i = i + 1.0)\n    {\n"
      "        if (x == 1.0) { x = f2 {1.0, 2.0}.x; } else { return x; }\n    }\n    return "
      "\"no\";\n}\n";
  for (size_t size = 0; size <= text.size(); ++size) {
    const ParsedText mended = Mend(ParseText(text.substr(0, size)));
    EXPECT_EQ(mended.text.size(), size);
    EXPECT_FALSE(HasErrors(mended.tree.diagnostics)) << size;
  }
}

Source SourceOf(const std::string& text) {
  return Source(std::make_shared<const SourceFile>("/a.rpl", text));
}

struct CursorRow {
  const char* text;  // '|' is the cursor
  CursorPlace place;
  const char* about;  // name, or the chain
};
constexpr CursorRow kCursors[] = {
    {"|", CursorPlace::kDeclaration, ""},
    {"conditional (a) |", CursorPlace::kDeclaration, ""},
    {"global a: |", CursorPlace::kOptionKind, ""},
    {"set_pass |", CursorPlace::kResource, ""},
    {"setting |", CursorPlace::kSettingName, ""},
    {"setting cull_mode = |", CursorPlace::kSettingValue, "cull_mode"},
    {"setting cull_mode = \"|\"", CursorPlace::kSettingValue, "cull_mode"},
    {"constant a = |", CursorPlace::kCondition, ""},
    {"conditional (|", CursorPlace::kCondition, ""},
    {"conditional (a == |", CursorPlace::kEnumerator, "a"},
    {"conditional (a != \"x|", CursorPlace::kEnumerator, "a"},
    {"struct a { |", CursorPlace::kField, ""},
    {"set_pass uniform_buffer a { conditional (|", CursorPlace::kCondition, ""},
    {"vertex_attribute_container a { pack (|", CursorPlace::kPackFormat, ""},
    {"void f (|", CursorPlace::kField, ""},
    {"void f (void) { |", CursorPlace::kStatement, ""},
    {"void f (void) { a = |", CursorPlace::kExpression, ""},
    {"void f (void) { a = f4 {b, |", CursorPlace::kExpression, ""},
    {"void f (void) { conditional (|", CursorPlace::kCondition, ""},
    {"void f (void) { a.b[1u].|", CursorPlace::kMember, "a.b"},
    {"void f (void) { g (a, b).c.|", CursorPlace::kMember, "g ().c"},
    {"void f (void) { a.b|", CursorPlace::kMember, "a"},
    {"// a.|", CursorPlace::kNothing, ""},
    {"void f (void) { } |", CursorPlace::kDeclaration, ""},
};

TEST(CursorAt, EveryRow_IsWhereItIs) {
  for (const CursorRow& row : kCursors) {
    std::string text = row.text;
    const size_t at = text.find('|');
    text.erase(at, 1);
    const Cursor cursor = CursorAt(SourceOf(text), static_cast<uint32_t>(at));
    EXPECT_EQ(static_cast<int>(cursor.place), static_cast<int>(row.place)) << row.text;
    std::string about = cursor.name;
    for (const std::string& name : cursor.chain) {
      about += (about.empty() ? "" : ".") + name;
    }
    EXPECT_EQ(about, row.about) << row.text;
  }
}

TEST(OpenCallAt, Arguments_AreCounted) {
  const auto call_at = [](std::string text) {
    const size_t at = text.find('|');
    text.erase(at, 1);
    const std::optional<OpenCall> call = OpenCallAt(SourceOf(text), static_cast<uint32_t>(at));
    return call.has_value() ? call->name + " " + std::to_string(call->argument) : std::string();
  };
  EXPECT_EQ(call_at("void f (void) { a (|"), "a 0");
  EXPECT_EQ(call_at("void f (void) { a (b, c (d, e), |"), "a 2");
  EXPECT_EQ(call_at("void f (void) { a (b, c (d, |e), f)"), "c 1");
  EXPECT_EQ(call_at("void f (void) { a (f4 {b, |"), "f4 1");
  EXPECT_EQ(call_at("void f (void) { |"), "");
}

// Every name of a program with what it stands for: "a:declaration g:a".
std::string NamesOf(const std::string& text) {
  auto program = std::make_shared<LinkedSources>();
  program->sources.push_back(std::make_shared<const Source>(SourceOf(text)));
  program->linked = std::move(*driver::LinkModules({program->sources[0]->module()}, {"/a.rpl"},
                                                   ir::PipelineType::kGraphicsClassic)
                                   .value);
  const Names names(program);
  std::string listed;
  for (const Occurrence& one : names.occurrences()) {
    listed += std::string(names.TextAt(one)) + (one.role == NameRole::kDeclaration ? "! " : " ") +
              names.Key(one.key) + "\n";
  }
  return listed;
}

TEST(Names, EveryKindOfName_HasItsKey) {
  EXPECT_EQ(NamesOf("instance wet: flag false;\n"
                    "struct s { f4 a; };\n"
                    "set_pass uniform_buffer u { s[2] items; alias (first, items) };\n"
                    "conditional (wet) setting cull_mode = \"none\";\n"
                    "f4 g (in f4 x)\n"
                    "{\n"
                    "    alias (item, u.items[0])\n"
                    "    conditional (!wet) { return sin_f4 (item.a); }\n"
                    "    return s {x}.a;\n"
                    "}\n"),
            "wet! g:wet\n"
            "s! g:s\n"
            "a! m:s.a\n"
            "u! g:u\n"
            "s g:s\n"
            "items! m:u.items\n"
            "first! m:u.first\n"
            "items m:u.items\n"
            "wet g:wet\n"
            "cull_mode s:cull_mode\n"
            "g! g:g\n"
            "x! l:/a.rpl:168\n"
            "item! l:/a.rpl:184\n"
            "u g:u\n"
            "items m:u.items\n"
            "wet g:wet\n"
            "sin_f4 b:sin_f4\n"
            "item l:/a.rpl:184\n"
            "a m:s.a\n"
            "s g:s\n"
            "x l:/a.rpl:168\n"
            "a m:s.a\n");
}

}  // namespace
}  // namespace kiln::lsp
