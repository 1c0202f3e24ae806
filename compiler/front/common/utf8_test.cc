// SPDX-License-Identifier: MIT
#include "compiler/front/common/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::front {
namespace {

constexpr size_t kNone = std::string_view::npos;

TEST(FindInvalidUtf8, Text_GivesFirstWrongByte) {
  const struct {
    std::string text;
    size_t offset;
  } cases[] = {
      {"", kNone},
      {"plain ascii that is longer than a word", kNone},
      {"\xc3\xa9", kNone},            // U+00E9
      {"\xe2\x82\xac after", kNone},  // U+20AC
      {"\xf0\x9f\x98\x80", kNone},    // U+1F600
      {"\xf4\x8f\xbf\xbf", kNone},    // U+10FFFF
      {"12345678\xff", 8},
      {"\x80", 0},   // continuation without start
      {"a\xc3", 1},  // cut off
      {"a\xe2\x82", 1},
      {"a\xf0\x9f\x98", 1},
      {"\xc0\x80", 0},  // overlong
      {"\xe0\x80\x80", 0},
      {"\xf0\x80\x80\x80", 0},
      {"\xed\xa0\x80", 0},      // surrogate
      {"\xf4\x90\x80\x80", 0},  // beyond U+10FFFF
      {"\xf5\x80\x80\x80", 0},
      {std::string(100, 'x') + "\xc3\xa9" + std::string(100, 'x') + "\xc3", 202},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(FindInvalidUtf8(c.text), c.offset) << c.text;
  }
}

TEST(CodePointSize, MixedText_CountsBytes) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac";
  EXPECT_EQ(CodePointSize(text, 0), 1u);
  EXPECT_EQ(CodePointSize(text, 1), 2u);
  EXPECT_EQ(CodePointSize(text, 3), 3u);
}

}  // namespace
}  // namespace kiln::front
