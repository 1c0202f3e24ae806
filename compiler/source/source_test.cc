// SPDX-License-Identifier: MIT
// Span, SourceFile, SourceSet, LineIndex.
#include <string>

#include <gtest/gtest.h>

#include "compiler/source/line_index.h"
#include "compiler/source/source_file.h"
#include "compiler/source/span.h"

namespace kiln {
namespace {

TEST(Span, CoverAndText_AreHalfOpen) {
  constexpr Span kA{.begin = 2, .end = 4};
  constexpr Span kB{.begin = 7, .end = 8};
  EXPECT_EQ(Cover(kB, kA), (Span{2, 8}));
  EXPECT_EQ(TextOf("0123456789", kA), "23");
  EXPECT_EQ(TextOf("012", kA), "2");
  EXPECT_EQ(TextOf("0", kA), "");
  EXPECT_EQ(kA.size(), 2u);
}

TEST(SourceFile, Text_IsDigested) {
  const SourceFile file("a/b.rpl", "void main_vertex (void) {}\n");
  EXPECT_EQ(file.digest.id.hex(), "60737ed823fb7f517fe81ff69924d637");
  EXPECT_EQ(file.digest.size, 27u);
}

TEST(SourceSet, DeclaredPaths_AreFound) {
  SourceSet set;
  const SourceFile& first = set.Add({"a.rpl", "one"});
  set.Add({"b.rpl", "two"});
  EXPECT_EQ(set.Find("a.rpl"), &first);
  EXPECT_EQ(set.Find("b.rpl")->text, "two");
  EXPECT_EQ(set.Find("c.rpl"), nullptr);
  set.Add({"a.rpl", "three"});
  EXPECT_EQ(set.Find("a.rpl")->text, "three");
  EXPECT_EQ(set.size(), 2u);
}

TEST(LineIndex, Offsets_HaveLineAndColumn) {
  struct Row {
    std::string_view text;
    uint32_t offset;
    uint32_t line;
    uint32_t column;
  };
  const Row rows[] = {
      {"", 0, 1, 1},
      {"abc", 0, 1, 1},
      {"abc", 3, 1, 4},
      {"abc", 99, 1, 4},
      {"a\nbc", 1, 1, 2},  // the line end itself
      {"a\nbc", 2, 2, 1},  // first byte of the next line
      {"a\nbc", 3, 2, 2},
      {"a\n", 2, 2, 1},     // empty last line
      {"a\r\nb", 2, 1, 2},  // within \r\n
      {"a\r\nb", 3, 2, 1},
      {"a\rb\n", 2, 2, 1},  // lone \r
      {"\r\r\n\n", 3, 3, 1},
      {"gr\xc3\xbcn", 4, 1, 4},  // after the umlaut
      {"gr\xc3\xbcn", 3, 1, 3},  // within the umlaut
      {"\xe2\x82\xac\xf0\x9f\x98\x80x", 7, 1, 3},
      {"\xff\xff.", 2, 1, 3},  // ill-formed bytes count one each
  };
  for (const Row& row : rows) {
    const LineColumn at = LineIndex(row.text).At(row.offset);
    EXPECT_EQ(at, (LineColumn{row.line, row.column})) << row.text << " at " << row.offset;
  }
}

TEST(LineIndex, LineSpans_LeaveTheLineEndsOut) {
  const std::string_view text = "one\ntwo\r\n\rfour";
  const LineIndex lines(text);
  ASSERT_EQ(lines.line_count(), 4u);
  EXPECT_EQ(TextOf(text, lines.LineSpan(1)), "one");
  EXPECT_EQ(TextOf(text, lines.LineSpan(2)), "two");
  EXPECT_EQ(TextOf(text, lines.LineSpan(3)), "");
  EXPECT_EQ(TextOf(text, lines.LineSpan(4)), "four");
}

}  // namespace
}  // namespace kiln
