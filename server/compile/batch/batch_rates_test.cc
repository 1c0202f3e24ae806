// SPDX-License-Identifier: MIT
#include "server/compile/batch/batch_rates.h"

#include <chrono>

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(BatchRates, SteadyWork_HasItsRateFromTheStart) {
  BatchRates rates;
  for (uint64_t i = 1; i <= 20; ++i) {
    rates.Add(milliseconds(100 * i), 10 * i, 40 * i);
    EXPECT_NEAR(rates.results(), 100, 1e-6);
    EXPECT_NEAR(rates.variants(), 400, 1e-6);
  }
}

TEST(BatchRates, ChangeOfSpeed_IsHalfSeenAfterTenSeconds) {
  BatchRates rates;
  for (uint64_t i = 1; i <= 1000; ++i) {
    rates.Add(milliseconds(100 * i), 10 * i, 0);
  }
  for (int i = 1; i <= 100; ++i) {
    rates.Add(seconds(100) + milliseconds(100 * i), 10'000, 0);
  }
  EXPECT_NEAR(rates.results(), 50, 1);
}

TEST(BatchRates, Eta_IsUnknownForTwoSecondsAndThenWhatIsLeft) {
  BatchRates rates;
  rates.Add(milliseconds(1900), 190, 1900);
  EXPECT_EQ(rates.EtaMs(10'000), 0u);
  rates.Add(milliseconds(2000), 200, 2000);
  EXPECT_NEAR(static_cast<double>(rates.EtaMs(10'000)), 8000, 2);  // 800 results at 100 per second
  EXPECT_EQ(rates.EtaMs(2000), 0u);
}

TEST(BatchRates, ClockThatStandsOrCountsThatFall_ChangeNothingBad) {
  BatchRates rates;
  rates.Add(seconds(3), 30, 30);
  rates.Add(seconds(3), 40, 40);
  rates.Add(seconds(2), 50, 50);
  EXPECT_NEAR(rates.results(), 10, 1e-6);
  rates.Add(seconds(4), 0, 0);
  EXPECT_GE(rates.results(), 0);
  EXPECT_EQ(BatchRates().EtaMs(1000), 0u);
}

}  // namespace
}  // namespace kiln::compile
