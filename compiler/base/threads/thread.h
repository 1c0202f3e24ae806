// SPDX-License-Identifier: MIT
// Threads out of which no exception comes: what nobody caught is told to a log, and the thread goes
// on or ends, as it was made to. Each has a stack for signal handlers (signal_stack.h). Every
// thread of kiln is one of these (tests/check_threads.py).
//   thread_ = Thread({.name = "journal", .log = &log}, [this](const auto&) { Replay(); });
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "compiler/base/log.h"
#include "compiler/base/result.h"

namespace kiln {

// What is being thrown, as an error: kResourceExhausted with reason OUT_OF_MEMORY for
// std::bad_alloc, else kInternal with reason BUG and what the exception says. To be called in a
// handler only. Never throws; says less if there is no memory for more.
Error ThrownError() noexcept;

// Runs `step`. Errors: what it threw (ThrownError).
template <class Step>
Result<void> CatchAll(Step&& step) noexcept {
  try {
    std::forward<Step>(step)();
    return {};
  } catch (...) {
    return ThrownError();
  }
}

// Threads: by one at a time, but for request_stop. Destruction requests a stop and joins.
class Thread {
 public:
  // What comes after an exception that left the body.
  enum class AfterThrow : uint8_t {
    kGoesOn,  // the body is called again, after 10 ms: a loop that lost one round
    kEnds,    // nothing
  };
  struct Entry {
    std::string_view name;  // a literal: what the log calls it
    AfterThrow after_throw = AfterThrow::kGoesOn;
    LogSink* log = nullptr;  // outlives the thread; null: standard error
  };
  using Body = std::function<void(const std::stop_token& stop)>;

  Thread() = default;
  // Starts at once. A body that goes on must be one that can be called again. Throws
  // std::system_error if the system has no thread left.
  Thread(const Entry& entry, Body body);

  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }
  void request_stop() { thread_.request_stop(); }

 private:
  std::jthread thread_;
};

}  // namespace kiln
