// SPDX-License-Identifier: MIT
// The name of an entry point is the request's to choose. Every word that a table of the compiler
// has is tried in every language: as the name of no function it is an error without a place.
#include <string>

#include <gtest/gtest.h>

#include "tests/property/promises.h"
#include "tests/property/source_words.h"

namespace kiln::property {
namespace {

struct Row {
  const char* path;
  const char* text;
  const char* entry;  // that there is
};
constexpr Row kRows[] = {
    {"case.rpl", "void draw (void) { vertex_stage_output_position (f4 {0.0}); }", "draw"},
    {"case.rpl", "rpl 2; void draw (void) { vertex_stage_output_position (f4 {0.0}); }", "draw"},
    {"case.hlsl", "float4 draw (float4 p : POSITION) : SV_Position { return p; }", "draw"},
    {"case.wgsl", "@vertex fn draw () -> @builtin (position) vec4f { return vec4f (); }", "draw"},
};

// Names that no table spells out: families with their types, what no language has.
std::vector<std::string> Names() {
  std::vector<std::string> names = WordsOfTables("compiler");
  for (const char* word :
       {"",         "f4",     "u1",  "s2",      "b3",       "h4",          "f4x4",
        "floor_f3", "floor_", "_f3", "float4",  "float4x4", "min16float2", "vec4f",
        "mat2x3h",  "drew",   "dra", "\x1b[2J", "1",        "a.b",         "::draw"}) {
    names.emplace_back(word);
  }
  return names;
}

TEST(EntryNames, OfNoFunction_AreErrorsInEveryLanguage) {
  const std::vector<std::string> names = Names();
  EXPECT_GT(names.size(), 2000u);
  for (const Row& row : kRows) {
    Program program{.path = row.path, .text = row.text};
    program.entries = {{.stage = ir::Stage::kVertex, .function = row.entry}};
    const Verdict right = Try(program);
    ASSERT_EQ(right.broken, "") << row.text;
    ASSERT_TRUE(right.compiled) << row.text;
    for (const std::string& name : names) {
      program.entries[0].function = name;
      const ShownOnCrash shows(name);
      const Verdict verdict = Try(program);
      ASSERT_EQ(verdict.broken, "") << row.text << " entry '" << name << "'";
      ASSERT_FALSE(verdict.compiled) << row.text << " entry '" << name << "'";
    }
  }
}

}  // namespace
}  // namespace kiln::property
