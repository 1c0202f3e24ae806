// SPDX-License-Identifier: MIT
#include "compiler/base/text/toml_bounds.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string Repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

std::string Key(size_t parts) { return Repeated("a.", parts - 1) + "a"; }

TEST(TomlBounds, WhatGoesTooDeep_IsFoundAndNothingElse) {
  const struct {
    std::string text;
    bool within;
  } rows[] = {
      {"", true},
      {Key(kMaxTomlKeyParts) + " = 1", true},
      {Key(kMaxTomlKeyParts + 1) + " = 1", false},
      {Key(100'000) + " = 1", false},
      {"[" + Key(kMaxTomlKeyParts) + "]\n" + Key(kMaxTomlKeyParts) + " = 1", true},
      {"[" + Key(kMaxTomlKeyParts + 1) + "]", false},
      {"[[" + Key(kMaxTomlKeyParts + 1) + "]]", false},
      {"x = { " + Key(kMaxTomlKeyParts) + " = 1, " + Key(kMaxTomlKeyParts) + " = 2 }", true},
      {"x = { y = 1, " + Key(kMaxTomlKeyParts + 1) + " = 1 }", false},
      {Repeated("a . ", kMaxTomlKeyParts) + "a = 1", false},
      {Repeated("\"a=,[\".", kMaxTomlKeyParts) + "a = 1", false},
      {Repeated("'='.", kMaxTomlKeyParts) + "a = 1", false},
      {"x = " + Repeated("[", kMaxTomlNesting) + Repeated("]", kMaxTomlNesting), true},
      {"x = " + Repeated("[", kMaxTomlNesting + 1), false},
      {"x = " + Repeated("{ a = ", kMaxTomlNesting + 1), false},
      {"x = [\n" + Repeated("{ a = 1.5 },\n", 1000) + "]", true},
      {"# " + Key(1000) + "\nx = 1", true},
      {"x = \"" + Key(1000) + "\"", true},
      {"x = '" + Key(1000) + Repeated("[", 1000) + "'", true},
      {"x = \"\"\"\n" + Key(1000) + "\\\"\"\" \n\"\"\"", true},
      {"x = '''\n" + Key(1000) + "''\n'''", true},
      {"x = '\\'\n" + Key(100) + " = 1", false},
      {"x = \"\\\\\"\n" + Key(100) + " = 1", false},
      {"x = { y = \"\"\"a\"\"\"\", " + Key(100) + " = 1 }", false},
      {"x = { y = \"\"\"a\"\"\"\"\", " + Key(100) + " = 1 }", false},
      {"x = { y = '''a'''', " + Key(100) + " = 1 }", false},
      {"x = \"\", \n" + Key(100) + " = 1", false},
      {std::string(kMaxTomlBytes, '\n'), true},
      {std::string(kMaxTomlBytes + 1, '\n'), false},
      {"x = \"\\", true},
      {"x = \"\"\"\\", true},
      {"]]]}}", true}};
  for (const auto& row : rows) {
    EXPECT_EQ(!FindTomlExcess(row.text).has_value(), row.within) << row.text.substr(0, 80);
  }
}

TEST(TomlBounds, Excess_HasAPlace) {
  const auto excess = FindTomlExcess("x = 1\n  " + Key(kMaxTomlKeyParts + 1));
  ASSERT_TRUE(excess.has_value());
  EXPECT_EQ(excess->line, 2u);
  EXPECT_EQ(excess->column, 2 + 2 * kMaxTomlKeyParts);  // of the dot that is too many
  EXPECT_EQ(excess->what, "a key of more than 32 parts");
}

}  // namespace
}  // namespace kiln
