// SPDX-License-Identifier: MIT
#include "client/cli/exit_order.h"

#include <array>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

// The order of spec/cli 4.1, each code against each.
TEST(WorseExit, OfTwoReasons_TheFirstOfTheListWins) {
  constexpr std::array kOrder = {70, 7, 9, 2, 4, 5, 6, 8, 1, 3, 0};
  for (size_t i = 0; i < kOrder.size(); ++i) {
    for (size_t j = i; j < kOrder.size(); ++j) {
      EXPECT_EQ(WorseExit(kOrder[i], kOrder[j]), kOrder[i]) << kOrder[i] << " " << kOrder[j];
      EXPECT_EQ(WorseExit(kOrder[j], kOrder[i]), kOrder[i]) << kOrder[i] << " " << kOrder[j];
    }
  }
}

}  // namespace
}  // namespace kiln::cli
