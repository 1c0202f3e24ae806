// SPDX-License-Identifier: MIT
#include "server/rpc/reactors/event_pump.h"

#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

TEST(EventPump, StepThatThrows_CostsThatOne) {
  RecordingLog log;
  int steps = 0;
  {
    EventPump thread(
        std::chrono::hours(1), [] {}, log);
    for (int i = 0; i < 3; ++i) {
      thread.Post([&, i] {
        ++steps;
        if (i == 1) {
          throw std::bad_alloc();
        }
      });
    }
  }
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(log.Lines().size(), 1U);
}

TEST(EventPump, TickThatThrows_ComesAgain) {
  NullLog log;
  std::atomic<int> ticks = 0;
  EventPump thread(
      std::chrono::milliseconds(1),
      [&] {
        ++ticks;
        ticks.notify_all();
        throw 7;
      },
      log);
  for (int seen = 0; seen < 3; seen = ticks) {
    ticks.wait(seen);
  }
}

}  // namespace
}  // namespace kiln::rpc
