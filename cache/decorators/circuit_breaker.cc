// SPDX-License-Identifier: MIT
#include "cache/decorators/circuit_breaker.h"

namespace kiln::cache {

bool CircuitBreaker::Admit() {
  const MutexLock lock(mutex_);
  if (!open_) {
    return true;
  }
  const Duration now = clock_.Monotonic();
  if (now < retry_at_) {
    return false;
  }
  retry_at_ = now + kPause;  // the others wait for this one
  return true;
}

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
    if (open_ || failures_ < kFailures) {
      return;
    }
    open_ = true;
    retry_at_ = clock_.Monotonic() + kPause;
    open_since_s_ = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  }
  on_change_(true);
}

std::optional<int64_t> CircuitBreaker::OpenSince() {
  const MutexLock lock(mutex_);
  return open_ ? std::optional(open_since_s_) : std::nullopt;
}

}  // namespace kiln::cache
