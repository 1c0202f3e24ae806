// SPDX-License-Identifier: MIT
#include "server/rpc/transport/waiting_calls.h"

#include <chrono>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

using std::chrono::seconds;

TEST(WaitingCalls, EachParty_HasItsOwnNumber) {
  WaitingCalls calls;
  for (size_t i = 0; i < WaitingCalls::kMost; ++i) {
    EXPECT_TRUE(calls.Began("a", seconds(0))) << i;
  }
  EXPECT_FALSE(calls.Began("a", seconds(0)));
  EXPECT_TRUE(calls.Began("b", seconds(0)));
  calls.Arrived("a");
  EXPECT_TRUE(calls.Began("a", seconds(0)));
  EXPECT_FALSE(calls.Began("a", seconds(0)));
  calls.Forget("a");
  EXPECT_TRUE(calls.Began("a", seconds(0)));
}

TEST(WaitingCalls, MoreThanAFew_AreStaleAfterAMinute) {
  WaitingCalls calls;
  for (size_t i = 0; i < WaitingCalls::kHarmless; ++i) {
    (void)calls.Began("few", seconds(0));
    (void)calls.Began("many", seconds(0));
  }
  (void)calls.Began("many", seconds(1));
  EXPECT_TRUE(calls.TakeStale(WaitingCalls::kLongest - seconds(1)).empty());
  EXPECT_EQ(calls.TakeStale(WaitingCalls::kLongest), std::vector<std::string>{"many"});
  EXPECT_TRUE(calls.TakeStale(2 * WaitingCalls::kLongest).empty());
  EXPECT_FALSE(calls.empty());
  for (size_t i = 0; i < WaitingCalls::kHarmless; ++i) {
    calls.Arrived("few");
  }
  EXPECT_TRUE(calls.empty());
  calls.Arrived("few");
  calls.Arrived("nobody");
  EXPECT_TRUE(calls.empty());
}

TEST(WaitingCalls, ThoseThatArrive_AreNeverStale) {
  WaitingCalls calls;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(calls.Began("a", seconds(i)));
    calls.Arrived("a");
    EXPECT_TRUE(calls.TakeStale(seconds(i)).empty());
  }
  EXPECT_TRUE(calls.empty());
}

}  // namespace
}  // namespace kiln::rpc
