// SPDX-License-Identifier: MIT
#include "compiler/front/common/number_literal.h"

#include <bit>
#include <string>

#include <gtest/gtest.h>

namespace kiln::front {
namespace {

struct IntegerCase {
  std::string digits;
  std::optional<uint32_t> value;
};

TEST(ParseDecimal, Digits_GiveValueOrOverflow) {
  const IntegerCase cases[] = {
      {"0", 0u},
      {"00012", 12u},
      {"2147483647", 2147483647u},
      {"2147483648", 2147483648u},
      {"4294967295", 4294967295u},
      {"4294967296", std::nullopt},
      {"8589934592", std::nullopt},            // wraps to 0
      {"18446744073709551616", std::nullopt},  // 2^64
      {"18446744073709551617", std::nullopt},  // 2^64 + 1
      {std::string(100, '9'), std::nullopt},
      {std::string(100, '0') + "7", 7u},
  };
  for (const IntegerCase& c : cases) {
    EXPECT_EQ(ParseDecimal(c.digits), c.value) << c.digits;
  }
}

TEST(ParseBinary, Digits_GiveValueOrOverflow) {
  EXPECT_EQ(ParseBinary("0"), 0u);
  EXPECT_EQ(ParseBinary("101"), 5u);
  EXPECT_EQ(ParseBinary(std::string(32, '1')), 0xffffffffu);
  EXPECT_EQ(ParseBinary("1" + std::string(32, '0')), std::nullopt);
  EXPECT_EQ(ParseBinary("1" + std::string(64, '0')), std::nullopt);
  EXPECT_EQ(ParseBinary(std::string(70, '0') + "1"), 1u);
}

TEST(ParseHexadecimal, Digits_GiveValueOrOverflow) {
  EXPECT_EQ(ParseHexadecimal("ff"), 255u);
  EXPECT_EQ(ParseHexadecimal("DEADbeef"), 0xdeadbeefu);
  EXPECT_EQ(ParseHexadecimal("100000000"), std::nullopt);
  EXPECT_EQ(ParseHexadecimal("000000000000000001"), 1u);
}

struct FloatCase {
  std::string text;
  std::optional<uint32_t> bits;
};

TEST(ParseFloatBits, Digits_RoundToNearestEven) {
  const FloatCase cases[] = {
      {"0.0", 0u},
      {"1.0", 0x3f800000u},
      {"0.1", 0x3dcccccdu},
      {"3.14159265358979", 0x40490fdbu},
      {"16777217.0", 0x4b800000u},  // a tie: to even, down
      {"16777219.0", 0x4b800002u},  // a tie: to even, up
      {"16777217.0000000000000000000001", 0x4b800001u},
      {"340282346638528859811704183484516925440.0", 0x7f7fffffu},
      {"340282356779733661637539395458142568447.0", 0x7f7fffffu},  // just below the limit
      {"340282356779733661637539395458142568448.0", std::nullopt},
      {"1" + std::string(60, '0') + ".0", std::nullopt},
      {"1" + std::string(400, '0') + ".0", std::nullopt},
      {"0." + std::string(44, '0') + "1401298464324817", 1u},  // smallest denormal
      {"0." + std::string(37, '0') + "11754943508222875", 0x00800000u},
      {"0." + std::string(60, '0') + "1", 0u},
      {"0." + std::string(400, '0') + "1", 0u},
      {std::string(50, '0') + "2.5", 0x40200000u},
  };
  for (const FloatCase& c : cases) {
    EXPECT_EQ(ParseFloatBits(c.text), c.bits) << c.text;
  }
}

}  // namespace
}  // namespace kiln::front
