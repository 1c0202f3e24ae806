// SPDX-License-Identifier: MIT
#include "server/stop_watchdog.h"

#include <atomic>
#include <chrono>
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::server {
namespace {

using testing::Contains;
using testing::HasSubstr;

// A process that can be asked whether it ended, and whose log and ways to hang a test chooses.
class Watched {
 public:
  explicit Watched(LogSink& log)
      : dog(log, [this] {
          ended = true;
          ended.notify_all();
        }) {}

  void WaitForEnd() { ended.wait(false); }

  std::atomic<bool> ended = false;
  StopWatchdog dog;
};

TEST(StopWatchdog, NotArmed_EndsNothing) {
  RecordingLog log;
  {
    Watched process(log);
    process.dog.WaitsFor("jobs");
  }
  EXPECT_TRUE(log.Lines().empty());
}

TEST(StopWatchdog, EndsBeforeItIsDue_SaysNothing) {
  RecordingLog log;
  {
    Watched process(log);
    process.dog.Arm(std::chrono::hours(1));
  }
  EXPECT_TRUE(log.Lines().empty());
}

TEST(StopWatchdog, Due_TellsWhatHangsAndEndsTheProcess) {
  RecordingLog log;
  Watched process(log);
  process.dog.WaitsFor("calls");
  process.dog.Observe([] { return std::vector<std::string>{"job 7 'Compile': runs for 31 s"}; });
  process.dog.Arm(std::chrono::milliseconds(1));
  process.WaitForEnd();
  EXPECT_THAT(log.Lines(), Contains(HasSubstr("waits_for=calls")));
  EXPECT_THAT(log.Lines(), Contains(HasSubstr("job 7 'Compile': runs for 31 s")));
}

TEST(StopWatchdog, ArmedTwice_TheEarlierOneCounts) {
  for (const bool earlier_first : {true, false}) {
    NullLog log;
    Watched process(log);
    const Duration early = std::chrono::milliseconds(1);
    process.dog.Arm(earlier_first ? early : std::chrono::hours(1));
    process.dog.Arm(earlier_first ? std::chrono::hours(1) : early);
    process.WaitForEnd();
  }
}

TEST(StopWatchdog, WhoWouldKnowHangsOrThrows_TheProcessEndsAllTheSame) {
  for (const bool hangs : {true, false}) {
    RecordingLog log;
    auto never = std::make_shared<std::atomic<bool>>(false);
    {
      Watched process(log);
      process.dog.Observe([never, hangs]() -> std::vector<std::string> {
        if (hangs) {
          never->wait(false);
        }
        throw std::bad_alloc();
      });
      process.dog.Arm(Duration::zero());
      process.WaitForEnd();
    }
    EXPECT_THAT(log.Lines(), Contains(HasSubstr("who would know hangs, too")));
    never->store(true);
    never->notify_all();
  }
}

class ThrowingLog final : public LogSink {
 public:
  void Take(const LogEntry&) override { throw 7; }
};

TEST(StopWatchdog, LogThrows_TheProcessEndsAllTheSame) {
  ThrowingLog log;
  Watched process(log);
  process.dog.Arm(Duration::zero());
  process.WaitForEnd();
}

}  // namespace
}  // namespace kiln::server
