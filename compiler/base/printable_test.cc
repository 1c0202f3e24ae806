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
      {"a\xe2\x80\x8b", "a\\xe2\\x80\\x8b", "a\\xe2\\x80\\x8b", "a\\xe2\\x80\\x8b"},
      {"\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81", "\\xf3\\xa0\\x81\\x81", "\\xf3\\xa0\\x81\\x81"},
      {std::string("a\0b", 3), "a\\x00b", "a\\x00b", "a\\x00b"}};
  for (const Row& row : rows) {
    EXPECT_EQ(Printable(row.text), row.line);
    EXPECT_EQ(PrintableLines(row.text), row.lines);
    EXPECT_EQ(PrintableMessage(row.text), row.message);
    EXPECT_EQ(IsPrintable(row.text), row.text == row.line) << row.line;
    EXPECT_EQ(Printable(row.line), row.line) << "what is clean stays as it is";
  }
}

// The first and last of each row that is not seen, and their neighbours that are.
TEST(Printable, WhatIsNotSeen_IsAControl) {
  for (const uint32_t unseen :
       {0x00u,    0x1fu,    0x7fu,    0x9fu,    0xadu,    0x34fu,   0x600u,   0x605u,
        0x61cu,   0x6ddu,   0x70fu,   0x890u,   0x891u,   0x8e2u,   0x115fu,  0x1160u,
        0x17b4u,  0x17b5u,  0x180bu,  0x180eu,  0x200bu,  0x200fu,  0x2028u,  0x202eu,
        0x2060u,  0x2064u,  0x2066u,  0x206fu,  0x3164u,  0xfeffu,  0xffa0u,  0xfff9u,
        0xfffbu,  0x110bdu, 0x110cdu, 0x13430u, 0x13438u, 0x1bca0u, 0x1bca3u, 0x1d173u,
        0x1d17au, 0xe0001u, 0xe0020u, 0xe0041u, 0xe007fu, 0xe0100u, 0xe0fffu}) {
    EXPECT_TRUE(IsControl(unseen)) << std::hex << unseen;
  }
  for (const uint32_t seen :
       {0x20u, 0x7eu, 0xa0u, 0xacu, 0xaeu, 0x606u, 0x61bu, 0x2010u, 0x2027u, 0x202fu, 0x2070u,
        0xfe0fu, 0xfffcu, 0xfffdu, 0x1f600u, 0xdffffu, 0xe1000u}) {
    EXPECT_FALSE(IsControl(seen)) << std::hex << seen;
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
              {"\"\xf3\xa0\x81\x81\xe2\x80\x8b\"", "\"\\udb40\\udc41\\u200b\""},
              {"[\n 1]", "[\n 1]"},
              {"\"\xff\"", "\"\xef\xbf\xbd\""}};
  for (const auto& row : rows) {
    EXPECT_EQ(PrintableJson(row.json), row.clean);
  }
}

}  // namespace
}  // namespace kiln
