// SPDX-License-Identifier: MIT
#include "compiler/diag/quoted.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Quoted, LongOrControl_StaysReadable) {
  EXPECT_EQ(Quoted("a\tb\x01"), "a b\\x01");
  EXPECT_EQ(Quoted(std::string(61, 'x')), std::string(60, 'x') + "...");
  EXPECT_EQ(Quoted(std::string(59, 'x') + "\xc3\xa9y"), std::string(59, 'x') + "\xc3\xa9...");
}

TEST(Shortened, Text_IsCutBeforeACodePoint) {
  EXPECT_EQ(Shortened("12345678", 8), "12345678");
  EXPECT_EQ(Shortened("123456789", 8), "12345...");
  EXPECT_EQ(Shortened("1234\xc3\xa9"
                      "789",
                      8),
            "1234...");
  EXPECT_EQ(Shortened(std::string(9, '\x80'), 8), "\x80\x80...");  // of no code point
  const std::string cut = Shortened(std::string(1000, 'x'), 100);
  EXPECT_EQ(cut.size(), 100u);
  EXPECT_EQ(Shortened(cut, 100), cut);
}

}  // namespace
}  // namespace kiln
