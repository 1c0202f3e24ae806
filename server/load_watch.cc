// SPDX-License-Identifier: MIT
#include "server/load_watch.h"

#include <chrono>
#include <malloc.h>

namespace kiln::server {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(1);  // at pressure
constexpr uint32_t kAll = UINT32_MAX;

}  // namespace

void LoadWatch::Look(const MemoryLimits& limits) {
  uint64_t resident = ops::ResidentBytes();
  const bool tight = resident > limits.soft;
  if (tight) {
    options_.drop_caches();
    (void)malloc_trim(0);  // what large messages left behind goes back to the system
  }
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
  if (now >= next_look_) {
    next_look_ = now + kLookEvery;
    SlowBatch(tight && ops::ResidentBytes() > limits.soft);
  }
}

void LoadWatch::SlowBatch(bool still_tight) {
  jobs::Politeness::Seen seen{.memory_is_tight = still_tight};
  if (options_.polite) {
    seen.cpu = options_.pressure("cpu").value_or(0);
    seen.memory = options_.pressure("memory").value_or(0);
    seen.io = options_.pressure("io").value_or(0);
  }
  const uint32_t before = politeness_.most();
  politeness_.Look(seen);
  const uint32_t most = politeness_.most();
  if (most == before) {
    return;
  }
  queue_.Limit(jobs::Lane::kBatch, most == options_.workers ? kAll : most);
  log_.Write(LogLevel::kInfo, "jobs", "batch work runs side by side",
             {{"jobs", most}, {"slowed_by", politeness_.slowed_by()}});
  const MutexLock lock(mutex_);
  slowed_by_ = politeness_.slowed_by();
}

std::string LoadWatch::slowed_by() const {
  const MutexLock lock(mutex_);
  return slowed_by_;
}

}  // namespace kiln::server
