// SPDX-License-Identifier: MIT
// One bounded wait.
#include "cache/wait.h"

#include <algorithm>

namespace kiln::cache {

Result<void> WaitOnce(CondVar& changed, Mutex& mutex, Clock& clock, const Call& call) {
  if (call.stop.stop_requested()) {
    return Error{.code = ErrorCode::kCancelled, .context = "the caller has left"};
  }
  const Duration left = call.deadline - clock.Monotonic();
  if (left <= Duration::zero()) {
    return Error{.code = ErrorCode::kDeadlineExceeded, .context = "waited up to the deadline"};
  }
  // Bounded, because adding the longest duration to the time of day overflows.
  changed.WaitFor(mutex, std::min<Duration>(left, std::chrono::hours(1)));
  return {};
}

}  // namespace kiln::cache
