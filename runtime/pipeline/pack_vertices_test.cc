// SPDX-License-Identifier: MIT
#include "runtime/pipeline/pack_vertices.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::runtime {
namespace {

using artifact::Attribute;
using artifact::AttributeClass;
using artifact::AttributeSource;
using artifact::ItemFormat;

struct ItemCase {
  ItemFormat format;
  float value;
  uint32_t bits;
};

// One value through a vector1 attribute.
uint32_t Packed(ItemFormat format, const AttributeData& data) {
  const AttributeSource source{
      .name = "s", .block_size = 4, .attributes = {{.name = "a", .item_format = format}}};
  const auto bytes = PackVertices(source, {&data, 1}, 1);
  EXPECT_TRUE(bytes.ok());
  return ReadLittle<uint32_t>(*bytes);
}

TEST(PackVertices, FloatItems_ClampAndRound) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const ItemCase cases[] = {
      {ItemFormat::kFloat32, 1.5F, 0x3fc0'0000},
      {ItemFormat::kFloat16, 1.5F, 0x3e00},
      {ItemFormat::kUnorm8, 0.0F, 0},
      {ItemFormat::kUnorm8, 1.0F, 255},
      {ItemFormat::kUnorm8, 0.5F, 128},
      {ItemFormat::kUnorm8, -3.0F, 0},
      {ItemFormat::kUnorm8, 9.0F, 255},
      {ItemFormat::kUnorm8, kNan, 0},
      {ItemFormat::kUnorm16, 1.0F, 65535},
      {ItemFormat::kSnorm8, 1.0F, 127},
      {ItemFormat::kSnorm8, -1.0F, 0x81},
      {ItemFormat::kSnorm8, -2.0F, 0x81},
      {ItemFormat::kSnorm16, 0.5F, 16384},
      {ItemFormat::kSnorm16, -1.0F, 0x8001},
  };
  for (const ItemCase& item : cases) {
    const float value = item.value;
    EXPECT_EQ(Packed(item.format, {"a", 1, std::span(&value, 1)}), item.bits)
        << NameOf(item.format) << " " << item.value;
  }
}

TEST(PackVertices, Integers_KeepTheirLowBytes) {
  const uint32_t unsigned_value = 0x1234'5678;
  const int32_t signed_value = -2;
  const AttributeData u{"a", 1, std::span(&unsigned_value, 1)};
  const AttributeData s{"a", 1, std::span(&signed_value, 1)};
  EXPECT_EQ(Packed(ItemFormat::kUint8, u), 0x78U);
  EXPECT_EQ(Packed(ItemFormat::kUint16, u), 0x5678U);
  EXPECT_EQ(Packed(ItemFormat::kUint32, u), 0x1234'5678U);
  EXPECT_EQ(Packed(ItemFormat::kSint8, s), 0xfeU);
  EXPECT_EQ(Packed(ItemFormat::kSint32, s), 0xffff'fffeU);
}

TEST(PackVertices, Matrix_GoesByColumnsWithTheirStride) {
  const AttributeSource source{.name = "s",
                               .block_size = 40,
                               .attributes = {{.name = "m",
                                               .offset = 4,
                                               .kind = AttributeClass::kMatrix3x3,
                                               .location_count = 3,
                                               .column_stride = 12}}};
  const std::vector<float> matrix = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const AttributeData data{"m", 9, matrix};
  const auto bytes = PackVertices(source, {&data, 1}, 1);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(ReadLittle<float>(*bytes, 0), 0.0F);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(ReadLittle<float>(*bytes, 4 + 4 * i), static_cast<float>(i + 1));
  }
}

TEST(PackVertices, MissingComponents_AreZeroAndOne) {
  const AttributeSource source{.name = "s",
                               .block_size = 16,
                               .attributes = {{.name = "p", .kind = AttributeClass::kVector4}}};
  const std::vector<float> positions = {5, 6, 7, 8};
  const AttributeData data{"p", 2, positions};
  const auto bytes = PackVertices(source, {&data, 1}, 2);
  ASSERT_TRUE(bytes.ok());
  std::vector<float> floats(8);
  ASSERT_EQ(bytes->size(), 32U);
  std::memcpy(floats.data(), bytes->data(), 32);
  EXPECT_EQ(floats, (std::vector<float>{5, 6, 0, 1, 7, 8, 0, 1}));
}

TEST(PackVertices, WrongData_AreNamed) {
  const AttributeSource source{.name = "s", .block_size = 4, .attributes = {{.name = "a"}}};
  const std::vector<float> floats = {1};
  const std::vector<uint32_t> uints = {1};
  const auto error = [&](const AttributeData& data, uint32_t count) {
    return ErrorText(PackVertices(source, {&data, 1}, count).error());
  };
  EXPECT_EQ(error({"b", 1, floats}, 1),
            "INVALID_ARGUMENT: attribute source 's' has no attribute 'b'");
  EXPECT_EQ(error({"a", 1, uints}, 1),
            "INVALID_ARGUMENT: data of attribute 'a' are of another kind than float32");
  EXPECT_EQ(error({"a", 1, floats}, 2),
            "INVALID_ARGUMENT: attribute 'a' has 1 values, 2 elements of 1 are needed");
}

// The exact value of a half, for the oracle.
double ValueOfHalf(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int mantissa = half & 0x3ff;
  const double value =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return (half & 0x8000) != 0 ? -value : value;
}

TEST(HalfFromFloat, EveryHalf_RoundTrips) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    if ((half & 0x7c00) == 0x7c00) {
      continue;  // infinities and not-a-numbers
    }
    const auto value = static_cast<float>(ValueOfHalf(static_cast<uint16_t>(half)));
    EXPECT_EQ(HalfFromFloat(value), half);
  }
}

TEST(HalfFromFloat, BetweenNeighbours_RoundsToNearestAndTiesToEven) {
  for (uint16_t half = 0; half < 0x7bff; ++half) {
    const double low = ValueOfHalf(half);
    const double high = ValueOfHalf(half + 1);
    const auto middle = static_cast<float>((low + high) / 2);  // exact in a float
    const uint16_t even = (half & 1) == 0 ? half : half + 1;
    EXPECT_EQ(HalfFromFloat(middle), even);
    EXPECT_EQ(HalfFromFloat(std::nextafter(middle, 0.0F)), half);
    EXPECT_EQ(HalfFromFloat(std::nextafter(middle, 1e9F)), half + 1);
    EXPECT_EQ(HalfFromFloat(-middle), even | 0x8000);
  }
}

TEST(HalfFromFloat, BeyondTheRange_IsInfinityAndNanStaysNan) {
  EXPECT_EQ(HalfFromFloat(65519.0F), 0x7bff);
  EXPECT_EQ(HalfFromFloat(65520.0F), 0x7c00);
  EXPECT_EQ(HalfFromFloat(-1e30F), 0xfc00);
  EXPECT_EQ(HalfFromFloat(std::numeric_limits<float>::quiet_NaN()) & 0x7fff, 0x7e00);
}

}  // namespace
}  // namespace kiln::runtime
