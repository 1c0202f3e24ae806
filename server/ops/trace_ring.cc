// SPDX-License-Identifier: MIT
// The last calls that ended, for `kiln status --trace`. A search goes through all of them, a few
// thousand at most, under the mutex that each ended call takes for a moment.
#include "server/ops/trace_ring.h"

#include <utility>

namespace kiln::ops {

void TraceRing::Add(CallTrace trace) {
  const MutexLock lock(mutex_);
  traces_.push_back(std::move(trace));
  if (traces_.size() > kKept) {
    traces_.pop_front();
  }
}

std::vector<CallTrace> TraceRing::Find(std::string_view id) {
  std::vector<CallTrace> found;
  const MutexLock lock(mutex_);
  for (const CallTrace& trace : traces_) {
    if (trace.id == id) {
      found.push_back(trace);
    }
  }
  return found;
}

}  // namespace kiln::ops
