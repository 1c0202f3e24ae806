// SPDX-License-Identifier: MIT
// Orders to the maintenance thread, given by any thread and taken by that one. Nobody waits for an
// order but AwaitReplacement and AwaitSalvage, and these look at the stop every second, so that an
// end is never waited out.
#include "cache/sqlite/maintenance/maintenance_orders.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kiln::cache::sqlite {

void MaintenanceOrders::Give(Order order) {
  const MutexLock lock(mutex_);
  // Orders are sorted by how much they do, and the strongest includes the others.
  order_ = std::max(order_, order);
  changed_.NotifyAll();
}

// Returns every second at the latest, with or without an order: the thread has work of its own.
std::optional<Order> MaintenanceOrders::Next() {
  const MutexLock lock(mutex_);
  if (order_ == Order::kNone && unsalvaged_.empty() && !stopping_) {
    changed_.WaitFor(mutex_, std::chrono::seconds(1));
  }
  // The order is taken in the same moment as it is read, so one that comes during its execution is
  // not lost.
  return stopping_ ? std::nullopt : std::optional(std::exchange(order_, Order::kNone));
}

void MaintenanceOrders::Forget() {
  const MutexLock lock(mutex_);
  order_ = Order::kNone;
}

// Called by the maintenance thread when a file was replaced.
void MaintenanceOrders::Done(const std::string& set_aside) {
  const MutexLock lock(mutex_);
  ++replacements_;
  last_set_aside_ = set_aside;
  changed_.NotifyAll();
}

// The name under which the old file was set aside, or that of the replacement before if the store
// is stopping.
std::string MaintenanceOrders::AwaitReplacement() {
  const MutexLock lock(mutex_);
  // Counted, because the replacement that is waited for must begin after this.
  const uint64_t before = replacements_;
  order_ = std::max(order_, Order::kReplace);
  changed_.NotifyAll();
  while (replacements_ == before && !stopping_) {
    changed_.WaitFor(mutex_, std::chrono::seconds(1));
  }
  return last_set_aside_;
}

// One name at a time: a second file is set aside only after the first was salvaged.
void MaintenanceOrders::GiveUnsalvaged(const std::string& name) {
  const MutexLock lock(mutex_);
  unsalvaged_ = name;
}

std::string MaintenanceOrders::Unsalvaged() const {
  const MutexLock lock(mutex_);
  return unsalvaged_;
}

void MaintenanceOrders::Salvaged() {
  const MutexLock lock(mutex_);
  unsalvaged_.clear();
  changed_.NotifyAll();
}

void MaintenanceOrders::AwaitSalvage(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  while (!unsalvaged_.empty() && !stopping_ && !stop.stop_requested()) {
    changed_.WaitFor(mutex_, std::chrono::milliseconds(50));
  }
}

// The token is stopped outside of the mutex: whoever listens to it may call back here.
void MaintenanceOrders::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  stop_.request_stop();
}

}  // namespace kiln::cache::sqlite
