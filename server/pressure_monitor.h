// SPDX-License-Identifier: MIT
// What the machine feels comes in; out of it come fewer jobs of the batch lane, caches in memory
// that are dropped, batch work that is refused. See spec/daemon 5.5, 9.5
//
// Threads: Look by one at a time, the rest from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "server/jobs/batch_throttle.h"
#include "server/jobs/queue.h"
#include "server/ops/machine.h"
#include "server/ops/service_state.h"

namespace kiln::server {

class PressureMonitor {
 public:
  struct Options {
    uint32_t workers = 1;
    bool polite = false;                // whether others' need slows batch work
    std::function<void()> drop_caches;  // those in memory
    // As ops::Pressure.
    std::function<std::optional<double>(const std::string& resource)> pressure = ops::Pressure;
    // Of the process, in bytes: what it has of the machine, and what of that nothing uses.
    std::function<uint64_t()> resident = ops::ResidentBytes;
    std::function<uint64_t()> unused = UnusedBytes;
    std::function<void()> give_back = GiveBackUnused;
  };

  // What was freed stays with the process. When it has grown by so much since it was given back
  // last, and so much is free, it is given back again, not more often than this.
  static constexpr uint64_t kWorthGivingBack = uint64_t{64} << 20;
  static constexpr Duration kGiveBackEvery = std::chrono::seconds(10);

  // Of the allocator; the former takes a look at everything that is free.
  static uint64_t UnusedBytes();
  static void GiveBackUnused();

  // All must outlive the object.
  PressureMonitor(Options options, jobs::JobQueue& queue, ops::ServiceState& state, Clock& clock,
                  LogSink& log)
      : options_(std::move(options)),
        queue_(queue),
        state_(state),
        clock_(clock),
        log_(log),
        throttle_(options_.workers) {}

  // Of resident memory, in bytes.
  struct MemoryLimits {
    uint64_t soft = UINT64_MAX;
    uint64_t hard = UINT64_MAX;
  };
  // To be called again and again. Above the soft limit what can be had again is dropped, and if
  // that does not help, fewer batch jobs run; above the hard one batch work waits outside, and
  // interactive work has one thread. What calls have left behind is given back to the machine.
  void Look(const MemoryLimits& limits);

  bool memory_is_tight() const { return tight_.load(); }
  // What batch work makes way for: cpu, memory, io; or empty.
  std::string slowed_by() const;

 private:
  void SlowBatch(bool still_tight);
  void GiveBack(uint64_t resident, Duration now);

  const Options options_;
  jobs::JobQueue& queue_;
  ops::ServiceState& state_;
  Clock& clock_;
  LogSink& log_;
  std::atomic<bool> tight_ = false;
  bool narrow_ = false;  // interactive work has one thread
  Duration next_look_ = Duration::min();
  Duration next_give_back_ = Duration::min();
  uint64_t floor_ = 0;  // resident bytes when they were given back last, or less since
  jobs::BatchThrottle throttle_;
  mutable Mutex mutex_;
  std::string slowed_by_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::server
