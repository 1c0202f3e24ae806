// SPDX-License-Identifier: MIT
// Time as an argument: a clock is passed to whatever waits, measures or expires. Tests pass
// FakeClock.
#pragma once

#include <chrono>

#include "compiler/base/mutex.h"

namespace kiln {

using Duration = std::chrono::nanoseconds;

// Safe from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  // Since an arbitrary start; never goes back. For durations and deadlines.
  virtual Duration Monotonic() = 0;
  // Since 1970-01-01 UTC; may jump. For people and for rows that outlive the process.
  virtual Duration UnixTime() = 0;
  // What the calling thread has worked. Costs about a third of a microsecond.
  virtual Duration ThreadCpu();
};

class SystemClock final : public Clock {
 public:
  Duration Monotonic() override;
  Duration UnixTime() override;
};

// Stands still until it is told to move on.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Duration unix_time = std::chrono::seconds(1'000'000'000))
      : unix_start_(unix_time) {}

  Duration Monotonic() override;
  Duration UnixTime() override;
  Duration ThreadCpu() override;  // of any thread
  void Advance(Duration by);
  void Work(Duration by);  // passes, and is worked

 private:
  const Duration unix_start_;
  Mutex mutex_;
  Duration passed_ KILN_GUARDED_BY(mutex_) = Duration::zero();
  Duration worked_ KILN_GUARDED_BY(mutex_) = Duration::zero();
};

}  // namespace kiln
