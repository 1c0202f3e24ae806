// SPDX-License-Identifier: MIT
#include "server/compile/programs/language_rows.h"

#include <string>

#include <gtest/gtest.h>

#include "compiler/base/hash/canonical.h"

namespace kiln::compile {
namespace {

// Rows are read back to link a program again. What a record has a part of only would be another
// program.
TEST(LanguageRows, ReadBack_AreTheSameOrNone) {
  const struct {
    std::string name, value;
    bool whole;
  } rows[] = {{"FOG", "1", true},
              {"PICK(a)", "a ? 1 : 2", true},
              {"LONG", std::string(1024, '1'), true},
              {"LONG", std::string(1025, '1'), false},
              {std::string(1100, 'n'), "1", false},
              {"BYTES", "\xff", false},
              {"NUL", std::string("a\0b", 3), false}};
  for (const auto& row : rows) {
    HlslInputs inputs;
    inputs.settings.defines.push_back({.name = row.name, .value = row.value});
    inputs.settings.include_roots.push_back("shaders");
    cache::ExplainInputs record;
    record.language = LanguageRowsOf(inputs);
    for (const auto& [name, value] : record.language) {
      EXPECT_LE(name.size(), 1024u);
      EXPECT_LE(value.size(), 1024u);
      EXPECT_TRUE(IsCanonicalText(name) && IsCanonicalText(value));
    }
    const std::optional<HlslInputs> again = HlslInputsOf(record);
    ASSERT_EQ(again.has_value(), row.whole) << row.name.substr(0, 20) << row.value.substr(0, 20);
    if (again.has_value()) {
      EXPECT_EQ(again->settings, inputs.settings);
    }
  }
}

TEST(LanguageRows, RootThatIsNotWhole_IsNone) {
  HlslInputs inputs;
  inputs.settings.include_roots.push_back(std::string(1025, 'r'));
  cache::ExplainInputs record;
  record.language = LanguageRowsOf(inputs);
  EXPECT_FALSE(HlslInputsOf(record).has_value());
}

}  // namespace
}  // namespace kiln::compile
