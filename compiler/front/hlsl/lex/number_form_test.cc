// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/lex/number_form.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::hlsl {
namespace {

TEST(NumberForm, Ends_TakeInWhatBelongs) {
  struct Row {
    const char* text;
    const char* number;
  };
  const Row rows[] = {
      {"1", "1"},         {"1 2", "1"},        {"1+2", "1"},       {"1u;", "1u"},
      {"0x1F+1", "0x1F"}, {"0x1e+1", "0x1e"},  {"1e+5+1", "1e+5"}, {"1e-5", "1e-5"},
      {"1.5f)", "1.5f"},  {"1.", "1."},        {"1.;", "1."},      {"1.f", "1.f"},
      {"1.e5", "1.e5"},   {".5", ".5"},        {".5.x", ".5"},     {"1.xxx", "1"},
      {"1.0.rgb", "1.0"}, {"1.0f.xx", "1.0f"}, {"1..x", "1."},     {"1.0.5", "1.0.5"},
      {"1abc", "1abc"},   {"1_a.b", "1_a"},    {"0x1.5", "0x1.5"}, {"1e+x", "1e+x"},
  };
  for (const Row& row : rows) {
    const std::string_view text = row.text;
    EXPECT_EQ(text.substr(0, NumberEnd(text, 0)), row.number) << row.text;
  }
}

TEST(NumberForm, Kinds_AreThoseOfTheGrammar) {
  for (const char* text :
       {"0",  "1",   "42",  "017", "0x0", "0xFf", "0XAB", "1u",   "1U",  "1l",
        "1L", "1ul", "1UL", "1lu", "1ll", "1LL",  "1ull", "1llU", "07u", "0x1ull"}) {
    EXPECT_EQ(NumberKind(text), TokenKind::kInteger) << text;
  }
  for (const char* text : {"1.0", "1.", ".5", "1e5", "1E5", "1e+5", "1e-5", "1.5e10", "1.f", "1.0f",
                           "1.0F", "1.0h", "1.0H", "1.0l", "1.0L", "1e5f", "08.5", "09e1"}) {
    EXPECT_EQ(NumberKind(text), TokenKind::kFloat) << text;
  }
  for (const char* text : {"1f", "1h", "1x", "08", "09u", "0x", "0xg", "0b1", "1e", "1e+", "1.0u",
                           "1.0ff", "1.0.5", "1uu", "1lll", "1_000", "0x1.5", "1.5e", "1.0fh"}) {
    EXPECT_EQ(NumberKind(text), TokenKind::kMalformed) << text;
  }
}

TEST(NumberForm, Values_FitIn64Bits) {
  const auto value = [](std::string_view text) {
    const std::optional<Integer> integer = IntegerValue(text);
    return integer.has_value() ? std::to_string(integer->value) + (integer->is_unsigned ? "u" : "")
                               : "too large";
  };
  EXPECT_EQ(value("0"), "0");
  EXPECT_EQ(value("42"), "42");
  EXPECT_EQ(value("42UL"), "42u");
  EXPECT_EQ(value("017"), "15");
  EXPECT_EQ(value("0xff"), "255");
  EXPECT_EQ(value("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(value("18446744073709551616"), "too large");
  EXPECT_EQ(value("0xffffffffffffffffu"), "18446744073709551615u");
  EXPECT_EQ(value("0x10000000000000000"), "too large");
  EXPECT_EQ(value("02000000000000000000000"), "too large");
}

}  // namespace
}  // namespace kiln::hlsl
