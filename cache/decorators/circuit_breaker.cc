// SPDX-License-Identifier: MIT
// Keeps a store that waits for an upstream from waiting for a dead one (spec/cache 7). Closed: all
// calls go through. After kFailures in a row it opens, and calls fail at once. Each kPause one call
// is let through, and its success closes the breaker again. Any thread may call; one mutex guards
// the state.
#include "cache/decorators/circuit_breaker.h"

namespace kiln::cache {

bool CircuitBreaker::Admit() {
  const MutexLock lock(mutex_);
  if (!open_) {
    return true;
  }
  // Open: one call for each pause may try. It moves the time on before it goes, so calls that come
  // meanwhile fail at once instead of waiting with it.
  const Duration now = clock_.Monotonic();
  if (now < retry_at_) {
    return false;
  }
  retry_at_ = now + kPause;  // the others wait for this one
  return true;
}

// A success while open can be the call that was let through or one that was under way before; both
// prove that the upstream answers.
void CircuitBreaker::Succeeded() {
  {
    const MutexLock lock(mutex_);
    failures_ = 0;
    if (!open_) {
      return;
    }
    open_ = false;
  }
  on_change_(false);
}

void CircuitBreaker::Failed() {
  {
    const MutexLock lock(mutex_);
    ++failures_;
    // A run of failures opens, not a single one: any success in between begins the count anew.
    if (open_ || failures_ < kFailures) {
      return;
    }
    open_ = true;
    retry_at_ = clock_.Monotonic() + kPause;
    open_since_s_ = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  }
  // Called without the mutex, because it writes a log line and may ask this object.
  on_change_(true);
}

std::optional<int64_t> CircuitBreaker::OpenSince() {
  const MutexLock lock(mutex_);
  return open_ ? std::optional(open_since_s_) : std::nullopt;
}

}  // namespace kiln::cache
