// SPDX-License-Identifier: MIT
#include "server/pressure_monitor.h"

#include <chrono>
#include <map>

#include <gtest/gtest.h>

#include "server/jobs/memory_queue.h"

namespace kiln::server {
namespace {

class NoLog final : public LogSink {
 public:
  void Take(const LogEntry& /*entry*/) override {}
};

class LoadWatchTest : public testing::Test {
 protected:
  PressureMonitor Watch(bool polite) {
    return {{.workers = 4,
             .polite = polite,
             .drop_caches = [this] { ++dropped; },
             .pressure = [this](const std::string& resource) -> std::optional<double> {
               return pressure[resource];
             },
             .resident = [this] { return resident.value_or(ops::ResidentBytes()); },
             .unused = [this] { return unused; },
             .give_back =
                 [this] {
                   ++given_back;
                   resident = resident.has_value() ? std::optional(*resident - unused) : resident;
                 }},
            queue,
            state,
            clock,
            log};
  }

  // A second later.
  void LookAgain(PressureMonitor& watch, const PressureMonitor::MemoryLimits& limits = {}) {
    clock.Advance(std::chrono::seconds(1));
    watch.Look(limits);
  }

  FakeClock clock;
  NoLog log;
  jobs::MemoryQueue queue{{}};
  ops::ServiceState state{clock};
  std::map<std::string, double> pressure;
  int dropped = 0;
  std::optional<uint64_t> resident;
  uint64_t unused = 0;
  int given_back = 0;
};

TEST_F(LoadWatchTest, Pressure_SlowsBatchWorkUntilItGoes) {
  PressureMonitor watch = Watch(true);
  LookAgain(watch);
  EXPECT_EQ(watch.slowed_by(), "");
  pressure["io"] = 0.7;
  LookAgain(watch);
  EXPECT_EQ(watch.slowed_by(), "io");
  pressure["io"] = 0;
  for (int i = 0; i < 20; ++i) {
    LookAgain(watch);
  }
  EXPECT_EQ(watch.slowed_by(), "");
}

TEST_F(LoadWatchTest, NotPolite_OthersNeedIsNothingToIt) {
  PressureMonitor watch = Watch(false);
  pressure["cpu"] = 1;
  LookAgain(watch);
  EXPECT_EQ(watch.slowed_by(), "");
}

TEST_F(LoadWatchTest, AboveTheSoftLimit_CachesGoAndBatchWorkIsSlowed) {
  PressureMonitor watch = Watch(false);
  LookAgain(watch, {.soft = 1});
  EXPECT_TRUE(watch.memory_is_tight());
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(watch.slowed_by(), "memory");
  EXPECT_TRUE(state.TakesBatchWork());
  LookAgain(watch);
  EXPECT_FALSE(watch.memory_is_tight());
}

TEST_F(LoadWatchTest, AboveTheHardLimit_InteractiveWorkHasOneThread) {
  PressureMonitor watch = Watch(false);
  LookAgain(watch, {.soft = 1, .hard = 1});
  EXPECT_FALSE(state.TakesBatchWork());
  const auto submit = [&](jobs::Lane lane) {
    ASSERT_TRUE(queue.Submit({.lane = lane, .run = [](const cache::Call&) {}}).ok());
  };
  submit(jobs::Lane::kInteractive);
  submit(jobs::Lane::kInteractive);
  submit(jobs::Lane::kBatch);
  const auto first = queue.Claim(jobs::LaneChoice::kBoth);
  EXPECT_EQ(first->job.lane, jobs::Lane::kInteractive);
  EXPECT_EQ(queue.Claim(jobs::LaneChoice::kBoth)->job.lane, jobs::Lane::kBatch);
  queue.Complete(first->id);
  EXPECT_EQ(queue.Claim(jobs::LaneChoice::kBoth)->job.lane, jobs::Lane::kInteractive);
  LookAgain(watch);
  EXPECT_TRUE(state.TakesBatchWork());
}

TEST_F(LoadWatchTest, WhatCallsLeaveBehind_IsGivenBackSeldom) {
  constexpr uint64_t kMuch = PressureMonitor::kWorthGivingBack;
  PressureMonitor watch = Watch(false);
  resident = 10 * kMuch;  // in use
  LookAgain(watch);
  EXPECT_EQ(given_back, 0);
  clock.Advance(PressureMonitor::kGiveBackEvery);
  unused = 8 * kMuch;
  LookAgain(watch);
  EXPECT_EQ(given_back, 1);
  EXPECT_EQ(*resident, 2 * kMuch);
  clock.Advance(PressureMonitor::kGiveBackEvery);
  LookAgain(watch);  // no larger than it was
  EXPECT_EQ(given_back, 1);
  resident = 12 * kMuch;
  LookAgain(watch);
  EXPECT_EQ(given_back, 2);
  resident = 12 * kMuch;
  LookAgain(watch);  // too soon
  EXPECT_EQ(given_back, 2);
  clock.Advance(PressureMonitor::kGiveBackEvery);
  LookAgain(watch);
  EXPECT_EQ(given_back, 3);
}

}  // namespace
}  // namespace kiln::server
