// SPDX-License-Identifier: MIT
#include "server/jobs/memory_queue.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
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

TEST(MemoryQueue, OneLane_FirstInFirstOut) {
  MemoryQueue queue({});
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, name)).ok());
  }
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(queue.Claim(Serves::kBoth)->job.name, name);
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
    order += queue.Claim(Serves::kBoth)->job.name;
  }
  EXPECT_EQ(order, "iiiiiiiiibiiiiiiiiibiiiiiiiiib");
}

TEST(MemoryQueue, ExpressWorker_LeavesBatchAlone) {
  MemoryQueue queue({});
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "b")).ok());
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kInteractive, "i")).ok());
  EXPECT_EQ(queue.Claim(Serves::kInteractiveOnly)->job.name, "i");
  queue.Close();
  EXPECT_FALSE(queue.Claim(Serves::kInteractiveOnly).has_value());
  EXPECT_EQ(queue.Claim(Serves::kBoth)->job.name, "b");
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
  EXPECT_EQ(queue.Claim(Serves::kBoth)->job.name, "old");
  EXPECT_FALSE(queue.Claim(Serves::kBoth).has_value());
}

TEST(MemoryQueue, Status_CountsPerLane) {
  MemoryQueue queue({});
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "1")).ok());
  ASSERT_TRUE(queue.Submit(JobNamed(Lane::kBatch, "2")).ok());
  const std::optional<Claimed> claimed = queue.Claim(Serves::kBoth);
  EXPECT_EQ(queue.Status().waiting[1], 1u);
  EXPECT_EQ(queue.Status().running[1], 1u);
  queue.Complete(claimed->id);
  EXPECT_EQ(queue.Status().running[1], 0u);
  EXPECT_EQ(queue.Status().finished[1], 1u);
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
