// SPDX-License-Identifier: MIT
// How work ends before it is done. Whoever runs a call says on the thread that does the work when
// nobody waits for it any more and how much memory it may take; loops whose length or memory is the
// sender's choice ask. This is no input of a stage: it decides whether there is a result, never
// which. Outside of a scope both functions do nothing, so programs without calls pay nothing.
//   const StopScope scope({.stop = call.stop, .deadline = call.deadline, .bytes = most}, clock);
//   for (const Row& row : rows) { CheckStop(); … }
// See spec/daemon 9.1, 9.2
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>

#include "compiler/base/clock.h"

namespace kiln {

// Thrown by CheckStop and ChargeMemory through everything up to whoever opened the scope, who turns
// it into an error. What it passes through was not finished and must not be used again.
class Stopped final : public std::exception {
 public:
  enum class Why : uint8_t { kLeft, kDeadline, kMemory, kCpu };

  explicit Stopped(Why why, uint64_t actual = 0, uint64_t most = 0)
      : why_(why), actual_(actual), most_(most) {}
  const char* what() const noexcept override { return "the work was stopped"; }
  Why why() const { return why_; }
  // Bytes that were asked for and that there are: kMemory. Milliseconds: kCpu.
  uint64_t actual() const { return actual_; }
  uint64_t most() const { return most_; }

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
  Duration cpu = Duration::max();  // that the thread may work from `cpu_begin` on
  // ThreadCpu at the beginning, if the caller has asked for it; else it is asked for here.
  std::optional<Duration> cpu_begin = std::nullopt;
  // Told before the work is stopped for that; null: nobody is.
  std::function<void()> on_cpu = nullptr;
};

// As long as it lives, its thread works within the bounds. Scopes nest: the innermost decides, with
// no more memory and CPU time than the one around it has left; what was charged goes with the
// scope.
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
  friend bool IsStopping();
  friend class ChargedMemory;

  void Look();
  void LookAtCpu(Duration now);
  void Charge(uint64_t bytes);

  StopBounds bounds_;
  Clock& clock_;
  StopScope* const outer_;
  uint64_t charged_ = 0;
  uint32_t looks_ = 0;                      // until the clock is asked again
  Duration cpu_begin_ = Duration::zero();   // ThreadCpu of the start
  Duration cpu_end_ = Duration::max();      // and of the end
  Duration look_at_cpu_ = Duration::max();  // of Monotonic: no thread works longer than time passes
  // Constant from the start, so that to look at it is one instruction.
  inline static constinit thread_local StopScope* innermost_ = nullptr;
};

// To be called about once a microsecond of work, at least once a millisecond. Throws Stopped.
inline void CheckStop() {
  if (StopScope::innermost_ != nullptr) {
    StopScope::innermost_->Look();
  }
}

// Whether CheckStop would throw, but for a deadline that may be put off: for callbacks of
// libraries, through which nothing may be thrown.
bool IsStopping();

// To be called before memory is taken whose size somebody else chose. Throws Stopped.
inline void ChargeMemory(uint64_t bytes) {
  if (StopScope::innermost_ != nullptr) {
    StopScope::innermost_->Charge(bytes);
  }
}

// What takes a few milliseconds: bytes of others are hashed, copied and compressed in such parts,
// and between two of them it is asked whether anybody wants the rest.
inline constexpr size_t kPartBytes = size_t{1} << 20;

// `part(offset, size)` for each part of `size` bytes. One part alone asks nothing, so nobody has to
// expect that work on few bytes is stopped.
template <class Part>
void InParts(size_t size, Part part, size_t most = kPartBytes) {
  for (size_t offset = 0; offset < size; offset += most) {
    if (offset != 0) {
      CheckStop();
    }
    part(offset, size - offset < most ? size - offset : most);
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
