// SPDX-License-Identifier: MIT
// One thread that runs steps in order, and a tick now and then: for calls that are driven by events
// of others, because both who makes an event and gRPC call from inside of locks.
//
// Threads: Post from any thread.
#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::rpc {

class StepThread {
 public:
  // `tick` runs in the thread about every `period`; it must outlive the object.
  StepThread(Duration period, std::function<void()> tick);
  // Runs what was posted, then ends.
  ~StepThread();
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;

  void Post(std::function<void()> step);

 private:
  void Loop(const std::stop_token& stop);

  const Duration period_;
  const std::function<void()> tick_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> steps_ KILN_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace kiln::rpc
