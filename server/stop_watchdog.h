// SPDX-License-Identifier: MIT
// The promise that a daemon which is asked to end ends, whatever hangs: once the time is over the
// log says what it waits for and what runs, and the process ends. What was acknowledged is on disk
// by then, as after kill -9. See spec/daemon 14.5
//
// Threads: all functions may run concurrently; one mutex, never held while others are called.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::server {

class StopWatchdog {
 public:
  // What kilnd exits with; see docs/users/operations.md.
  static constexpr int kExitHung = 71;
  // Beyond the time of a drain.
  static constexpr Duration kMargin = std::chrono::seconds(5);

  // `end_process` is called in a thread of the watchdog's, once, and need not return. The log must
  // outlive it.
  StopWatchdog(LogSink& log, std::function<void()> end_process);
  ~StopWatchdog();
  StopWatchdog(const StopWatchdog&) = delete;
  StopWatchdog& operator=(const StopWatchdog&) = delete;

  // The end is due `within` this time, of the steady clock. The earliest one counts.
  void Arm(Duration within);
  // What the end waits for from now on, for the log. A literal.
  void WaitsFor(std::string_view what);
  // Who knows what runs: one line each. It may hang, and is left alone then. Null: nobody.
  void Observe(std::function<std::vector<std::string>()> what_runs);

 private:
  void Loop(const std::stop_token& stop);
  void Tell();

  LogSink& log_;
  const std::function<void()> end_process_;
  Mutex mutex_;
  CondVar changed_;
  std::optional<Duration> due_ KILN_GUARDED_BY(mutex_);
  std::string_view waits_for_ KILN_GUARDED_BY(mutex_) = "what it is doing";
  std::function<std::vector<std::string>()> what_runs_ KILN_GUARDED_BY(mutex_);
  Thread thread_;  // last: it uses the rest
};

}  // namespace kiln::server
