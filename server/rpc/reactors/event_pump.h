// SPDX-License-Identifier: MIT
// One thread that runs steps in order, and a tick now and then: for calls that are driven by events
// of others, because both who makes an event and gRPC call from inside of locks.
//
// Threads: Post from any thread.
#pragma once

#include <deque>
#include <functional>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::rpc {

class EventPump {
 public:
  // `tick` runs in the thread about every `period`; it must outlive the object, as does the log.
  // What a step or tick throws costs that one.
  EventPump(Duration period, std::function<void()> tick, LogSink& log);
  // Runs what was posted, then ends.
  ~EventPump();
  EventPump(const EventPump&) = delete;
  EventPump& operator=(const EventPump&) = delete;

  void Post(std::function<void()> step);

 private:
  void Run(const std::function<void()>& step);
  void Loop(const std::stop_token& stop);

  const Duration period_;
  const std::function<void()> tick_;
  LogSink& log_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> steps_ KILN_GUARDED_BY(mutex_);
  Thread thread_;  // last: it uses the rest
};

}  // namespace kiln::rpc
