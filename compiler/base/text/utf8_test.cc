// SPDX-License-Identifier: MIT
#include "compiler/base/text/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string Encode(uint32_t point) {
  const auto tail = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (point < 0x80) {
    return {static_cast<char>(point)};
  }
  if (point < 0x800) {
    return {static_cast<char>(0xc0 | point >> 6), tail(point)};
  }
  if (point < 0x10000) {
    return {static_cast<char>(0xe0 | point >> 12), tail(point >> 6), tail(point)};
  }
  return {static_cast<char>(0xf0 | point >> 18), tail(point >> 12), tail(point >> 6), tail(point)};
}

TEST(DecodeUtf8, EveryCodePoint_IsReadBackOrASurrogate) {
  for (uint32_t point = 0; point <= 0x110010; ++point) {
    const std::string text = Encode(point);
    const CodePoint read = DecodeUtf8(text);
    const bool valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    ASSERT_EQ(read.size, valid ? text.size() : 0) << point;
    ASSERT_EQ(read.value, valid ? point : 0) << point;
  }
}

TEST(FindInvalidUtf8, IllFormedText_IsLocated) {
  struct Row {
    std::string_view text;
    size_t offset;
  };
  constexpr Row kRows[] = {
      {"", 0},
      {"plain", 5},
      {"gr\xc3\xbcn", 5},
      {"a\x80", 1},              // lone continuation
      {"ab\xc3", 2},             // cut off
      {"a\xc0\x80", 1},          // overlong NUL
      {"a\xe0\x80\xaf", 1},      // overlong slash
      {"a\xed\xa0\x80", 1},      // surrogate
      {"a\xf4\x90\x80\x80", 1},  // beyond U+10FFFF
      {"a\xff", 1},
      {"\xe2\x82\xac\xe2\x82", 3},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(FindInvalidUtf8(row.text), row.offset) << row.text;
  }
}

}  // namespace
}  // namespace kiln
