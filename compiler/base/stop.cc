// SPDX-License-Identifier: MIT
#include "compiler/base/stop.h"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

constexpr uint32_t kLooksPerTime = 16;  // the clock costs more than the token

}  // namespace

StopScope::StopScope(StopBounds bounds, Clock& clock)
    : bounds_(std::move(bounds)), clock_(clock), outer_(innermost_) {
  if (outer_ != nullptr) {
    bounds_.bytes = std::min(bounds_.bytes, outer_->bounds_.bytes - outer_->charged_);
  }
  innermost_ = this;
}

StopScope::~StopScope() { innermost_ = outer_; }

void StopScope::Look() {
  if (bounds_.stop.stop_requested()) {
    throw Stopped(Stopped::Why::kLeft);
  }
  if (looks_-- != 0) {
    return;
  }
  looks_ = kLooksPerTime;
  if (bounds_.deadline == Duration::max() || clock_.Monotonic() < bounds_.deadline) {
    return;
  }
  if (bounds_.later != nullptr) {
    bounds_.deadline = bounds_.later();
    if (clock_.Monotonic() < bounds_.deadline) {
      return;
    }
  }
  throw Stopped(Stopped::Why::kDeadline);
}

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

ChargedMemory::~ChargedMemory() {
  if (scope_ != nullptr) {
    scope_->charged_ = before_;
  }
}

}  // namespace kiln
