// SPDX-License-Identifier: MIT
// Worker processes that work, refuse, crash, hang, leave early and talk nonsense.
#include "server/worker/pool.h"

#include <atomic>
#include <filesystem>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"

namespace kiln::worker {
namespace {

constexpr char kModule[] = "sixteen bytes....";

class PoolTest : public testing::Test {
 protected:
  Pool::Options Options() {
    Pool::Options options;
    options.program = KILN_TEST_CHILD;
    options.workers = 2;
    options.wall = std::chrono::seconds(1);
    options.message = std::chrono::seconds(1);
    return options;
  }

  static Result<Answer> Ask(Pool& pool, const std::string& how, std::stop_token stop = {},
                            Duration deadline = Duration::max()) {
    return pool.Run({.recipe = "test;" + how, .input = AsBytes(kModule)}, std::move(stop),
                    deadline);
  }

  SystemClock clock;
};

TEST_F(PoolTest, Job_ComesBackFromAProcessWithoutEnvironment) {
  Pool pool(Options(), clock);
  const Result<Answer> answer = Ask(pool, "echo");
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->kind, AnswerKind::kMade);
  EXPECT_EQ(AsText(answer->bytes), kModule);
  EXPECT_EQ(answer->report, "no environment");
}

TEST_F(PoolTest, OneProcess_ServesManyJobsAndIsRecycled) {
  Pool::Options options = Options();
  options.jobs_per_process = 10;
  Pool pool(options, clock);
  for (int i = 0; i < 25; ++i) {
    ASSERT_TRUE(Ask(pool, "echo").ok());
  }
  EXPECT_EQ(pool.counters().started, 3u);
  EXPECT_EQ(pool.counters().recycled, 2u);
  EXPECT_EQ(pool.counters().killed, 0u);
}

TEST_F(PoolTest, Refusal_IsAnAnswer) {
  Pool pool(Options(), clock);
  const Result<Answer> answer = Ask(pool, "reject");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->kind, AnswerKind::kRejected);
  EXPECT_EQ(answer->report, "not good");
}

struct Deadly {
  const char* how;
  const char* report;
};

class DeadlyJob : public PoolTest, public testing::WithParamInterface<Deadly> {};

TEST_P(DeadlyJob, IsTriedThreeTimesAndPoisoned_OthersLiveOn) {
  Pool pool(Options(), clock);
  const Result<Answer> answer = Ask(pool, GetParam().how);
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->kind, AnswerKind::kPoison);
  EXPECT_THAT(answer->report, testing::HasSubstr(GetParam().report));
  EXPECT_EQ(pool.counters().killed, 3u);
  EXPECT_EQ(pool.counters().poisoned, 1u);
  EXPECT_EQ(Ask(pool, "echo")->kind, AnswerKind::kMade);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DeadlyJob,
    testing::Values(Deadly{"crash", "signal 11"}, Deadly{"crash", "about to crash"},
                    Deadly{"exit", "exit 3"}, Deadly{"hang", "no answer within 1 s"},
                    Deadly{"garbage", "worker processes"}, Deadly{"chatter", "what no worker says"},
                    Deadly{"job", "what no worker says"}, Deadly{"drip", "worker processes"}));

TEST_F(PoolTest, AnswerToAJobThatWasNotTaken_IsNone) {
  Pool pool(Options(), clock);
  const Result<Answer> answer = Ask(pool, "unasked");
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->kind, AnswerKind::kPoison);
  EXPECT_THAT(answer->report, testing::HasSubstr("what no worker says"));
}

TEST_F(PoolTest, JobThatUsesUpItsProcessorTime_IsPoison) {
  Pool::Options options = Options();
  options.wall = std::chrono::seconds(600);
  options.cpu = std::chrono::milliseconds(100);
  Pool pool(options, clock);
  const Result<Answer> answer = Ask(pool, "spin");
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->kind, AnswerKind::kPoison);
  EXPECT_THAT(answer->report, testing::HasSubstr("time of a processor"));
}

TEST_F(PoolTest, ProcessThatUsedUpItsProcessorTime_IsReplaced) {
  Pool::Options options = Options();
  options.cpu = Duration::zero();  // every process has used that
  options.wall = std::chrono::seconds(600);
  Pool pool(options, clock);
  while (pool.counters().recycled == 0) {  // unless a look comes before the answer
    ASSERT_TRUE(Ask(pool, "echo").ok());
  }
  EXPECT_TRUE(pool.Rows().empty());
}

// A program that says that it cannot be locked in, as child.cc says it.
TEST_F(PoolTest, ProcessThatCannotBeLockedIn_IsNoProcessAndTold) {
  TestDirectory folder;
  const std::string script = std::string(folder.path()) + "/unfit";
  ASSERT_TRUE(WriteFile(script, AsBytes("#!/bin/sh\nprintf 'KWK1\\006\\0\\0\\0"
                                        "\\0\\0\\0\\0\\0\\0\\0\\0"
                                        "\\012\\0\\0\\0\\0\\0\\0\\0no seccomp' >&3\n"))
                  .ok());
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Pool::Options options = Options();
  options.program = script;
  options.wall = std::chrono::seconds(60);
  std::vector<std::string> told;
  options.on_unfit = [&](const std::string& why) { told.push_back(why); };
  Pool pool(options, clock);
  const Result<Answer> answer = Ask(pool, "echo");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().reason, "NOT_CONFINED");
  EXPECT_THAT(answer.error().context, testing::HasSubstr("no seccomp"));
  EXPECT_EQ(told, std::vector<std::string>{"no seccomp"});
  EXPECT_EQ(pool.counters().poisoned, 0u);  // the input is not to blame
}

TEST_F(PoolTest, ProcessesThatLeaveBeforeTheyHaveTheJob_DoNotCountAtOnce) {
  Pool pool(Options(), clock);
  EXPECT_EQ(Ask(pool, "early")->kind, AnswerKind::kPoison);
  EXPECT_EQ(pool.counters().killed, 6u);  // three for nothing, three that count
}

TEST_F(PoolTest, Cancel_KillsTheProcessAtOnce) {
  Pool::Options options = Options();
  options.wall = std::chrono::hours(1);
  Pool pool(options, clock);
  std::stop_source stop;
  const Duration start = clock.Monotonic();
  std::jthread later([&] {
    LetPass(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const Result<Answer> answer = Ask(pool, "hang", stop.get_token());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
  EXPECT_LT(clock.Monotonic() - start, kTestPatience);
}

TEST_F(PoolTest, Deadline_EndsTheWaitForAFreeProcessToo) {
  Pool::Options options = Options();
  options.workers = 1;
  options.wall = std::chrono::seconds(60);
  Pool pool(options, clock);
  std::stop_source stop;
  std::jthread busy([&] { (void)Ask(pool, "hang", stop.get_token()); });
  while (pool.counters().started == 0) {
    std::this_thread::yield();
  }
  const Result<Answer> answer =
      Ask(pool, "echo", {}, clock.Monotonic() + std::chrono::milliseconds(100));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kDeadlineExceeded);
  stop.request_stop();
}

// A process that stands still is not to be looked for in recipes if nobody asked for one.
TEST_F(PoolTest, Deadline_NamesTheWork) {
  const struct {
    Work work;
    const char* said;
  } table[] = {{Work::kRecipe, "the deadline passed while a recipe ran"},
               {Work::kRead, "the deadline passed while a worker process read a source"}};
  Pool::Options options = Options();
  options.workers = 0;  // so that it waits for a process, and for nothing that one may say
  for (const auto& row : table) {
    Pool pool(options, clock);
    const Result<Answer> answer =
        pool.Run({.work = row.work, .recipe = "test;hang", .input = AsBytes(kModule)}, {},
                 clock.Monotonic());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().context, row.said);
  }
}

TEST_F(PoolTest, ManyThreads_ShareFewProcesses) {
  Pool pool(Options(), clock);
  std::atomic<int> made{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 50; ++j) {
          made += Ask(pool, "echo").ok() ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(made, 400);
  EXPECT_LE(pool.counters().started, 2u);
}

// Goes on at every look by as much as a process may be stopped.
class HurryingClock final : public Clock {
 public:
  Duration Monotonic() override { return now_ += std::chrono::seconds(1); }
  Duration UnixTime() override { return {}; }

 private:
  Duration now_{};
};

TEST_F(PoolTest, InteractiveWorkWaits_BackgroundJobIsStoppedUntilItDoesNot) {
  Pool::Options options = Options();
  options.wall = std::chrono::seconds(60);
  bool waits = false;  // every other look
  options.interactive_wait = [&] {
    waits = !waits;
    return waits ? std::chrono::milliseconds(20) : std::chrono::milliseconds(0);
  };
  Pool pool(options, clock);
  const Result<Answer> answer =
      pool.Run({.recipe = "test;stopped", .input = AsBytes(kModule), .background = true}, {},
               Duration::max());
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->kind, AnswerKind::kMade);
  EXPECT_GE(pool.counters().stopped, 1u);
}

TEST_F(PoolTest, SomebodyWaitsForABackgroundJob_ItGoesOn) {
  Pool::Options options = Options();
  options.wall = std::chrono::seconds(60);
  options.interactive_wait = [] { return std::chrono::hours(1); };
  Pool pool(options, clock);
  bool urgent = true;  // every other look
  const auto is_urgent = [&] { return urgent = !urgent; };
  const Result<Answer> answer = pool.Run({.recipe = "test;stopped",
                                          .input = AsBytes(kModule),
                                          .background = true,
                                          .urgent = is_urgent},
                                         {}, Duration::max());
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->kind, AnswerKind::kMade);
  EXPECT_GE(pool.counters().stopped, 1u);
}

TEST_F(PoolTest, InteractiveWorkNeverEnds_BackgroundJobIsStoppedForASecondAtMost) {
  HurryingClock hurrying;
  Pool::Options options = Options();
  options.wall = std::chrono::hours(1);
  options.interactive_wait = [] { return std::chrono::hours(1); };
  Pool pool(options, hurrying);
  const Result<Answer> answer =
      pool.Run({.recipe = "test;stopped", .input = AsBytes(kModule), .background = true}, {},
               Duration::max());
  ASSERT_TRUE(answer.ok()) << answer.error().context;
  EXPECT_EQ(answer->kind, AnswerKind::kMade);
  EXPECT_GE(pool.counters().stopped, 1u);
}

TEST_F(PoolTest, InteractiveJob_IsNeverStopped) {
  Pool::Options options = Options();
  options.interactive_wait = [] { return std::chrono::hours(1); };
  Pool pool(options, clock);
  EXPECT_EQ(Ask(pool, "hang")->kind, AnswerKind::kPoison);  // looked at for a second, three times
  EXPECT_EQ(pool.counters().stopped, 0u);
}

TEST_F(PoolTest, Rows_TellWhatProcessesDo) {
  Pool pool(Options(), clock);
  EXPECT_TRUE(pool.Rows().empty());
  ASSERT_TRUE(Ask(pool, "echo").ok());
  ASSERT_EQ(pool.Rows().size(), 1u);
  EXPECT_EQ(pool.Rows()[0].job, "");
  EXPECT_EQ(pool.Rows()[0].jobs_done, 1u);
  EXPECT_GT(pool.Rows()[0].memory, 0u);
  std::stop_source stop;
  {
    const std::jthread busy([&] { (void)Ask(pool, "hang", stop.get_token()); });
    std::vector<ProcessRow> rows = pool.Rows();
    while (rows.size() == 1 && rows[0].job != "test;hang") {
      std::this_thread::yield();
      rows = pool.Rows();
    }
    EXPECT_EQ(rows.size(), 1u);  // idle or at work, never neither
    stop.request_stop();
  }
  EXPECT_TRUE(pool.Rows().empty());  // it was killed
}

TEST_F(PoolTest, JobsOfNobody_HaveProcessesOfTheirOwn) {
  Pool pool(Options(), clock);
  for (const bool background : {false, true, false, true}) {
    ASSERT_TRUE(
        pool.Run({.recipe = "test;echo", .input = AsBytes(kModule), .background = background}, {},
                 Duration::max())
            .ok());
  }
  EXPECT_EQ(pool.counters().started, 2u);
}

TEST_F(PoolTest, ProgramThatIsNotThere_IsUnavailable) {
  Pool::Options options = Options();
  options.program = "/nonexistent/kilnd";
  Pool pool(options, clock);
  EXPECT_EQ(Ask(pool, "echo").error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace kiln::worker
