// SPDX-License-Identifier: MIT
// The queue of one daemon. Interactive work first; of ten dispatches at least one serves the batch
// lane if it has work; each lane is bounded and first in, first out.
//
// Threads: all functions may run concurrently; one mutex guards everything, held for O(1).
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "compiler/base/mutex.h"
#include "server/jobs/queue.h"

namespace kiln::jobs {

struct QueueLimits {
  uint64_t interactive = 256;
  uint64_t batch = 10'000;
};

class MemoryQueue final : public JobQueue {
 public:
  explicit MemoryQueue(const QueueLimits& limits) : limits_{limits.interactive, limits.batch} {}

  Result<uint64_t> Submit(Job job) override;
  std::optional<Claimed> Claim(Serves serves) override;
  void Complete(uint64_t id) override;
  void Close() override;
  QueueStatus Status() override;

 private:
  std::optional<Lane> Pick(Serves serves) KILN_REQUIRES(mutex_);

  const std::array<uint64_t, kLaneCount> limits_;
  Mutex mutex_;
  CondVar changed_;
  std::array<std::deque<Claimed>, kLaneCount> waiting_ KILN_GUARDED_BY(mutex_);
  std::map<uint64_t, Lane> running_ KILN_GUARDED_BY(mutex_);
  std::array<uint64_t, kLaneCount> finished_ KILN_GUARDED_BY(mutex_) = {};
  uint64_t next_id_ KILN_GUARDED_BY(mutex_) = 1;
  uint32_t since_batch_ KILN_GUARDED_BY(mutex_) = 0;  // interactive dispatches in a row
  bool closed_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::jobs
