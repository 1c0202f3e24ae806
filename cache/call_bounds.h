// SPDX-License-Identifier: MIT
// Whether a call is still wanted: its caller has not left, and its time is not over. The place
// where work that was stopped (compiler/base/threads/stop) becomes an error.
//   return WhileWanted(call, kCallBytes, clock, [&] { return Count(space); });
#pragma once

#include <limits>
#include <utility>

#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {

// Errors: kCancelled, kDeadlineExceeded.
Result<void> StillWanted(const Call& call, Clock& clock);

// What a piece of work that was stopped ends with. Errors: as StillWanted; kResourceExhausted with
// reason LIMIT_EXCEEDED.
Error ErrorOf(const Stopped& stopped);

// No bound of memory but that of the scope around.
inline constexpr uint64_t kAnyBytes = std::numeric_limits<uint64_t>::max();

// What `work` returns, a Result, within bounds: what it calls asks CheckStop and ChargeMemory.
// Errors: also those of ErrorOf.
template <class Work>
auto Within(StopBounds bounds, Clock& clock, Work work) -> decltype(work()) {
  try {
    const StopScope scope(std::move(bounds), clock);
    return work();
  } catch (const Stopped& stopped) {
    return ErrorOf(stopped);
  }
}

// The same within those of a call.
template <class Work>
auto WhileWanted(const Call& call, uint64_t bytes, Clock& clock, Work work,
                 Duration cpu = Duration::max()) -> decltype(work()) {
  return Within({.stop = call.stop, .deadline = call.deadline, .bytes = bytes, .cpu = cpu}, clock,
                std::move(work));
}

}  // namespace kiln::cache
