// SPDX-License-Identifier: MIT
#include "server/ops/line_quota.h"

#include <chrono>

#include <gtest/gtest.h>

namespace kiln::ops {
namespace {

using std::chrono::seconds;

TEST(LineQuota, EachParty_HasSomeAtOnceAndThenOneInAWhile) {
  LineQuota quota({.party = {.at_once = 2, .each = seconds(10)}});
  EXPECT_EQ(quota.Take("a", seconds(0)), 0u);
  EXPECT_EQ(quota.Take("a", seconds(0)), 0u);
  EXPECT_EQ(quota.Take("a", seconds(0)), std::nullopt);
  EXPECT_EQ(quota.Take("a", seconds(9)), std::nullopt);
  EXPECT_EQ(quota.Take("b", seconds(9)), 0u);  // another one
  EXPECT_EQ(quota.Take("a", seconds(10)), 2u);
  EXPECT_EQ(quota.Take("a", seconds(10)), std::nullopt);
  EXPECT_EQ(quota.Take("a", seconds(1000)), 1u);  // and no more than two at once ever
  EXPECT_EQ(quota.Take("a", seconds(1000)), 0u);
  EXPECT_EQ(quota.Take("a", seconds(1000)), std::nullopt);
}

TEST(LineQuota, WhatIsHeldBack_IsToldOnce) {
  LineQuota quota({.party = {.at_once = 1, .each = seconds(10)}, .all = {.at_once = UINT32_MAX}});
  for (int i = 0; i < 5; ++i) {
    (void)quota.Take("a", seconds(0));
  }
  EXPECT_TRUE(quota.Untold(seconds(9)).empty());
  const auto untold = quota.Untold(seconds(10));
  ASSERT_EQ(untold.size(), 1u);
  EXPECT_EQ(untold[0].party, "a");
  EXPECT_EQ(untold[0].lines, 4u);
  EXPECT_TRUE(quota.Untold(seconds(10), true).empty());
}

TEST(LineQuota, PartiesThatAreForgotten_AreToldTogether) {
  LineQuota quota({.party = {.at_once = 1, .each = seconds(10)}, .all = {.at_once = UINT32_MAX}});
  for (size_t i = 0; i < LineQuota::kMostParties + 3; ++i) {
    (void)quota.Take(std::to_string(i), seconds(0));
    (void)quota.Take(std::to_string(i), seconds(0));
  }
  uint64_t lines = 0, others = 0;
  for (const auto& row : quota.Untold(seconds(0), true)) {
    lines += row.lines;
    others += row.party == "others" ? row.lines : 0;
  }
  EXPECT_EQ(lines, LineQuota::kMostParties + 3);
  EXPECT_EQ(others, 3u);
}

// Whoever takes another name for each line.
TEST(LineQuota, AllParties_HaveABoundTogether) {
  LineQuota quota(
      {.party = {.at_once = 1, .each = seconds(60)}, .all = {.at_once = 3, .each = seconds(10)}});
  uint64_t written = 0;
  for (int i = 0; i < 10; ++i) {
    written += quota.Take(std::to_string(i), seconds(0)).has_value() ? 1 : 0;
  }
  EXPECT_EQ(written, 3u);
  EXPECT_EQ(quota.Take("a", seconds(10)), 0u);
  EXPECT_EQ(quota.Take("b", seconds(10)), std::nullopt);
  EXPECT_EQ(quota.Take("9", seconds(60)), 1u);  // and says that one was held back
  uint64_t held_back = 0;
  for (const auto& row : quota.Untold(seconds(60), true)) {
    held_back += row.lines;
  }
  EXPECT_EQ(held_back, 7u);  // of 3 to 8, and of b
}

}  // namespace
}  // namespace kiln::ops
