// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/literals.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace kiln::wgsl {
namespace {

std::string Float(float value) { return Literal(ir::Scalar::kF32, std::bit_cast<uint32_t>(value)); }

TEST(WgslLiterals, Floats_AreShortAndMarked) {
  EXPECT_EQ(Float(1.0F), "1.0f");
  EXPECT_EQ(Float(-0.0F), "-0.0f");
  EXPECT_EQ(Float(0.1F), "0.1f");
  EXPECT_EQ(Float(1e20F), "1e+20f");
  EXPECT_EQ(Float(std::numeric_limits<float>::max()), "0x1.fffffep+127f");
  EXPECT_EQ(Float(-std::numeric_limits<float>::max()), "-0x1.fffffep+127f");
}

TEST(WgslLiterals, Integers_HaveTheirSuffix) {
  EXPECT_EQ(Literal(ir::Scalar::kU32, 7), "7u");
  EXPECT_EQ(Literal(ir::Scalar::kU32, 0xffffffffu), "4294967295u");
  EXPECT_EQ(Literal(ir::Scalar::kS32, static_cast<uint32_t>(-5)), "-5i");
  EXPECT_EQ(Literal(ir::Scalar::kS32, 0x80000000u), "i32(-2147483648)");
  EXPECT_EQ(Literal(ir::Scalar::kBool, 1), "true");
}

TEST(WgslLiterals, WhatIsNotFinite_HasNone) {
  EXPECT_FALSE(HasLiteral(ir::Scalar::kF32, 0x7f800000u));
  EXPECT_FALSE(HasLiteral(ir::Scalar::kF32, 0xffc00000u));
  EXPECT_FALSE(HasLiteral(ir::Scalar::kF16, 0x7c00u));
  EXPECT_TRUE(HasLiteral(ir::Scalar::kF16, 0x7bffu));
  EXPECT_TRUE(HasLiteral(ir::Scalar::kU32, 0x7f800000u));
}

TEST(WgslLiterals, EveryFloat_ReadsBackToItsBits) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    if (!HasLiteral(ir::Scalar::kF32, bits)) {
      continue;
    }
    std::string text = Literal(ir::Scalar::kF32, bits);
    ASSERT_EQ(text.back(), 'f');
    text.pop_back();
    ASSERT_EQ(std::bit_cast<uint32_t>(std::strtof(text.c_str(), nullptr)), bits) << text;
  }
}

TEST(WgslLiterals, EveryHalf_HasItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if (!HasLiteral(ir::Scalar::kF16, bits)) {
      continue;
    }
    std::string text = Literal(ir::Scalar::kF16, bits);
    ASSERT_EQ(text.back(), 'h');
    text.pop_back();
    const float value = std::strtof(text.c_str(), nullptr);
    ASSERT_EQ(value, HalfToFloat(bits)) << text;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000u) != 0) << text;
  }
}

}  // namespace
}  // namespace kiln::wgsl
