// SPDX-License-Identifier: MIT
#include "client/cli/variant/line_diff.h"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(LineDiff, Texts_DifferInTheFewestLines) {
  const struct {
    const char* first;
    const char* second;
    uint64_t removed, added;
    const char* text;
  } table[] = {
      {"", "", 0, 0, ""},
      {"a\nb\n", "a\nb\n", 0, 0, ""},
      {"a\n", "", 1, 0, "- a\n"},
      {"", "a\n", 0, 1, "+ a\n"},
      {"a\nb\nc\n", "a\nx\nc\n", 1, 1, "  a\n- b\n+ x\n  c\n"},
      {"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nx\n", 1, 1, "…\n  4\n  5\n- 6\n+ x\n"},
      {"a\n1\n2\n3\n4\n5\nb\n", "1\n2\n3\n4\n5\n", 2, 0, "- a\n  1\n  2\n…\n  4\n  5\n- b\n"},
      {"a\na\n", "a\n", 1, 0, "  a\n- a\n"}};
  for (const auto& row : table) {
    const LineDiff diff = DiffLines(row.first, row.second);
    EXPECT_EQ(diff.removed, row.removed) << row.first << row.second;
    EXPECT_EQ(diff.added, row.added) << row.first << row.second;
    EXPECT_EQ(diff.text, row.text);
    EXPECT_EQ(diff.equal(), std::string_view(row.first) == row.second);
  }
}

TEST(LineDiff, TextsTooLargeForTheTable_DifferAsAWhole) {
  std::string first = "same\n";
  std::string second = "same\n";
  for (int i = 0; i < 5000; ++i) {
    first += "a" + std::to_string(i) + "\n";
    second += "b" + std::to_string(i) + "\n";
  }
  const LineDiff diff = DiffLines(first, second);
  EXPECT_EQ(diff.removed, 5000u);
  EXPECT_EQ(diff.added, 5000u);
}

}  // namespace
}  // namespace kiln::cli
