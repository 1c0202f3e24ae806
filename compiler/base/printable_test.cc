// SPDX-License-Identifier: MIT
#include "compiler/base/printable.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

struct Row {
  std::string text, line, lines, message;
};

TEST(Printable, Text_IsCleanInEachForm) {
  const Row rows[] = {
      {"", "", "", ""},
      {"rock/forward", "rock/forward", "rock/forward", "rock/forward"},
      {"gr\xc3\xbcn \xe6\xb0\xb4", "gr\xc3\xbcn \xe6\xb0\xb4", "gr\xc3\xbcn \xe6\xb0\xb4",
       "gr\xc3\xbcn \xe6\xb0\xb4"},
      {"a\\x1b", "a\\x1b", "a\\x1b", "a\\x1b"},
      {"\x1b]0;x\x07", "\\x1b]0;x\\x07", "\\x1b]0;x\\x07", "\\x1b]0;x\\x07"},
      {"a\nb\tc", "a\\x0ab\\x09c", "a\nb\tc", "a\\x0ab\\x09c"},
      {"a\n  b\nerror: c", "a\\x0a  b\\x0aerror: c", "a\n  b\nerror: c", "a\n  b\\x0aerror: c"},
      {"a\rb\x7f", "a\\x0db\\x7f", "a\\x0db\\x7f", "a\\x0db\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m", "\\xc2\\x9b31m", "\\xc2\\x9b31m"},
      {"\xe2\x80\xae", "\\xe2\\x80\\xae", "\\xe2\\x80\\xae", "\\xe2\\x80\\xae"},
      {"\xe2\x80\x8f\xd8\x9c\xe2\x81\xa6", "\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x81\\xa6",
       "\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x81\\xa6", "\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x81\\xa6"},
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8", "\\xe2\\x80\\xa8", "\\xe2\\x80\\xa8"},
      {"\xff\x9b", "\\xff\\x9b", "\\xff\\x9b", "\\xff\\x9b"},
      {std::string("a\0b", 3), "a\\x00b", "a\\x00b", "a\\x00b"}};
  for (const Row& row : rows) {
    EXPECT_EQ(Printable(row.text), row.line);
    EXPECT_EQ(PrintableLines(row.text), row.lines);
    EXPECT_EQ(PrintableMessage(row.text), row.message);
    EXPECT_EQ(IsPrintable(row.text), row.text == row.line) << row.line;
    EXPECT_EQ(Printable(row.line), row.line) << "what is clean stays as it is";
  }
}

TEST(WellFormed, Text_KeepsAllThatIsUtf8) {
  for (const std::string text : {"", "a\nb\x1b", "gr\xc3\xbcn", "\xe2\x80\xae"}) {
    EXPECT_EQ(WellFormed(text), text);
  }
  EXPECT_EQ(WellFormed("a\xff\xc3\xbc\xc3"), "a\\xff\xc3\xbc\\xc3");
}

TEST(Printable, Json_MeansWhatItMeant) {
  const struct {
    std::string json, clean;
  } rows[] = {{R"({"a": "b\u001b"})", R"({"a": "b\u001b"})"},
              {"\"gr\xc3\xbcn\"", "\"gr\xc3\xbcn\""},
              {"\"\x7f\xc2\x9b\xe2\x80\xae\"", "\"\\u007f\\u009b\\u202e\""},
              {"[\n 1]", "[\n 1]"},
              {"\"\xff\"", "\"\xef\xbf\xbd\""}};
  for (const auto& row : rows) {
    EXPECT_EQ(PrintableJson(row.json), row.clean);
  }
}

}  // namespace
}  // namespace kiln
