// SPDX-License-Identifier: MIT
#include "cache/pack/signing/field25519.h"

#include <random>

#include <gtest/gtest.h>

namespace kiln::pack {
namespace {

using Encoding = Field25519::Encoding;

Encoding AllOnes() {
  Encoding bytes;
  bytes.fill(0xff);
  return bytes;
}

Field25519 MinusOne() { return Field25519() - Field25519::Of(1); }

// 2^255 - 1 is p + 18, p is 0 and p - 1 is -1.
TEST(Field25519, NumbersFromP_HaveOneForm) {
  EXPECT_EQ(Field25519::FromBytes(AllOnes()), Field25519::Of(18));
  Encoding p = AllOnes();
  p[0] = 0xed;
  p[31] = 0x7f;
  EXPECT_TRUE(Field25519::FromBytes(p).IsZero());
  p[0] = 0xec;
  EXPECT_EQ(Field25519::FromBytes(p), MinusOne());
  EXPECT_EQ(MinusOne().Bytes(), p);
  EXPECT_EQ(MinusOne() + Field25519::Of(1), Field25519());
}

// The edges of words are where carries get lost.
TEST(Field25519, EveryBit_ComesBack) {
  for (size_t bit = 0; bit < 255; ++bit) {
    Encoding bytes{};
    bytes[bit / 8] = static_cast<uint8_t>(1U << (bit % 8));
    EXPECT_EQ(Field25519::FromBytes(bytes).Bytes(), bytes) << bit;
    if (bit > 0) {
      Encoding half{};
      half[(bit - 1) / 8] = static_cast<uint8_t>(1U << ((bit - 1) % 8));
      const Field25519 number = Field25519::FromBytes(half);
      EXPECT_EQ((number + number).Bytes(), bytes) << bit;
      EXPECT_EQ((number * Field25519::Of(2)).Bytes(), bytes) << bit;
    }
  }
}

TEST(Field25519, RandomNumbers_ObeyTheLaws) {
  std::mt19937_64 random(5);
  const auto number = [&] {
    Encoding bytes;
    for (uint8_t& byte : bytes) {
      byte = random() % 3 == 0 ? 0xff : static_cast<uint8_t>(random());
    }
    return Field25519::FromBytes(bytes);
  };
  for (int i = 0; i < 500; ++i) {
    const Field25519 a = number();
    const Field25519 b = number();
    const Field25519 c = number();
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ(a * (b - c), a * b - a * c);
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a - b + b, a);
    EXPECT_EQ(a * a.Inverse(), a.IsZero() ? Field25519() : Field25519::Of(1));
  }
  EXPECT_TRUE(Field25519().Inverse().IsZero());
}

// 2^253 - 5 is a quarter of p - 1, and 2 is no square: its power is a root of -1.
TEST(Field25519, PowerOfTwo_IsARootOfMinusOne) {
  const Field25519 root = Field25519::Of(2).Power(253, 5);
  EXPECT_EQ(root * root, MinusOne());
}

}  // namespace
}  // namespace kiln::pack
