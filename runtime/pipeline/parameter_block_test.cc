// SPDX-License-Identifier: MIT
#include "runtime/pipeline/parameter_block.h"

#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::runtime {
namespace {

using artifact::Parameter;
using artifact::ParameterType;

std::vector<Parameter> Parameters() {
  return {{.name = "haze.color", .type = ParameterType::kF3, .offset = 4, .tags = {"a", "b"}},
          {.name = "basis", .type = ParameterType::kF3x3, .offset = 16, .matrix_stride = 16},
          {.name = "steps",
           .type = ParameterType::kU2,
           .offset = 64,
           .total_item_count = 6,
           .tags = {"b"},
           .dimensions = {2, 3},
           .array_stride = 16}};
}

template <size_t N>
std::span<const std::byte> AsValue(const std::array<float, N>& values) {
  return std::as_bytes(std::span(values));
}

float FloatAt(std::span<const std::byte> memory, size_t at) {
  float value = 0;
  std::memcpy(&value, memory.data() + at, sizeof(value));
  return value;
}

TEST(ParameterBlock, Find_IsByDottedNameOrByTheFirstTag) {
  const std::vector<Parameter> parameters = Parameters();
  const ParameterBlock block(parameters);
  EXPECT_EQ(block[block.Find("haze.color")].offset, 4U);
  EXPECT_EQ(block.FindTag("b").index, 0U);
  EXPECT_FALSE(block.Find("haze"));
  EXPECT_FALSE(block.FindTag("haze.color"));
}

TEST(ParameterBlock, Vector_LandsAtItsOffsetAndNowhereElse) {
  const std::vector<Parameter> parameters = Parameters();
  const ParameterBlock block(parameters);
  std::array<std::byte, 160> memory{};
  ASSERT_TRUE(block.Write(block.Find("haze.color"), memory, AsValue<3>({1.0F, 2.0F, 3.0F})).ok());
  EXPECT_EQ(FloatAt(memory, 0), 0.0F);
  EXPECT_EQ(FloatAt(memory, 4), 1.0F);
  EXPECT_EQ(FloatAt(memory, 12), 3.0F);
  EXPECT_EQ(FloatAt(memory, 16), 0.0F);
}

TEST(ParameterBlock, Matrix_IsWrittenColumnByColumn) {
  const std::vector<Parameter> parameters = Parameters();
  const ParameterBlock block(parameters);
  std::array<std::byte, 160> memory{};
  ASSERT_TRUE(
      block.Write(block.Find("basis"), memory, AsValue<9>({1, 2, 3, 4, 5, 6, 7, 8, 9})).ok());
  EXPECT_EQ(FloatAt(memory, 16), 1.0F);
  EXPECT_EQ(FloatAt(memory, 24), 3.0F);
  EXPECT_EQ(FloatAt(memory, 28), 0.0F);  // padding stays
  EXPECT_EQ(FloatAt(memory, 32), 4.0F);
  EXPECT_EQ(FloatAt(memory, 56), 9.0F);
}

TEST(ParameterBlock, ArrayItem_IsStridesAway) {
  const std::vector<Parameter> parameters = Parameters();
  const ParameterBlock block(parameters);
  std::array<std::byte, 160> memory{};
  ASSERT_TRUE(block.Write(block.Find("steps"), memory, AsValue<2>({7.0F, 8.0F}), 5).ok());
  EXPECT_EQ(FloatAt(memory, 64 + 5 * 16), 7.0F);
  EXPECT_EQ(FloatAt(memory, 64 + 5 * 16 + 4), 8.0F);
}

TEST(ParameterBlock, WrongUse_IsAnErrorAndWritesNothing) {
  const std::vector<Parameter> parameters = Parameters();
  const ParameterBlock block(parameters);
  std::array<std::byte, 160> memory{};
  const std::span<std::byte> all(memory);
  const std::array<float, 2> two = {7.0F, 8.0F};
  const std::array<float, 3> three = {1.0F, 2.0F, 3.0F};
  EXPECT_FALSE(block.Write(Slot{}, all, AsValue(two)).ok());
  EXPECT_FALSE(block.Write(Slot{9}, all, AsValue(two)).ok());
  EXPECT_FALSE(block.Write(block.Find("haze.color"), all, AsValue(two)).ok());
  EXPECT_FALSE(block.Write(block.Find("haze.color"), all.first(15), AsValue(three)).ok());
  EXPECT_TRUE(block.Write(block.Find("haze.color"), all.first(16), AsValue(three)).ok());
  EXPECT_FALSE(block.Write(block.Find("haze.color"), all, AsValue(three), 1).ok());
  EXPECT_FALSE(block.Write(block.Find("steps"), all, AsValue(two), 6).ok());
  EXPECT_FALSE(block.Write(block.Find("steps"), all.first(151), AsValue(two), 5).ok());
  for (size_t at = 16; at < memory.size(); ++at) {
    EXPECT_EQ(memory[at], std::byte{0}) << at;
  }
}

}  // namespace
}  // namespace kiln::runtime
