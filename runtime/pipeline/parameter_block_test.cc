// SPDX-License-Identifier: MIT
#include "runtime/pipeline/parameter_block.h"

#include <array>
#include <cstring>
#include <optional>
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

TEST(ParameterBlock, HalfVectors_HaveComponentsOfTwoBytes) {
  for (const auto& [type, bytes] :
       std::vector<std::pair<ParameterType, uint32_t>>{{ParameterType::kH1, 2},
                                                       {ParameterType::kH2, 4},
                                                       {ParameterType::kH3, 6},
                                                       {ParameterType::kH4, 8}}) {
    const std::vector<Parameter> parameters = {{.name = "h", .type = type, .offset = 2}};
    const ParameterBlock block(parameters);
    EXPECT_EQ(block.ItemBytes({0}), bytes);
    std::array<std::byte, 12> memory{};
    const std::vector<std::byte> value(bytes, std::byte{0x3C});
    ASSERT_TRUE(block.Write({0}, memory, value).ok());
    for (uint32_t i = 0; i < memory.size(); ++i) {
      EXPECT_EQ(memory[i] != std::byte{0}, i >= 2 && i < 2 + bytes) << i;
    }
  }
}

TEST(ParameterHandle, WritesWhatTheBlockWrites) {
  const std::vector<Parameter> parameters = Parameters();
  const ParameterBlock block(parameters);
  for (uint32_t p = 0; p < parameters.size(); ++p) {
    const ParameterHandle handle = block.Handle(Slot{p});
    std::vector<std::byte> value(handle.item_bytes());
    for (size_t i = 0; i < value.size(); ++i) {
      value[i] = static_cast<std::byte>(i + 1);
    }
    for (uint32_t item = 0; item < handle.items(); ++item) {
      std::array<std::byte, 160> by_block{};
      std::array<std::byte, 160> by_handle{};
      EXPECT_TRUE(block.Write(Slot{p}, by_block, value, item).ok());
      EXPECT_TRUE(handle.Write(by_handle, value, item));
      EXPECT_EQ(by_block, by_handle) << p << " " << item;
    }
  }
}

TEST(ParameterHandle, WhatDoesNotFit_IsRefusedAndWritesNothing) {
  const std::vector<Parameter> parameters = Parameters();
  const ParameterBlock block(parameters);
  std::array<std::byte, 160> memory{};
  const std::array<std::byte, 160> untouched{};
  const std::vector<std::byte> value(64, std::byte{1});
  const ParameterHandle steps = block.Handle("steps");
  const std::span<const std::byte> item = std::span(value).first(8);
  EXPECT_FALSE(steps.Write(memory, std::span(value).first(4))) << "another size";
  EXPECT_FALSE(steps.Write(memory, item, 6)) << "no such item";
  EXPECT_FALSE(steps.Write(memory, item, ~0U)) << "no such item, and no overflow";
  EXPECT_FALSE(steps.Write(std::span(memory).first(151), item, 5)) << "a byte is outside";
  EXPECT_FALSE(block.Handle("nothing").Write(memory, {})) << "no such parameter";
  EXPECT_FALSE(block.TagHandle("nothing"));
  EXPECT_EQ(memory, untouched);
  EXPECT_TRUE(steps.Write(std::span(memory).first(152), item, 5));
}

TEST(ParameterHandle, Tail_IsWrittenItemByItem) {
  artifact::Buffer buffer;
  buffer.main_size = buffer.tail_offset = 24;
  buffer.tail_item_size = 32;
  buffer.tail_item_parameters = {{.name = "speed", .type = ParameterType::kF1, .offset = 12},
                                 {.name = "path",
                                  .type = ParameterType::kU1,
                                  .offset = 16,
                                  .total_item_count = 4,
                                  .array_stride = 4}};
  const ParameterBlock tail = ParameterBlock::Tail(buffer);
  std::vector<std::byte> memory(24 + 3 * 32);
  const std::array<float, 1> value = {5.0F};
  EXPECT_TRUE(tail.Handle("speed").WriteTail(memory, 2, AsValue<1>(value)));
  EXPECT_EQ(FloatAt(memory, 24 + 64 + 12), 5.0F);
  EXPECT_TRUE(tail.Handle("path").WriteTail(memory, 1, AsValue<1>(value), 3));
  EXPECT_EQ(FloatAt(memory, 24 + 32 + 16 + 12), 5.0F);
  EXPECT_FALSE(tail.Handle("speed").WriteTail(memory, 3, AsValue<1>(value)));
}

TEST(ParameterHandle, TailOfMatrices_IsOneParameterWithoutAName) {
  artifact::Buffer buffer;
  buffer.tail_item_size = 64;
  buffer.tail_field = "pose";
  buffer.tail_type = "f4x4";
  std::optional<ParameterBlock> made = ParameterBlock::Tail(buffer);
  const ParameterBlock tail = *made;
  made.reset();  // a copy owns its parameter
  std::vector<std::byte> memory(128);
  std::array<float, 16> matrix{};
  matrix[15] = 3.0F;
  EXPECT_TRUE(tail.Handle("").WriteTail(memory, 1, AsValue<16>(matrix)));
  EXPECT_EQ(FloatAt(memory, 64 + 60), 3.0F);
}

}  // namespace
}  // namespace kiln::runtime
