// SPDX-License-Identifier: MIT
// A thread that does nothing until the process is told to end, and ends it if that takes too long
// (spec/daemon 14.5). It relies on nothing of the daemon: its clock is that of the system, and what
// it asks others is asked on another thread.
#include "server/stop_watchdog.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace kiln::server {
namespace {

constexpr Duration kPatience = std::chrono::milliseconds(500);  // with who knows what runs

Duration Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// What `ask` says, if it says it in time.
std::vector<std::string> AskInTime(std::function<std::vector<std::string>()> ask) {
  struct Answer {
    Mutex mutex;
    CondVar came;
    bool is_there KILN_GUARDED_BY(mutex) = false;
    std::vector<std::string> lines KILN_GUARDED_BY(mutex);
  };
  const auto answer = std::make_shared<Answer>();
  Thread asking({.name = "what runs", .after_throw = Thread::AfterThrow::kEnds},
                [answer, ask = std::move(ask)](const std::stop_token&) {
                  std::vector<std::string> lines = ask();
                  const MutexLock lock(answer->mutex);
                  answer->lines = std::move(lines);
                  answer->is_there = true;
                  answer->came.NotifyAll();
                });
  asking.detach();  // the process is about to end
  const Duration end = Now() + kPatience;
  const MutexLock lock(answer->mutex);
  while (!answer->is_there && Now() < end) {
    (void)answer->came.WaitFor(answer->mutex, end - Now());
  }
  return answer->is_there ? answer->lines : std::vector<std::string>{"who would know hangs, too"};
}

}  // namespace

StopWatchdog::StopWatchdog(LogSink& log, std::function<void()> end_process)
    : log_(log),
      end_process_(std::move(end_process)),
      thread_({.name = "stop watchdog", .log = &log},
              [this](const std::stop_token& stop) { Loop(stop); }) {}

StopWatchdog::~StopWatchdog() {
  const MutexLock lock(mutex_);
  thread_.request_stop();
  changed_.NotifyAll();
}

// The earlier of two times stays: a second request to stop never gives a hanging end more time.
void StopWatchdog::Arm(Duration within) {
  const MutexLock lock(mutex_);
  const Duration due = Now() + within;
  due_ = due_.has_value() ? std::min(*due_, due) : due;
  changed_.NotifyAll();
}

// A literal: the view must outlive the object.
void StopWatchdog::WaitsFor(std::string_view what) {
  const MutexLock lock(mutex_);
  waits_for_ = what;
}

// Null before the queue goes, or the watchdog would ask what is no more.
void StopWatchdog::Observe(std::function<std::vector<std::string>()> what_runs) {
  const MutexLock lock(mutex_);
  what_runs_ = std::move(what_runs);
}

// Who hangs may hold any lock, so the one who knows what runs is asked on a thread of its own, for
// a bounded time; its answer belongs to both, because either may be gone first.
void StopWatchdog::Tell() {
  std::string_view waits_for;
  std::function<std::vector<std::string>()> what_runs;
  {
    const MutexLock lock(mutex_);
    waits_for = waits_for_;
    what_runs = what_runs_;
  }
  log_.Write(LogLevel::kError, "daemon", "does not end in time; the process ends now",
             {{"waits_for", waits_for}});
  if (what_runs != nullptr) {
    for (const std::string& line : AskInTime(std::move(what_runs))) {
      log_.Write(LogLevel::kError, "daemon", "still runs", {{"what", line}});
    }
  }
}

void StopWatchdog::Loop(const std::stop_token& stop) {
  {
    const MutexLock lock(mutex_);
    while (!stop.stop_requested() && !(due_.has_value() && *due_ <= Now())) {
      if (due_.has_value()) {
        (void)changed_.WaitFor(mutex_, *due_ - Now());
      } else {
        changed_.Wait(mutex_);
      }
    }
    if (stop.stop_requested()) {
      return;
    }
  }
  // The process ends even if telling fails: that is the whole point of this thread.
  (void)CatchAll([this] { Tell(); });
  end_process_();
}

}  // namespace kiln::server
