// SPDX-License-Identifier: MIT
// What the machine feels comes in; out of it come fewer jobs of the batch lane, caches in memory
// that are dropped, batch work that is refused. Spec: daemon §5.5, §9.5
//
// Threads: Look by one at a time, the rest from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "server/jobs/politeness.h"
#include "server/jobs/queue.h"
#include "server/ops/machine.h"
#include "server/ops/service_state.h"

namespace kiln::server {

class LoadWatch {
 public:
  struct Options {
    uint32_t workers = 1;
    bool polite = false;                // whether others' need slows batch work
    std::function<void()> drop_caches;  // those in memory
    // As ops::Pressure.
    std::function<std::optional<double>(const std::string& resource)> pressure = ops::Pressure;
  };

  // All must outlive the object.
  LoadWatch(Options options, jobs::JobQueue& queue, ops::ServiceState& state, Clock& clock,
            LogSink& log)
      : options_(std::move(options)),
        queue_(queue),
        state_(state),
        clock_(clock),
        log_(log),
        politeness_(options_.workers) {}

  // Of resident memory, in bytes.
  struct MemoryLimits {
    uint64_t soft = UINT64_MAX;
    uint64_t hard = UINT64_MAX;
  };
  // To be called again and again. Above the soft limit what can be had again is dropped, and if
  // that does not help, fewer batch jobs run; above the hard one batch work waits outside, and
  // interactive work has one thread.
  void Look(const MemoryLimits& limits);

  bool memory_is_tight() const { return tight_.load(); }
  // What batch work makes way for: cpu, memory, io; or empty.
  std::string slowed_by() const;

 private:
  void SlowBatch(bool still_tight);

  const Options options_;
  jobs::JobQueue& queue_;
  ops::ServiceState& state_;
  Clock& clock_;
  LogSink& log_;
  std::atomic<bool> tight_ = false;
  bool narrow_ = false;  // interactive work has one thread
  Duration next_look_ = Duration::min();
  jobs::Politeness politeness_;
  mutable Mutex mutex_;
  std::string slowed_by_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::server
