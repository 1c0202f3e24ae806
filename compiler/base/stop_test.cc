// SPDX-License-Identifier: MIT
#include "compiler/base/stop.h"

#include <optional>

#include <gtest/gtest.h>

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

TEST(StopScope, None_NothingStops) {
  EXPECT_EQ(WhyOf(CheckOften), std::nullopt);
  EXPECT_EQ(WhyOf([] { ChargeMemory(UINT64_MAX); }), std::nullopt);
  const ChargedMemory charged;
}

}  // namespace
}  // namespace kiln
