// SPDX-License-Identifier: MIT
// The health of the daemon and what follows from it (spec/daemon 14). Every part may report and
// ask; one mutex guards everything but the conditions, which are set before other threads start.
#include "server/ops/service_state.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace kiln::ops {

std::string_view HealthName(Health health) {
  switch (health) {
    case Health::kStarting:
      return "STARTING";
    case Health::kServing:
      return "SERVING";
    case Health::kDegraded:
      return "DEGRADED";
    case Health::kDraining:
      return "DRAINING";
    case Health::kStopped:
      return "STOPPED";
  }
  KILN_UNREACHABLE();
}

void ServiceState::Observe(std::function<std::vector<std::string>()> conditions) {
  conditions_ = std::move(conditions);
}

Health ServiceState::health() {
  // The conditions ask the store, the upstream and others, which have locks of their own. They are
  // asked before this mutex is taken, so no order of locks can go wrong.
  const bool troubled = Ready() && conditions_ != nullptr && !conditions_().empty();
  const MutexLock lock(mutex_);
  return troubled && health_ == Health::kServing ? Health::kDegraded : health_;
}

// Those that stay for the life of the daemon first, then those of now.
std::vector<std::string> ServiceState::reasons() {
  std::vector<std::string> now;
  if (Ready() && conditions_ != nullptr) {
    now = conditions_();
  }
  const MutexLock lock(mutex_);
  std::vector<std::string> all = reasons_;
  all.insert(all.end(), now.begin(), now.end());
  return all;
}

// A daemon that starts takes no work, one that drains takes none any more; one that is degraded
// does.
bool ServiceState::TakesWork() {
  const MutexLock lock(mutex_);
  return health_ == Health::kServing || health_ == Health::kDegraded;
}

bool ServiceState::Starting() {
  const MutexLock lock(mutex_);
  return health_ == Health::kStarting;
}

bool ServiceState::Ready() {
  const MutexLock lock(mutex_);
  return ready_;
}

bool ServiceState::TakesBatchWork() {
  const MutexLock lock(mutex_);
  return takes_batch_;
}

void ServiceState::TakeBatchWork(bool takes) {
  const MutexLock lock(mutex_);
  takes_batch_ = takes;
}

void ServiceState::Serve() {
  const MutexLock lock(mutex_);
  ready_ = true;
  if (health_ == Health::kStarting) {
    // Reasons may have come while the daemon started. A signal to drain that came earlier wins: its
    // state is not STARTING any more.
    health_ = reasons_.empty() ? Health::kServing : Health::kDegraded;
  }
}

// Before the daemon serves only the reason is noted, and Serve looks at it.
void ServiceState::Degrade(std::string reason) {
  const MutexLock lock(mutex_);
  if (std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end()) {
    reasons_.push_back(std::move(reason));
  }
  health_ = health_ == Health::kServing ? Health::kDegraded : health_;
}

void ServiceState::Drain() {
  const MutexLock lock(mutex_);
  // The states are numbered in the order of a life, so a daemon that has stopped does not come
  // back.
  health_ = std::max(health_, Health::kDraining);
}

void ServiceState::Stop() {
  const MutexLock lock(mutex_);
  health_ = Health::kStopped;
}

void ServiceState::CallBegan() {
  const MutexLock lock(mutex_);
  ++active_;
  ++calls_;
}

// Idleness is counted from the end of the last call and not from its beginning: a call may take an
// hour.
void ServiceState::CallEnded() {
  const MutexLock lock(mutex_);
  --active_;
  last_end_ = clock_.Monotonic();
}

Duration ServiceState::IdleFor() {
  const MutexLock lock(mutex_);
  return active_ != 0 ? Duration::zero() : clock_.Monotonic() - last_end_;
}

uint64_t ServiceState::calls() {
  const MutexLock lock(mutex_);
  return calls_;
}

}  // namespace kiln::ops
