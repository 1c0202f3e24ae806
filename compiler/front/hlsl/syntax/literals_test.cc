// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/syntax/literals.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>

namespace kiln::hlsl::syntax {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(ReadInteger, WellFormed_GivesValueAndSuffix) {
  struct Case {
    std::string text;
    uint64_t value;
    IntegerSuffix suffix;
  };
  using enum IntegerSuffix;
  const Case cases[] = {
      {"0", 0, kNone},
      {"00", 0, kNone},
      {"0u", 0, kU},
      {"2147483648", 2147483648u, kNone},
      {"4294967295u", 4294967295u, kU},
      {"18446744073709551615", kMost, kNone},
      {"18446744073709551615ULL", kMost, kUll},
      {"017", 15, kNone},
      {"0777u", 511, kU},
      {"01777777777777777777777", kMost, kNone},
      {"0x0", 0, kNone},
      {"0XfF", 255, kNone},
      {"0xffffffffffffffff", kMost, kNone},
      {"0x000000000000000000001L", 1, kL},
      {"1l", 1, kL},
      {"1Lu", 1, kUl},
      {"1uL", 1, kUl},
      {"1ll", 1, kLl},
      {"1LLU", 1, kUll},
      {std::string(100, '0') + "7", 7, kNone},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ReadInteger(c.text), (IntegerLiteral{LiteralError::kNone, c.value, c.suffix}))
        << c.text;
  }
}

TEST(ReadInteger, OtherText_IsMalformedOrTooLarge) {
  for (const std::string_view text : {"", "u", "0x", "0xg", "08", "019", "1f", "1uu", "1lul",
                                      "1lll", "1a", "1 ", "0b1", "1ulll"}) {
    EXPECT_EQ(ReadInteger(text).error, LiteralError::kMalformed) << text;
  }
  for (const std::string_view text :
       {"18446744073709551616", "18446744073709551616u", "0x10000000000000000",
        "02000000000000000000000", "99999999999999999999999999999999999999999999"}) {
    EXPECT_EQ(ReadInteger(text).error, LiteralError::kTooLarge) << text;
  }
}

TEST(ReadFloat, WellFormed_GivesValueAndSuffix) {
  struct Case {
    std::string text;
    double value;
    FloatSuffix suffix;
  };
  using enum FloatSuffix;
  const Case cases[] = {
      {"1.", 1, kNone},
      {".5", 0.5, kNone},
      {"0.1", 0.1, kNone},
      {"1e10", 1e10, kNone},
      {"1E+10", 1e10, kNone},
      {"1.5e-3", 1.5e-3, kNone},
      {"0.1f", double{0.1f}, kF},
      {"0.1F", double{0.1f}, kF},
      {"0.1h", 0.1, kH},
      {"0.1l", 0.1, kL},
      {"16777217.0f", 16777216, kF},  // a tie: to even
      {"16777217.0000000000000000000001f", 16777218, kF},
      {"1e-400", 0, kNone},
      {"0." + std::string(400, '0') + "1", 0, kNone},
      {"1e-46f", 0, kF},
      {"0e999999999999", 0, kNone},
      {"0.0e99999999999999999999", 0, kNone},
      {"3.4028234663852886e38f", 3.4028234663852886e38, kF},
      {"1.7976931348623157e308", 1.7976931348623157e308, kNone},
      {"1e39h", 1e39, kH},
  };
  for (const Case& c : cases) {
    const FloatLiteral read = ReadFloat(c.text);
    EXPECT_EQ(read.error, LiteralError::kNone) << c.text;
    EXPECT_EQ(std::bit_cast<uint64_t>(read.value), std::bit_cast<uint64_t>(c.value)) << c.text;
    EXPECT_EQ(read.suffix, c.suffix) << c.text;
  }
}

TEST(ReadFloat, OtherText_IsMalformedOrTooLarge) {
  for (const std::string_view text :
       {"", ".", "e1", "1e", "1e+", "1.0ff", "1.0x", "1.0u", "1.0.0", "1.0 "}) {
    EXPECT_EQ(ReadFloat(text).error, LiteralError::kMalformed) << text;
  }
  struct Large {
    std::string text;
    uint8_t width;
  };
  const Large cases[] = {
      {"1e309", 64},
      {"1e99999999999999999999", 64},
      {"1" + std::string(400, '0') + ".0", 64},
      {"0." + std::string(400, '0') + "1e1000", 64},
      {"3.4028236e38f", 32},
      {"1e39f", 32},
  };
  for (const Large& c : cases) {
    EXPECT_EQ(ReadFloat(c.text).error, LiteralError::kTooLarge) << c.text;
    EXPECT_EQ(ReadFloat(c.text).width, c.width) << c.text;
  }
}

TEST(AppendString, Escapes_AreReplaced) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"("")", ""},         {R"("a")", "a"},    {R"("a\nb\tc")", "a\nb\tc"},
      {R"("\\\"")", "\\\""}, {R"("\q")", "\\q"}, {R"("\\n")", "\\n"},
  };
  for (const auto& [written, text] : cases) {
    std::string out;
    AppendString(written, out);
    EXPECT_EQ(out, text) << written;
  }
}

}  // namespace
}  // namespace kiln::hlsl::syntax
