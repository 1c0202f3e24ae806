// SPDX-License-Identifier: MIT
#include "server/ops/line_quota.h"

#include <chrono>

#include <gtest/gtest.h>

namespace kiln::ops {
namespace {

using std::chrono::seconds;

TEST(LineQuota, EachParty_HasSomeAtOnceAndThenOneInAWhile) {
  LineQuota quota({.at_once = 2, .each = seconds(10)});
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
  LineQuota quota({.at_once = 1, .each = seconds(10)});
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
  LineQuota quota({.at_once = 1, .each = seconds(10)});
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

}  // namespace
}  // namespace kiln::ops
