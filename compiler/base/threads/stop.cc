// SPDX-License-Identifier: MIT
#include "compiler/base/threads/stop.h"

#include <algorithm>
#include <utility>

#include "compiler/base/threads/slow_step.h"

namespace kiln {

StopScope::StopScope(StopBounds bounds, Clock& clock)
    : bounds_(std::move(bounds)), clock_(clock), outer_(innermost_) {
  // Memory and CPU time that are left of the outer bounds are bounds of the inner scope, too; token
  // and deadline are not. The CPU time is kept as the same end, not as a rest, so time that passes
  // in the inner scope counts for both.
  if (outer_ != nullptr) {
    bounds_.bytes = std::min(bounds_.bytes, outer_->bounds_.bytes - outer_->charged_);
    cpu_begin_ = outer_->cpu_begin_;
    cpu_end_ = outer_->cpu_end_;
    look_at_cpu_ = outer_->look_at_cpu_;
  }
  // The narrower end wins. Until that much time has passed on the wall nobody needs to ask for the
  // time of the thread.
  if (bounds_.cpu != Duration::max()) {
    const Duration begin = bounds_.cpu_begin.has_value() ? *bounds_.cpu_begin : clock_.ThreadCpu();
    if (begin + bounds_.cpu < cpu_end_) {
      cpu_begin_ = begin;
      cpu_end_ = begin + bounds_.cpu;
      look_at_cpu_ = clock_.Monotonic() + bounds_.cpu;
    }
  }
  innermost_ = this;
}

StopScope::~StopScope() { innermost_ = outer_; }

void StopScope::Look() {
  // A token is an atomic load, asked for each time; the clock, which costs more, only every few
  // calls.
  if (bounds_.stop.stop_requested()) {
    throw Stopped(Stopped::Why::kLeft);
  }
  if (looks_-- != 0) {
    return;
  }
  looks_ = kLooksPerTime - 1;
  if (bounds_.deadline == Duration::max() && look_at_cpu_ == Duration::max()) {
    return;
  }
  const Duration now = clock_.Monotonic();
  if (now >= look_at_cpu_) {
    LookAtCpu(now);
  }
  if (now < bounds_.deadline) {
    return;
  }
  // Others may have joined the same work with a later deadline since. That is asked for only when
  // the known one has passed.
  if (bounds_.later != nullptr) {
    bounds_.deadline = bounds_.later();
    if (clock_.Monotonic() < bounds_.deadline) {
      return;
    }
  }
  throw Stopped(Stopped::Why::kDeadline);
}

// The clock of the thread costs much more than that of the machine, so it is asked only when as
// much time has passed as there was CPU time left.
void StopScope::LookAtCpu(Duration now) {
  const Duration worked = clock_.ThreadCpu();
  if (worked <= cpu_end_) {
    look_at_cpu_ = now + (cpu_end_ - worked);
    return;
  }
  if (bounds_.on_cpu != nullptr) {
    bounds_.on_cpu();
  }
  const auto milliseconds = [](Duration time) {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  };
  throw Stopped(Stopped::Why::kCpu, milliseconds(worked - cpu_begin_),
                milliseconds(cpu_end_ - cpu_begin_));
}

// A deadline that could be put off counts as none: only CheckStop asks whether it was.
bool IsStopping() {
  const StopScope* const scope = StopScope::innermost_;
  if (scope == nullptr) {
    return false;
  }
  const StopBounds& bounds = scope->bounds_;
  return bounds.stop.stop_requested() ||
         (bounds.deadline != Duration::max() && bounds.later == nullptr &&
          scope->clock_.Monotonic() >= bounds.deadline);
}

// Written as a subtraction: `charged_ + bytes` could overflow for a size from a hostile file.
void StopScope::Charge(uint64_t bytes) {
  if (bytes > bounds_.bytes - charged_) {
    const uint64_t most = std::numeric_limits<uint64_t>::max();
    throw Stopped(Stopped::Why::kMemory, bytes > most - charged_ ? most : charged_ + bytes,
                  bounds_.bytes);
  }
  charged_ += bytes;
}

ChargedMemory::ChargedMemory()
    : scope_(StopScope::innermost_), before_(scope_ == nullptr ? 0 : scope_->charged_) {}

// The count is set back and not subtracted from: whatever was charged in between is gone too.
ChargedMemory::~ChargedMemory() {
  if (scope_ != nullptr) {
    scope_->charged_ = before_;
  }
}

}  // namespace kiln
