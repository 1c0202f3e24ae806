// SPDX-License-Identifier: MIT
// One thread that runs the steps of all streams of a service, one after the other, and a tick in
// between. What runs only here needs no lock. A step must not block: it would hold up all streams.
#include "server/rpc/reactors/event_pump.h"

#include <chrono>
#include <utility>

namespace kiln::rpc {

EventPump::EventPump(Duration period, std::function<void()> tick, LogSink& log)
    : period_(period),
      tick_(std::move(tick)),
      log_(log),
      thread_({.name = "steps", .log = &log}, [this](const std::stop_token& stop) { Loop(stop); }) {
}

// Only asks for the end. The thread is joined when the member goes, which is declared last.
EventPump::~EventPump() {
  const MutexLock lock(mutex_);
  thread_.request_stop();
  changed_.NotifyAll();
}

void EventPump::Post(std::function<void()> step) {
  const MutexLock lock(mutex_);
  steps_.push_back(std::move(step));
  changed_.NotifyOne();
}

// An exception costs its step. The thread goes on, since all calls of the service depend on it.
void EventPump::Run(const std::function<void()>& step) {
  if (const Result<void> ran = CatchAll(step); !ran.ok()) {
    (void)CatchAll([&] {
      log_.Write(LogLevel::kError, "rpc", "a step failed", {{"what", ran.error().context}});
    });
  }
}

void EventPump::Loop(const std::stop_token& stop) {
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  Duration next_tick = now() + period_;
  for (;;) {
    std::function<void()> step;
    {
      const MutexLock lock(mutex_);
      // What was posted is run before the thread ends, since calls wait for their last step.
      while (steps_.empty() && !stop.stop_requested() && now() < next_tick) {
        (void)changed_.WaitFor(mutex_, next_tick - now());
      }
      if (!steps_.empty()) {
        step = std::move(steps_.front());
        steps_.pop_front();
      } else if (stop.stop_requested()) {
        return;
      }
    }
    if (step != nullptr) {
      Run(step);
    }
    // Ticks come between steps, however many there are, and are not made up for: a late tick is one
    // tick.
    if (now() >= next_tick) {
      Run(tick_);
      next_tick = now() + period_;
    }
  }
}

}  // namespace kiln::rpc
