// SPDX-License-Identifier: MIT
#include "server/jobs/worker.h"

#include <future>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "server/jobs/memory_queue.h"

namespace kiln::jobs {
namespace {

// A log that is out of memory itself.
class ThrowingLog final : public LogSink {
 public:
  void Take(const LogEntry&) override { throw std::bad_alloc(); }
};

TEST(Workers, JobsThatThrow_CountAsFinishedAndOthersRun) {
  void (*const kThrown[])() = {
      [] { throw std::bad_alloc(); }, [] { throw std::runtime_error("the sky fell"); },
      [] { throw InternalError("a.cc:1: check failed"); }, [] { throw 7; }};
  RecordingLog recording;
  ThrowingLog throwing;
  for (LogSink* const log : {static_cast<LogSink*>(&recording), static_cast<LogSink*>(&throwing)}) {
    for (const Lane lane : {Lane::kInteractive, Lane::kBatch}) {
      MemoryQueue queue{QueueLimits{}};
      {
        Workers workers({.both = 1, .express = 0}, queue, *log);
        for (const auto thrown : kThrown) {
          ASSERT_TRUE(
              queue.Submit({.lane = lane, .run = [thrown](const cache::Call&) { thrown(); }}).ok());
        }
        std::promise<void> ran;
        ASSERT_TRUE(
            queue.Submit({.lane = lane, .run = [&](const cache::Call&) { ran.set_value(); }}).ok());
        ran.get_future().wait();
        queue.Close();
      }
      const QueueStatus status = queue.Status();
      EXPECT_EQ(status.running[static_cast<size_t>(lane)], 0U);
      EXPECT_EQ(status.finished[static_cast<size_t>(lane)], std::size(kThrown) + 1);
    }
  }
  EXPECT_EQ(recording.Lines().size(), 2 * std::size(kThrown));
}

}  // namespace
}  // namespace kiln::jobs
