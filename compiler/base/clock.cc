// SPDX-License-Identifier: MIT
// The system's clocks and the fake one.
#include "compiler/base/clock.h"

#include <ctime>

namespace kiln {

// The standard library has no clock of a thread, so this asks the system.
Duration Clock::ThreadCpu() {
  timespec time{};
  // It cannot fail for the thread that asks.
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

Duration SystemClock::Monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

Duration SystemClock::UnixTime() { return std::chrono::system_clock::now().time_since_epoch(); }

Duration FakeClock::Monotonic() {
  const MutexLock lock(mutex_);
  return passed_;
}

// One time moves both, so tests never see the two clocks disagree.
Duration FakeClock::UnixTime() { return unix_start_ + Monotonic(); }

Duration FakeClock::ThreadCpu() {
  const MutexLock lock(mutex_);
  return worked_;
}

// Work takes time, too: no thread computes longer than the clock on the wall has moved.
void FakeClock::Work(Duration by) {
  const MutexLock lock(mutex_);
  passed_ += by;
  worked_ += by;
}

void FakeClock::Advance(Duration by) {
  const MutexLock lock(mutex_);
  passed_ += by;
}

}  // namespace kiln
