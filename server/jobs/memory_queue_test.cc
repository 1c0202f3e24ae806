// SPDX-License-Identifier: MIT
#include "server/jobs/memory_queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/log.h"
#include "server/jobs/worker.h"

namespace kiln::jobs {
namespace {

Job JobNamed(Lane lane, std::string name) {
  return {.lane = lane, .name = std::move(name), .run = [](const cache::Call&) {}};
}

class CollectingSink final : public LogSink {
 public:
  void Take(const LogEntry& entry) override { lines.push_back(FormatLogLine(entry)); }
  std::vector<std::string> lines;  // one worker thread at a time writes in these tests
};

TEST(MemoryQueue, WhoIsToldOfAClaimThrows_TheJobIsHandedOutAllTheSame) {
  SystemClock clock;
  MemoryQueue queue(QueueLimits{}, clock, [](Lane, Duration) { throw 7; });
  ASSERT_TRUE(queue.Submit({.name = "one"}).ok());
  const std::optional<DispatchedJob> claimed = queue.Claim(LaneChoice::kBoth);
  ASSERT_TRUE(claimed.has_value());
  EXPECT_EQ(claimed->job.name, "one");
  queue.Complete(claimed->id);
}

TEST(MemoryQueue, OneLane_FirstInFirstOut) {
  MemoryQueue queue({});
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, name)).ok());
  }
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, name);
  }
}

TEST(MemoryQueue, BothLanesFull_BatchGetsEveryTenthDispatch) {
  MemoryQueue queue({});
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "i")).ok());
    ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "b")).ok());
  }
  std::string order;
  for (int i = 0; i < 30; ++i) {
    order += queue.Claim(LaneChoice::kBoth)->job.name;
  }
  EXPECT_EQ(order, "iiiiiiiiibiiiiiiiiibiiiiiiiiib");
}

TEST(MemoryQueue, ExpressWorker_LeavesBatchAlone) {
  MemoryQueue queue({});
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "b")).ok());
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "i")).ok());
  EXPECT_EQ(queue.Claim(LaneChoice::kInteractiveOnly)->job.name, "i");
  queue.Close();
  EXPECT_FALSE(queue.Claim(LaneChoice::kInteractiveOnly).has_value());
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, "b");
}

TEST(MemoryQueue, LaneFull_RefusesWithReason) {
  MemoryQueue queue({.interactive = 1, .batch = 1});
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "1")).ok());
  const Result<uint64_t> refused = queue.Submit(JobNamed(Lane::kBatch, "2"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(refused.error().reason, "QUEUE_FULL");
  EXPECT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "3")).ok());
}

TEST(MemoryQueue, Closed_RefusesNewAndHandsOutOld) {
  MemoryQueue queue({});
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "old")).ok());
  queue.Close();
  EXPECT_EQ(queue.Submit(JobNamed(Lane::kBatch, "new")).error().reason, "DRAINING");
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, "old");
  EXPECT_FALSE(queue.Claim(LaneChoice::kBoth).has_value());
}

TEST(MemoryQueue, Status_CountsPerLane) {
  MemoryQueue queue({});
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "1")).ok());
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "2")).ok());
  const std::optional<DispatchedJob> claimed = queue.Claim(LaneChoice::kBoth);
  EXPECT_EQ(queue.Status().waiting[1], 1u);
  EXPECT_EQ(queue.Status().running[1], 1u);
  queue.Complete(claimed->id);
  EXPECT_EQ(queue.Status().running[1], 0u);
  EXPECT_EQ(queue.Status().finished[1], 1u);
}

TEST(MemoryQueue, NamedTenant_HasHalfOfALaneAndTheOwnerAllOfIt) {
  MemoryQueue queue({.interactive = 4, .batch = 4});
  const auto submit = [&](const char* tenant) {
    return queue.Submit(
        {.lane = Lane::kInteractive, .name = "j", .tenant = tenant, .run = [](const cache::Call&) {
         }});
  };
  ASSERT_TRUE(submit("a").ok());
  ASSERT_TRUE(submit("a").ok());
  EXPECT_EQ(submit("a").error().reason, "QUOTA");
  ASSERT_TRUE(submit("b").ok());
  (void)queue.Claim(LaneChoice::kBoth);  // one of a's runs: its place is free
  ASSERT_TRUE(submit("a").ok());
  ASSERT_TRUE(submit("").ok());
  EXPECT_EQ(submit("").error().reason, "QUEUE_FULL");
}

// Tenants that want everything, each in its own half: the owner has the last quarter.
TEST(MemoryQueue, AllTenantsTogether_LeaveTheOwnerAQuarter) {
  for (const Lane lane : {Lane::kInteractive, Lane::kBatch}) {
    MemoryQueue queue({.interactive = 16, .batch = 16});
    const auto submit = [&](std::string tenant) {
      return queue.Submit(
          {.lane = lane, .name = "j", .tenant = std::move(tenant), .run = [](const cache::Call&) {
           }});
    };
    for (int i = 0; i < 12; ++i) {
      EXPECT_TRUE(submit(std::to_string(i % 3)).ok()) << i;
    }
    EXPECT_EQ(submit("new").error().reason, "QUEUE_FULL");
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(submit("").ok()) << i;
    }
    EXPECT_EQ(submit("").error().reason, "QUEUE_FULL");
  }
}

// Tenants run on all threads but one; whoever ends makes room for the next.
TEST(MemoryQueue, OwnersInteractiveJob_FindsAThreadThatNobodyElseHas) {
  MemoryQueue queue({.others_at_once = 2});
  const auto submit = [&](const char* tenant) {
    ASSERT_TRUE(queue
                    .Submit({.lane = Lane::kInteractive,
                             .name = tenant,
                             .tenant = tenant,
                             .run = [](const cache::Call&) {}})
                    .ok());
  };
  for (int i = 0; i < 4; ++i) {
    submit("a");
  }
  const auto first = queue.Claim(LaneChoice::kBoth),
             second = queue.Claim(LaneChoice::kInteractiveOnly);
  EXPECT_EQ(first->job.tenant + second->job.tenant, "aa");
  submit("");
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.tenant, "");  // although others were there before
  std::optional<DispatchedJob> next;
  std::thread waits([&] { next = queue.Claim(LaneChoice::kBoth); });
  queue.Complete(first->id);
  waits.join();
  EXPECT_EQ(next->job.tenant, "a");
  queue.Close();
  EXPECT_TRUE(queue.Claim(LaneChoice::kBoth).has_value());  // a closed queue hands out all it has
  EXPECT_FALSE(queue.Claim(LaneChoice::kBoth).has_value());
}

Job LongJob(std::string tenant, std::string name = "long") {
  return {.name = std::move(name),
          .tenant = std::move(tenant),
          .length = Length::kLong,
          .run = [](const cache::Call&) {}};
}

Job ShortJob(std::string tenant, std::string name = "short") {
  Job job = LongJob(std::move(tenant), std::move(name));
  job.length = Length::kShort;
  return job;
}

// Four threads: a named tenant counts on one, all of them on two, and compiles find the others.
TEST(MemoryQueue, LongJobs_LeaveThreadsForShortOnes) {
  MemoryQueue queue({.others_at_once = 3, .long_at_once = 2});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(queue.Submit(LongJob("reader")).ok());
    ASSERT_TRUE(queue.Submit(LongJob("other")).ok());
  }
  const auto first = queue.Claim(LaneChoice::kBoth), second = queue.Claim(LaneChoice::kBoth);
  EXPECT_EQ(first->job.tenant + second->job.tenant, "readerother");
  ASSERT_TRUE(queue.Submit(ShortJob("writer")).ok());
  ASSERT_TRUE(queue.Submit({.lane = Lane::kBatch, .name = "batch"}).ok());
  const auto compile = queue.Claim(LaneChoice::kInteractiveOnly);
  EXPECT_EQ(compile->job.tenant, "writer");
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, "batch") << "no third long one";
  queue.Complete(compile->id);
  ASSERT_TRUE(queue.Submit(LongJob("")).ok());
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.tenant, "")
      << "the owner has one whatever others do";
  queue.Complete(second->id);
  queue.Complete(first->id);
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.tenant, "reader") << "in turns, as they came";
  EXPECT_EQ(queue.Status().waiting[0], 3u);
}

TEST(MemoryQueue, LongJobsOfOneTenant_AreHalfOfTheirShare) {
  MemoryQueue queue({.others_at_once = 7, .long_at_once = 4});
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(queue.Submit(LongJob("a")).ok());
  }
  ASSERT_TRUE(queue.Submit(LongJob("b")).ok());
  std::string order;
  for (int i = 0; i < 3; ++i) {
    order += queue.Claim(LaneChoice::kBoth)->job.tenant;
  }
  EXPECT_EQ(order, "aba");
  std::optional<DispatchedJob> next;
  std::thread waits([&] { next = queue.Claim(LaneChoice::kBoth); });
  ASSERT_TRUE(queue.Submit(ShortJob("c")).ok());
  waits.join();
  EXPECT_EQ(next->job.tenant, "c") << "although a's were there before";
}

TEST(MemoryQueue, ShortAndLong_NineOfTenDispatchesAreShort) {
  MemoryQueue queue({});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(queue.Submit(LongJob("", "L")).ok());
    ASSERT_TRUE(queue.Submit(ShortJob("", "s")).ok());
  }
  std::string order;
  for (int i = 0; i < 24; ++i) {
    order += queue.Claim(LaneChoice::kBoth)->job.name;
  }
  EXPECT_EQ(order, "sssssssssLsssssssssLssLL");
}

// At the limit of memory the lane has one thread: a long job that has it steps back.
TEST(MemoryQueue, OneThreadWithALongJob_DoesNotKeepShortOnesWaiting) {
  MemoryQueue queue({.others_at_once = 2, .long_at_once = 1});
  queue.Limit(Lane::kInteractive, 1);
  ASSERT_TRUE(queue.Submit(LongJob("reader")).ok());
  ASSERT_TRUE(queue.Submit(LongJob("reader")).ok());
  const auto counts = queue.Claim(LaneChoice::kBoth);
  ASSERT_TRUE(queue.Submit(ShortJob("writer", "1")).ok());
  ASSERT_TRUE(queue.Submit(ShortJob("", "2")).ok());
  const auto compile = queue.Claim(LaneChoice::kBoth);
  EXPECT_EQ(compile->job.name, "1");
  queue.Complete(counts->id);
  queue.Complete(compile->id);
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, "2") << "before the second long one";
}

TEST(MemoryQueue, LongJobEnds_WhoWaitedGetsTheNext) {
  MemoryQueue queue({.others_at_once = 2, .long_at_once = 1});
  ASSERT_TRUE(queue.Submit(LongJob("reader", "1")).ok());
  ASSERT_TRUE(queue.Submit(LongJob("reader", "2")).ok());
  const auto first = queue.Claim(LaneChoice::kBoth);
  std::string got;
  {
    const std::jthread worker([&] { got = queue.Claim(LaneChoice::kBoth)->job.name; });
    queue.Complete(first->id);
  }
  EXPECT_EQ(got, "2");
}

// They fill half of the places: a compile is not refused for want of room.
TEST(MemoryQueue, LongJobsThatWait_LeaveRoomForShortOnes) {
  MemoryQueue queue({.interactive = 16, .batch = 1});
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(queue.Submit(LongJob(i % 2 == 0 ? "a" : "b")).ok()) << i;
  }
  EXPECT_EQ(queue.Submit(LongJob("c")).error().reason, "QUEUE_FULL");
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(queue.Submit(ShortJob("c")).ok()) << i;
  }
  EXPECT_TRUE(queue.Submit(LongJob("")).ok());
}

TEST(MemoryQueue, List_TellsWhatWaitsAndRunsAndForHowLong) {
  FakeClock clock;
  std::vector<Duration> waits;
  MemoryQueue queue({}, clock, [&](Lane, Duration waited) { waits.push_back(waited); });
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "first")).ok());
  clock.Advance(std::chrono::seconds(2));
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "second")).ok());
  const std::optional<DispatchedJob> claimed = queue.Claim(LaneChoice::kBoth);
  clock.Advance(std::chrono::seconds(1));
  const std::vector<JobRow> rows = queue.List();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].id, claimed->id);
  EXPECT_EQ(rows[0].name, "first");
  EXPECT_TRUE(rows[0].running);
  EXPECT_EQ(rows[0].age, std::chrono::seconds(3));
  EXPECT_FALSE(rows[1].running);
  EXPECT_EQ(rows[1].age, std::chrono::seconds(1));
  EXPECT_EQ(rows[1].lane, Lane::kBatch);
  EXPECT_EQ(waits, std::vector<Duration>{std::chrono::seconds(2)});
}

TEST(MemoryQueue, Kill_StopsTheJobItsCallerAlone) {
  MemoryQueue queue({});
  std::stop_source caller;
  ASSERT_TRUE(
      queue.Submit({.name = "runs", .stop = caller.get_token(), .run = [](const cache::Call&) {}})
          .ok());
  const uint64_t waits = *queue.Submit(
      {.name = "waits", .stop = caller.get_token(), .run = [](const cache::Call&) {}});
  const std::optional<DispatchedJob> running = queue.Claim(LaneChoice::kBoth);
  EXPECT_TRUE(queue.Kill(running->id).ok());
  EXPECT_TRUE(running->job.stop.stop_requested());
  EXPECT_FALSE(caller.stop_requested());
  queue.Complete(running->id);
  EXPECT_EQ(queue.Kill(running->id).error().reason, "UNKNOWN_JOB");
  EXPECT_TRUE(queue.Kill(waits).ok());
  EXPECT_TRUE(queue.Claim(LaneChoice::kBoth)->job.stop.stop_requested());
}

TEST(MemoryQueue, Caller_StillStopsItsJob) {
  MemoryQueue queue({});
  std::stop_source caller;
  ASSERT_TRUE(
      queue.Submit({.name = "j", .stop = caller.get_token(), .run = [](const cache::Call&) {}})
          .ok());
  const std::optional<DispatchedJob> claimed = queue.Claim(LaneChoice::kBoth);
  EXPECT_FALSE(claimed->job.stop.stop_requested());
  caller.request_stop();
  EXPECT_TRUE(claimed->job.stop.stop_requested());
}

TEST(MemoryQueue, DrainTime_FollowsTheRateAndWhatWaits) {
  FakeClock clock;
  MemoryQueue queue({}, clock, nullptr);
  EXPECT_EQ(queue.DrainTime(Lane::kInteractive), Duration::zero());
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "j")).ok());
    queue.Complete(queue.Claim(LaneChoice::kBoth)->id);
    clock.Advance(std::chrono::milliseconds(10));
  }
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "j")).ok());
  }
  const Duration time = queue.DrainTime(Lane::kInteractive);
  EXPECT_GT(time, std::chrono::milliseconds(45));
  EXPECT_LT(time, std::chrono::milliseconds(55));
}

TEST(Workers, ManyJobs_EachRunsOnce) {
  MemoryQueue queue({});
  CollectingSink log;
  std::atomic<int> runs = 0;
  {
    const Workers workers({.both = 3, .express = 1}, queue, log);
    for (int i = 0; i < 200; ++i) {
      const Lane lane = i % 2 == 0 ? Lane::kBatch : Lane::kInteractive;
      Job job{.lane = lane, .name = "count", .run = [&](const cache::Call&) { ++runs; }};
      ASSERT_TRUE(queue.Submit(std::move(job)).ok());
    }
    queue.Close();
  }
  EXPECT_EQ(runs, 200);
  EXPECT_TRUE(log.lines.empty());
}

struct Session {
  std::string tenant, session;
  uint32_t priority = 0;
  std::string name = {};
};

// The names of jobs in the order of their turns; each session submits `each` of them at once.
std::string TurnsOf(MemoryQueue& queue, const std::vector<Session>& sessions, int each, int turns) {
  for (const Session& one : sessions) {
    for (int i = 0; i < each; ++i) {
      Job job = JobNamed(Lane::kBatch, one.name);
      job.tenant = one.tenant;
      job.session = one.session;
      job.priority = one.priority;
      EXPECT_TRUE(queue.Submit(std::move(job)).ok());
    }
  }
  std::string order;
  for (int i = 0; i < turns; ++i) {
    order += queue.Claim(LaneChoice::kBoth)->job.name;
  }
  return order;
}

TEST(FairQueue, SessionsTakeTurns) {
  MemoryQueue queue({});
  EXPECT_EQ(TurnsOf(queue, {{"", "1", 0, "a"}, {"", "2", 0, "b"}, {"ci", "1", 0, "c"}}, 4, 12),
            "acbcacbcabab")
      << "of the tenants, and inside of one";
}

TEST(FairQueue, EachStepOfPriority_DoublesTheShare) {
  MemoryQueue queue({});
  const std::string order =
      TurnsOf(queue, {{"", "1", 0, "a"}, {"", "2", 1, "b"}, {"", "3", 2, "c"}}, 40, 35);
  EXPECT_EQ(std::ranges::count(order, 'a'), 5);
  EXPECT_EQ(std::ranges::count(order, 'b'), 10);
  EXPECT_EQ(std::ranges::count(order, 'c'), 20);
}

TEST(FairQueue, WeightsOfTenants_AreTheirShares) {
  MemoryQueue queue({});
  queue.SetWeights({{"ci", 3}});
  const std::string order = TurnsOf(queue, {{"ci", "", 0, "a"}, {"", "", 0, "b"}}, 40, 40);
  EXPECT_EQ(std::ranges::count(order, 'a'), 30);
  EXPECT_EQ(std::ranges::count(order, 'b'), 10);
}

TEST(FairQueue, WhoComesLate_IsNotOwedThePast) {
  MemoryQueue queue({});
  EXPECT_EQ(TurnsOf(queue, {{"", "1", 0, "a"}}, 10, 6), "aaaaaa");
  EXPECT_EQ(TurnsOf(queue, {{"", "2", 0, "b"}}, 4, 8), "babababa");
}

// How jobs find the threads that run them, one after another: nice value and policy.
std::vector<std::pair<int, int>> SeenByJobs(const WorkerConfig& config,
                                            const std::vector<Lane>& lanes) {
  std::vector<std::pair<int, int>> seen;
  {
    MemoryQueue queue({});
    CollectingSink log;
    const Workers workers(config, queue, log);
    for (const Lane lane : lanes) {
      std::atomic<bool> done = false;
      const auto look = [&](const cache::Call&) {
        seen.emplace_back(getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
        done = true;
        done.notify_all();
      };
      EXPECT_TRUE(queue.Submit({.lane = lane, .name = "look", .run = look}).ok());
      done.wait(false);
    }
    queue.Close();
  }
  return seen;
}

TEST(Workers, BatchWork_YieldsToEverythingElse) {
  const std::pair as_before(getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
  const std::pair yielding(std::min(as_before.first + 10, 19), SCHED_BATCH);
  using Rows = std::vector<std::pair<int, int>>;
  EXPECT_EQ(SeenByJobs({.both = 1, .express = 0},
                       {Lane::kBatch, Lane::kInteractive, Lane::kBatch, Lane::kInteractive}),
            (Rows{yielding, as_before, yielding, as_before}));
  EXPECT_EQ(SeenByJobs({.both = 0, .express = 1}, {Lane::kInteractive}), Rows{as_before});
}

TEST(MemoryQueue, LimitOfALane_HoldsUntilOneEnds) {
  MemoryQueue queue({});
  for (const Lane lane : {Lane::kBatch, Lane::kBatch, Lane::kInteractive}) {
    ASSERT_TRUE(queue.Submit(JobNamed(lane, lane == Lane::kBatch ? "b" : "i")).ok());
  }
  queue.Limit(Lane::kInteractive, 0);
  queue.Limit(Lane::kBatch, 1);
  const std::optional<DispatchedJob> batch = queue.Claim(LaneChoice::kBoth);
  EXPECT_EQ(batch->job.name, "b");
  queue.Limit(Lane::kInteractive, 1);
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, "i");
  queue.Complete(batch->id);
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, "b");
}

TEST(MemoryQueue, LimitIsRaised_WhoWaitedGetsTheJob) {
  MemoryQueue queue({});
  queue.Limit(Lane::kBatch, 0);
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "b")).ok());
  std::string got;
  {
    const std::jthread worker([&] { got = queue.Claim(LaneChoice::kBoth)->job.name; });
    queue.Limit(Lane::kBatch, 1);
  }
  EXPECT_EQ(got, "b");
}

TEST(MemoryQueue, Closed_HandsOutTheRestWhateverTheLimit) {
  MemoryQueue queue({});
  queue.Limit(Lane::kBatch, 0);
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "b")).ok());
  queue.Close();
  EXPECT_EQ(queue.Claim(LaneChoice::kBoth)->job.name, "b");
}

TEST(MemoryQueue, LongestWait_IsTheFirstJobs) {
  FakeClock clock;
  MemoryQueue queue({}, clock, nullptr);
  EXPECT_EQ(queue.LongestWait(Lane::kInteractive), Duration::zero());
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "1")).ok());
  clock.Advance(std::chrono::milliseconds(30));
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "2")).ok());
  EXPECT_EQ(queue.LongestWait(Lane::kInteractive), std::chrono::milliseconds(30));
  EXPECT_EQ(queue.LongestWait(Lane::kBatch), Duration::zero());
  ASSERT_TRUE(queue.Claim(LaneChoice::kBoth).has_value());
  EXPECT_EQ(queue.LongestWait(Lane::kInteractive), Duration::zero());
  ASSERT_TRUE(queue.Claim(LaneChoice::kBoth).has_value());
  ASSERT_TRUE(queue.Submit(LongJob("")).ok());
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(queue.LongestWait(Lane::kInteractive), Duration::zero()) << "it has its own share";
}

TEST(Workers, JobThrows_OthersStillRun) {
  MemoryQueue queue({});
  CollectingSink log;
  std::atomic<int> runs = 0;
  {
    const Workers workers({.both = 1, .express = 0}, queue, log);
    Job broken{.name = "broken", .run = [](const cache::Call&) { throw std::bad_alloc(); }};
    ASSERT_TRUE(queue.Submit(std::move(broken)).ok());
    Job good{.name = "good", .run = [&](const cache::Call&) { ++runs; }};
    ASSERT_TRUE(queue.Submit(std::move(good)).ok());
    queue.Close();
  }
  EXPECT_EQ(runs, 1);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_NE(log.lines[0].find("job=broken"), std::string::npos);
}

}  // namespace
}  // namespace kiln::jobs
