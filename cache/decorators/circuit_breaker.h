// SPDX-License-Identifier: MIT
// When another machine is asked at all: after five failures in a row it is left alone for thirty
// seconds, then one call tries again. See spec/cache 5.3, 7.4
//
// Threads: all functions may run concurrently.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

class CircuitBreaker {
 public:
  static constexpr uint32_t kFailures = 5;
  static constexpr Duration kPause = std::chrono::seconds(30);

  // The clock must outlive the object. `on_change` gets every change of state, outside of locks.
  explicit CircuitBreaker(
      Clock& clock, std::function<void(bool is_open)> on_change = [](bool) {})
      : clock_(clock), on_change_(std::move(on_change)) {}

  // Whether to call now. A caller that gets true must report how the call went.
  bool Admit();
  void Succeeded();
  void Failed();

  // Since when nobody is called, as Unix seconds; nothing if calls are admitted.
  std::optional<int64_t> OpenSince();

 private:
  Clock& clock_;
  const std::function<void(bool)> on_change_;
  Mutex mutex_;
  uint32_t failures_ KILN_GUARDED_BY(mutex_) = 0;  // in a row
  bool open_ KILN_GUARDED_BY(mutex_) = false;
  Duration retry_at_ KILN_GUARDED_BY(mutex_){};  // if open
  int64_t open_since_s_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::cache
