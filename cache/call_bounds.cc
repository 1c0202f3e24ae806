// SPDX-License-Identifier: MIT
// Whether a call may go on, and what is told to it if not (spec/daemon 9). Long loops ask between
// their steps; a look costs a few nanoseconds, and a clock is read only if there is a deadline.
#include "cache/call_bounds.h"

#include <string>

namespace kiln::cache {

// The caller having left comes before the deadline: whoever left does not read the other answer.
Result<void> StillWanted(const Call& call, Clock& clock) {
  if (call.stop.stop_requested()) {
    return ErrorOf(Stopped(Stopped::Why::kLeft));
  }
  if (call.deadline != Deadline::max() && clock.Monotonic() >= call.deadline) {
    return ErrorOf(Stopped(Stopped::Why::kDeadline));
  }
  return {};
}

// The one place where a stop becomes an error of the interface, so one cause has one code
// everywhere.
Error ErrorOf(const Stopped& stopped) {
  switch (stopped.why()) {
    case Stopped::Why::kLeft:
      return {.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}};
    case Stopped::Why::kDeadline:
      return {.code = ErrorCode::kDeadlineExceeded,
              .context = "the deadline passed before the work was done",
              .reason = {}};
    case Stopped::Why::kMemory:
    case Stopped::Why::kCpu:
      break;
  }
  const bool memory = stopped.why() == Stopped::Why::kMemory;
  return {.code = ErrorCode::kResourceExhausted,
          .context = (memory ? "memory of a call: " : "cpu of a job: ") +
                     std::to_string(stopped.actual()) + " exceeds the limit of " +
                     std::to_string(stopped.most()),
          .reason = "LIMIT_EXCEEDED"};
}

}  // namespace kiln::cache
