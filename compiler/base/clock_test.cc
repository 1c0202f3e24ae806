// SPDX-License-Identifier: MIT
#include "compiler/base/clock.h"

#include <thread>

#include <gtest/gtest.h>

namespace kiln {
namespace {

using std::chrono::seconds;

TEST(FakeClock, Advance_MovesBothTimes) {
  FakeClock clock(seconds(100));
  EXPECT_EQ(clock.Monotonic(), seconds(0));
  clock.Advance(seconds(5));
  EXPECT_EQ(clock.Monotonic(), seconds(5));
  EXPECT_EQ(clock.UnixTime(), seconds(105));
}

TEST(SystemClock, Monotonic_DoesNotGoBack) {
  SystemClock clock;
  const Duration before = clock.Monotonic();
  EXPECT_GE(clock.Monotonic(), before);
  EXPECT_GT(clock.UnixTime(), seconds(1'600'000'000));
}

TEST(CondVar, NotifiedThread_SeesTheState) {
  Mutex mutex;
  CondVar changed;
  bool ready = false;
  std::jthread other([&] {
    const MutexLock lock(mutex);
    ready = true;
    changed.NotifyAll();
  });
  const MutexLock lock(mutex);
  while (!ready) {
    changed.Wait(mutex);
  }
  EXPECT_TRUE(ready);
}

TEST(CondVar, NobodyNotifies_WaitEnds) {
  Mutex mutex;
  CondVar changed;
  const MutexLock lock(mutex);
  while (changed.WaitFor(mutex, std::chrono::milliseconds(1))) {
  }
}

}  // namespace
}  // namespace kiln
