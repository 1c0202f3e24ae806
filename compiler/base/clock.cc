// SPDX-License-Identifier: MIT
// The system's clocks and the fake one.
#include "compiler/base/clock.h"

namespace kiln {

Duration SystemClock::Monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

Duration SystemClock::UnixTime() { return std::chrono::system_clock::now().time_since_epoch(); }

Duration FakeClock::Monotonic() {
  const MutexLock lock(mutex_);
  return passed_;
}

Duration FakeClock::UnixTime() { return unix_start_ + Monotonic(); }

void FakeClock::Advance(Duration by) {
  const MutexLock lock(mutex_);
  passed_ += by;
}

}  // namespace kiln
