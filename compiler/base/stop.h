// SPDX-License-Identifier: MIT
// How work ends before it is done. Whoever runs a call says on the thread that does the work when
// nobody waits for it any more and how much memory it may take; loops whose length or memory is the
// sender's choice ask. This is no input of a stage: it decides whether there is a result, never
// which. Outside of a scope both functions do nothing, so programs without calls pay nothing.
//   const StopScope scope({.stop = call.stop, .deadline = call.deadline, .bytes = most}, clock);
//   for (const Row& row : rows) { CheckStop(); … }
// Spec: daemon §9.1, §9.2
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <stop_token>

#include "compiler/base/clock.h"

namespace kiln {

// Thrown by CheckStop and ChargeMemory through everything up to whoever opened the scope, who turns
// it into an error. What it passes through was not finished and must not be used again.
class Stopped final : public std::exception {
 public:
  enum class Why : uint8_t { kLeft, kDeadline, kMemory };

  explicit Stopped(Why why, uint64_t actual = 0, uint64_t most = 0)
      : why_(why), actual_(actual), most_(most) {}
  const char* what() const noexcept override { return "the work was stopped"; }
  Why why() const { return why_; }
  uint64_t actual() const { return actual_; }  // bytes that were asked for; kMemory
  uint64_t most() const { return most_; }      // bytes that there are; kMemory

 private:
  Why why_;
  uint64_t actual_, most_;
};

struct StopBounds {
  std::stop_token stop = {};
  Duration deadline = Duration::max();                    // of Clock::Monotonic
  uint64_t bytes = std::numeric_limits<uint64_t>::max();  // that may be charged
  // Asked once the deadline has passed: until when somebody else waits for the same work; null:
  // nobody does.
  std::function<Duration()> later = nullptr;
};

// As long as it lives, its thread works within the bounds. Scopes nest: the innermost decides, with
// no more memory than the one around it has left; what was charged goes with the scope.
class StopScope {
 public:
  // `clock` must outlive the scope.
  StopScope(StopBounds bounds, Clock& clock);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  friend void CheckStop();
  friend void ChargeMemory(uint64_t bytes);
  friend class ChargedMemory;

  void Look();
  void Charge(uint64_t bytes);

  StopBounds bounds_;
  Clock& clock_;
  StopScope* const outer_;
  uint64_t charged_ = 0;
  uint32_t looks_ = 0;  // until the clock is asked again
  // Constant from the start, so that to look at it is one instruction.
  inline static constinit thread_local StopScope* innermost_ = nullptr;
};

// To be called about once a microsecond of work, at least once a millisecond. Throws Stopped.
inline void CheckStop() {
  if (StopScope::innermost_ != nullptr) {
    StopScope::innermost_->Look();
  }
}

// To be called before memory is taken whose size somebody else chose. Throws Stopped.
inline void ChargeMemory(uint64_t bytes) {
  if (StopScope::innermost_ != nullptr) {
    StopScope::innermost_->Charge(bytes);
  }
}

// What is charged while it lives, within one scope, is given back when it ends.
class ChargedMemory {
 public:
  ChargedMemory();
  ~ChargedMemory();
  ChargedMemory(const ChargedMemory&) = delete;
  ChargedMemory& operator=(const ChargedMemory&) = delete;

 private:
  StopScope* const scope_;
  const uint64_t before_;
};

}  // namespace kiln
