// SPDX-License-Identifier: MIT
#include "compiler/base/threads/stop.h"

#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "compiler/base/files/section_file.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/sha256.h"
#include "compiler/base/threads/slow_step.h"

namespace kiln {
namespace {

// Why `work` was stopped; nothing if it was not.
template <class Work>
std::optional<Stopped::Why> WhyOf(Work work) {
  try {
    work();
  } catch (const Stopped& stopped) {
    return stopped.why();
  }
  return std::nullopt;
}

void CheckOften() {
  for (int i = 0; i < 100; ++i) {
    CheckStop();
  }
}

// Sixteen steps of 15 ms each could pass unseen by CheckStop.
TEST(StopScope, SlowSteps_AskTheClockEachTime) {
  FakeClock clock;
  const StopScope scope({.deadline = clock.Monotonic() + std::chrono::milliseconds(1)}, clock);
  EXPECT_NO_THROW(CheckStopBetweenSlowSteps());
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_THROW(CheckStopBetweenSlowSteps(), Stopped);
}

TEST(StopScope, Token_StopsAtTheNextCheck) {
  FakeClock clock;
  std::stop_source source;
  const StopScope scope({.stop = source.get_token()}, clock);
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  source.request_stop();
  EXPECT_EQ(WhyOf(CheckStop), Stopped::Why::kLeft);
}

TEST(StopScope, Deadline_StopsWhenItHasPassed) {
  FakeClock clock;
  const StopScope scope({.deadline = clock.Monotonic() + std::chrono::seconds(1)}, clock);
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(WhyOf(CheckOften), Stopped::Why::kDeadline);
}

TEST(StopScope, SomebodyElseWaitsLonger_GoesOnUntilThen) {
  FakeClock clock;
  const Duration later = clock.Monotonic() + std::chrono::seconds(3);
  const StopScope scope(
      {.deadline = clock.Monotonic() + std::chrono::seconds(1), .later = [later] { return later; }},
      clock);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(WhyOf(CheckOften), Stopped::Why::kDeadline);
}

TEST(StopScope, Memory_IsChargedUpToTheBound) {
  FakeClock clock;
  const StopScope scope({.bytes = 100}, clock);
  EXPECT_EQ(WhyOf([] { ChargeMemory(100); }), std::nullopt);
  EXPECT_EQ(WhyOf([] { ChargeMemory(1); }), Stopped::Why::kMemory);
  EXPECT_EQ(WhyOf([] { ChargeMemory(UINT64_MAX); }), Stopped::Why::kMemory);
}

TEST(StopScope, MemoryThatIsGivenBack_MayBeTakenAgain) {
  FakeClock clock;
  const StopScope scope({.bytes = 100}, clock);
  for (int i = 0; i < 3; ++i) {
    const ChargedMemory charged;
    EXPECT_EQ(WhyOf([] { ChargeMemory(100); }), std::nullopt) << i;
  }
}

TEST(StopScope, Inner_CountsAndThenTheOuterAgain) {
  FakeClock clock;
  std::stop_source outer;
  const StopScope scope({.stop = outer.get_token()}, clock);
  {
    const StopScope inner({}, clock);
    outer.request_stop();
    EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  }
  EXPECT_EQ(WhyOf(CheckOften), Stopped::Why::kLeft);
}

TEST(StopScope, Cpu_IsWhatTheThreadWorked) {
  FakeClock clock;
  clock.Work(std::chrono::seconds(7));  // before the scope
  const auto second = std::chrono::seconds(1);
  const StopScope scope({.cpu = 10 * second}, clock);
  clock.Advance(60 * second);  // it waits
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  clock.Work(9 * second);
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  clock.Work(second);
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  clock.Work(std::chrono::milliseconds(1));
  EXPECT_EQ(WhyOf(CheckOften), Stopped::Why::kCpu);
}

TEST(StopScope, CpuIsOver_WhoAskedIsToldAndTheNumbersAreMilliseconds) {
  FakeClock clock;
  int told = 0;
  const StopScope scope({.cpu = std::chrono::seconds(2), .on_cpu = [&] { ++told; }}, clock);
  clock.Work(std::chrono::seconds(3));
  try {
    CheckOften();
    FAIL() << "it was not stopped";
  } catch (const Stopped& stopped) {
    EXPECT_EQ(stopped.actual(), 3000u);
    EXPECT_EQ(stopped.most(), 2000u);
  }
  EXPECT_EQ(told, 1);
}

TEST(StopScope, InnerScope_HasNoMoreCpuThanTheOuterHasLeft) {
  FakeClock clock;
  const StopScope outer({.cpu = std::chrono::seconds(10)}, clock);
  clock.Work(std::chrono::seconds(6));
  {
    const StopScope inner({}, clock);
    EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
    const StopScope innermost({.cpu = std::chrono::seconds(30)}, clock);
    clock.Work(std::chrono::seconds(5));
    EXPECT_EQ(WhyOf(CheckOften), Stopped::Why::kCpu);
  }
  const StopScope shorter({.cpu = std::chrono::seconds(1)}, clock);
  EXPECT_EQ(WhyOf(CheckOften), Stopped::Why::kCpu) << "the outer one's is over";
}

TEST(IsStopping, SaysWhatCheckStopWouldDo) {
  EXPECT_FALSE(IsStopping());
  FakeClock clock;
  std::stop_source source;
  const Duration deadline = clock.Monotonic() + std::chrono::seconds(1);
  {
    const StopScope scope({.stop = source.get_token(), .deadline = deadline}, clock);
    EXPECT_FALSE(IsStopping());
    source.request_stop();
    EXPECT_TRUE(IsStopping());
  }
  EXPECT_FALSE(IsStopping());
  clock.Advance(std::chrono::seconds(1));
  const StopScope late({.deadline = deadline}, clock);
  EXPECT_TRUE(IsStopping());
  const StopScope put_off({.deadline = deadline, .later = [] { return Duration::max(); }}, clock);
  EXPECT_FALSE(IsStopping());
}

TEST(InParts, AllIsDoneOnceAndInOrder) {
  for (const size_t size : {size_t{0}, size_t{1}, kPartBytes, kPartBytes + 1, 3 * kPartBytes}) {
    size_t next = 0;
    InParts(size, [&](size_t offset, size_t part) {
      EXPECT_EQ(offset, next) << size;
      EXPECT_LE(part, kPartBytes);
      next += part;
    });
    EXPECT_EQ(next, size);
  }
}

// Whoever hashes, sums or keeps bytes of others is stopped in between; few bytes are done anyway.
TEST(InParts, LongBytesOfWhomNobodyWaitsFor_AreLeft) {
  const Bytes many(3 * kPartBytes);
  const ByteView few = ByteView(many).first(kPartBytes);
  FakeClock clock;
  std::stop_source source;
  const StopScope scope({.stop = source.get_token()}, clock);
  source.request_stop();
  const auto hash = [](ByteView bytes) { (void)Sha256(bytes); };
  const auto update = [](ByteView bytes) { Sha256Hasher().Update(bytes); };
  const auto sum = [](ByteView bytes) { (void)Checksum(bytes); };
  const auto file = [](ByteView bytes) {
    SectionFileWriter writer(1, {});
    writer.AddBytes(1, 1, bytes);
    (void)writer.Finish();
  };
  for (const std::function<void(ByteView)>& work :
       std::initializer_list<std::function<void(ByteView)>>{hash, update, sum, file}) {
    EXPECT_EQ(WhyOf([&] { work(many); }), Stopped::Why::kLeft);
    EXPECT_EQ(WhyOf([&] { work(few); }), std::nullopt);
  }
}

TEST(StopScope, None_NothingStops) {
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  EXPECT_EQ(WhyOf([] { ChargeMemory(UINT64_MAX); }), std::nullopt);
  const ChargedMemory charged;
}

}  // namespace
}  // namespace kiln
