// SPDX-License-Identifier: MIT
#include "server/rpc/transport/inflow.h"

#include <chrono>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

using std::chrono::seconds;

TEST(Inflow, BytesSinceTheLastCall_AreUnexplained) {
  Inflow inflow;
  inflow.Look({.received = 1000}, seconds(1));
  EXPECT_EQ(inflow.unexplained(), 1000u);
  inflow.Look({.received = 5000}, seconds(1));
  EXPECT_EQ(inflow.unexplained(), 5000u);
  inflow.Heard({.received = 6000});
  EXPECT_EQ(inflow.unexplained(), 0u);
  inflow.Look({.received = 6100}, seconds(1));
  EXPECT_EQ(inflow.unexplained(), 100u);
}

TEST(Inflow, WhoOnlyListens_SendsWhatItsListeningExplains) {
  Inflow inflow;
  inflow.Look({.received = 1000}, seconds(1));
  inflow.Look({.received = 1100, .taken = 1600}, seconds(1));
  EXPECT_EQ(inflow.unexplained(), 1000u);
  inflow.Look({.received = 1100 + 10 * Inflow::kPingBytes, .taken = 1600}, seconds(11));
  EXPECT_EQ(inflow.unexplained(), 1000u);
  inflow.Look({.received = 1100 + 10 * Inflow::kPingBytes, .taken = 1 << 20}, seconds(11));
  EXPECT_EQ(inflow.unexplained(), 0u);
  inflow.Look({.received = 2000, .taken = 1 << 20}, seconds(11));  // nothing is saved up
  EXPECT_EQ(inflow.unexplained(), 900u - 10 * Inflow::kPingBytes);
}

}  // namespace
}  // namespace kiln::rpc
