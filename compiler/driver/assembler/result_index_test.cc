// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/result_index.h"

#include <array>

#include <gtest/gtest.h>

namespace kiln::driver {
namespace {

Bitset Reads(std::initializer_list<uint32_t> options) {
  Bitset set(3);
  for (const uint32_t option : options) {
    set.Set(option);
  }
  return set;
}

constexpr std::array<uint32_t, 3> kOrder = {2, 1, 0};

TEST(ResultIndex, EqualValuesOfWhatWasRead_OneNumber) {
  ResultIndex results;
  EXPECT_EQ(results.Find({{0, 0, 0}}), std::nullopt);
  EXPECT_EQ(results.Add(Reads({0, 1}), kOrder, {{1, 2, 3}}), 0u);
  EXPECT_EQ(results.Find({{1, 2, 9}}), 0u);
  EXPECT_EQ(results.Find({{1, 3, 3}}), std::nullopt);
  EXPECT_EQ(results.Add(Reads({0, 1}), kOrder, {{1, 3, 3}}), 1u);
  EXPECT_EQ(results.Add(Reads({0, 1}), kOrder, {{1, 2, 4}}), 0u);
  EXPECT_EQ(results.size(), 2u);
}

// The tree asks for option 1 first, which the second result did not read.
TEST(ResultIndex, ResultBehindOptionsItDidNotRead_KeepsItsNumber) {
  ResultIndex results;
  EXPECT_EQ(results.Add(Reads({0, 1}), kOrder, {{1, 2, 0}}), 0u);
  EXPECT_EQ(results.Add(Reads({0}), kOrder, {{0, 2, 0}}), 1u);
  EXPECT_EQ(results.Find({{0, 3, 0}}), std::nullopt);
  EXPECT_EQ(results.Add(Reads({0}), kOrder, {{0, 3, 0}}), 1u);
  EXPECT_EQ(results.Find({{0, 3, 0}}), 1u);
  EXPECT_EQ(results.size(), 2u);
}

}  // namespace
}  // namespace kiln::driver
