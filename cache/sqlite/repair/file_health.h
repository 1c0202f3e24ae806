// SPDX-License-Identifier: MIT
// What failed reads and writes tell of the file and of the disk: whether the disk is full for now,
// and whether the file is damaged, which becomes an order to the maintenance thread. See spec/cache
// 6.7, 6.10
//
// Threads: safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "cache/sqlite/counters.h"
#include "cache/sqlite/maintenance/maintenance_orders.h"
#include "cache/sqlite/repair/damage_policy.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/log.h"

namespace kiln::cache::sqlite {

class FileHealth {
 public:
  // Requires: all outlive this.
  FileHealth(Clock& clock, LogSink& log, Counters& counters, MaintenanceOrders& orders)
      : clock_(clock), log_(log), counters_(counters), orders_(orders), policy_(clock) {}

  // What the caller of a read that failed sees: a miss.
  Error ReadFailed(const Key& key, const Error& error);
  void WriteFailed(const Error& error);
  // Counts and orders what an error tells of the file; errors that are no damage tell nothing.
  void Judge(const Error& error);

  // Whether the disk was full some seconds ago: puts are not tried for a while.
  bool full() const { return clock_.Monotonic().count() < full_until_ns_; }
  void NotFull() { full_until_ns_ = 0; }
  // The file is another one now.
  void Reset() { policy_.Reset(); }

 private:
  Clock& clock_;
  LogSink& log_;
  Counters& counters_;
  MaintenanceOrders& orders_;
  DamagePolicy policy_;
  std::atomic<int64_t> full_until_ns_{0};
};

}  // namespace kiln::cache::sqlite
