// SPDX-License-Identifier: MIT
#include "server/jobs/memory_queue.h"

#include <string>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::jobs {
namespace {

constexpr uint32_t kInteractiveInARow = 9;  // then one of the batch lane

size_t Row(Lane lane) { return static_cast<size_t>(lane); }

}  // namespace

Result<uint64_t> MemoryQueue::Submit(Job job) {
  const size_t lane = Row(job.lane);
  const MutexLock lock(mutex_);
  if (closed_) {
    return Error{
        .code = ErrorCode::kUnavailable, .context = "the daemon is draining", .reason = "DRAINING"};
  }
  if (waiting_[lane].size() >= limits_[lane]) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = "the queue holds " + std::to_string(limits_[lane]) + " jobs already",
                 .reason = "QUEUE_FULL"};
  }
  const uint64_t id = next_id_++;
  waiting_[lane].push_back({.id = id, .job = std::move(job)});
  changed_.NotifyAll();  // a worker of one lane must not swallow the wake-up of the other
  return id;
}

std::optional<Lane> MemoryQueue::Pick(Serves serves) {
  const bool interactive = !waiting_[Row(Lane::kInteractive)].empty();
  const bool batch = serves == Serves::kBoth && !waiting_[Row(Lane::kBatch)].empty();
  if (interactive && !(batch && since_batch_ >= kInteractiveInARow)) {
    return Lane::kInteractive;
  }
  return batch ? std::optional(Lane::kBatch) : std::nullopt;
}

std::optional<Claimed> MemoryQueue::Claim(Serves serves) {
  const MutexLock lock(mutex_);
  for (;;) {
    const std::optional<Lane> lane = Pick(serves);
    if (lane.has_value()) {
      std::deque<Claimed>& queue = waiting_[Row(*lane)];
      Claimed claimed = std::move(queue.front());
      queue.pop_front();
      running_.emplace(claimed.id, *lane);
      if (serves == Serves::kBoth) {
        since_batch_ = *lane == Lane::kBatch ? 0 : since_batch_ + 1;
      }
      return claimed;
    }
    if (closed_) {
      return std::nullopt;
    }
    changed_.Wait(mutex_);
  }
}

void MemoryQueue::Complete(uint64_t id) {
  const MutexLock lock(mutex_);
  const auto found = running_.find(id);
  KILN_CHECK(found != running_.end(), "job {} is not running", id);
  ++finished_[Row(found->second)];
  running_.erase(found);
}

void MemoryQueue::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

QueueStatus MemoryQueue::Status() {
  const MutexLock lock(mutex_);
  QueueStatus status;
  status.finished = finished_;
  for (size_t lane = 0; lane < kLaneCount; ++lane) {
    status.waiting[lane] = waiting_[lane].size();
  }
  for (const auto& [id, lane] : running_) {
    ++status.running[Row(lane)];
  }
  return status;
}

}  // namespace kiln::jobs
