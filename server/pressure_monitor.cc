// SPDX-License-Identifier: MIT
// Looks at memory and at the pressure figures of the kernel, and slows the daemon down in steps
// (spec/daemon 9.5). Only the main thread calls Look, twice a second; the other members may be
// asked by any thread.
#include "server/pressure_monitor.h"

#include <algorithm>
#include <malloc.h>

namespace kiln::server {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(1);  // at pressure
constexpr uint32_t kAll = UINT32_MAX;

}  // namespace

uint64_t PressureMonitor::UnusedBytes() { return mallinfo2().fordblks; }

void PressureMonitor::GiveBackUnused() { (void)malloc_trim(0); }

// At most once in kGiveBackEvery, however much memory is unused.
void PressureMonitor::GiveBack(uint64_t resident, Duration now) {
  // The floor is what the process needed at least since the last time. What is far above it is
  // likely to be unused memory that the allocator keeps; only then it is asked, which takes all of
  // its locks.
  floor_ = std::min(floor_, resident);
  if (resident - floor_ < kWorthGivingBack || now < next_give_back_) {
    return;
  }
  next_give_back_ = now + kGiveBackEvery;
  if (options_.unused() >= kWorthGivingBack) {
    options_.give_back();
    floor_ = options_.resident();
  }
}

void PressureMonitor::Look(const MemoryLimits& limits) {
  const uint64_t resident = options_.resident();
  const bool tight = resident > limits.soft;
  if (tight) {
    // In the order of spec/daemon 9.5: first memory that can be had again, then fewer batch jobs,
    // then none, and interactive work with one thread.
    options_.drop_caches();
    options_.give_back();  // what large messages left behind goes back to the system
  }
  // Told when it changes, and not with each look.
  if (tight != tight_.exchange(tight)) {
    log_.Write(LogLevel::kWarning, "memory",
               tight ? "above the soft limit" : "below the soft limit", {{"resident", resident}});
  }
  const bool too_much = resident > limits.hard;
  state_.TakeBatchWork(!too_much);
  if (too_much != narrow_) {
    narrow_ = too_much;
    queue_.Limit(jobs::Lane::kInteractive, too_much ? 1 : kAll);
  }
  const Duration now = clock_.Monotonic();
  GiveBack(resident, now);
  if (now >= next_look_) {
    next_look_ = now + kLookEvery;
    // Asked again, because dropping the caches may have been enough.
    SlowBatch(tight && options_.resident() > limits.soft);
  }
}

// The throttle decides from several looks, so one peak changes nothing.
void PressureMonitor::SlowBatch(bool still_tight) {
  jobs::BatchThrottle::PressureSample seen{.memory_is_tight = still_tight};
  if (options_.polite) {
    seen.cpu = options_.pressure("cpu").value_or(0);
    seen.memory = options_.pressure("memory").value_or(0);
    seen.io = options_.pressure("io").value_or(0);
  }
  const uint32_t before = throttle_.most();
  throttle_.Look(seen);
  const uint32_t most = throttle_.most();
  if (most == before) {
    return;
  }
  queue_.Limit(jobs::Lane::kBatch, most == options_.workers ? kAll : most);
  log_.Write(LogLevel::kInfo, "jobs", "batch work runs side by side",
             {{"jobs", most}, {"slowed_by", throttle_.slowed_by()}});
  const MutexLock lock(mutex_);
  slowed_by_ = throttle_.slowed_by();
}

std::string PressureMonitor::slowed_by() const {
  const MutexLock lock(mutex_);
  return slowed_by_;
}

}  // namespace kiln::server
