// SPDX-License-Identifier: MIT
// Pipelines that wait to be built, in lanes, and the threads that build them. First in, first out
// inside a lane; a job of a lane starts when those before it are empty. See spec/pso 7.3
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"
#include "runtime/pipeline/create/build.h"

namespace kiln::runtime {

// Safe from any thread. Destruction ends running jobs in their own time and drops the others.
class BuildQueue {
 public:
  // Called by a worker, or by whoever calls RunOne (worker = threads).
  using Work = std::function<void(const std::shared_ptr<Build>& build, uint32_t worker)>;

  // No threads: nothing happens but in RunOne. `budget`: bytes of words that jobs may hold at once;
  // one job always may.
  BuildQueue(uint32_t threads, uint64_t budget, Work work);
  ~BuildQueue();
  BuildQueue(const BuildQueue&) = delete;
  BuildQueue& operator=(const BuildQueue&) = delete;

  // Whatever was built meanwhile is skipped, so pushing into a more urgent lane raises a job.
  void Push(Lane lane, std::shared_ptr<Build> build);

  // Done by a worker before further builds; by RunOne if there are no threads. Dropped at the end.
  void Post(std::function<void()> task);

  // Forgets those that have not begun.
  void Drop(std::span<const std::shared_ptr<Build>> builds);

  // Does the next job on the calling thread. False if there was none.
  bool RunOne();
  // Waits until a job ends, or the time is over.
  void WaitForChange(std::chrono::nanoseconds timeout);

  uint32_t threads() const { return static_cast<uint32_t>(threads_.size()); }
  std::array<size_t, kLanes> Lengths();
  // Nothing waits and nothing runs.
  bool Idle();

 private:
  struct Job {
    std::shared_ptr<Build> build;
    uint64_t bytes = 0;
  };

  void Loop(uint32_t worker);
  // The next job that the budget allows; null build if there is none.
  Job Next() KILN_REQUIRES(mutex_);
  void Do(const Job& job, uint32_t worker);
  // Null: none waits.
  std::function<void()> NextTask() KILN_REQUIRES(mutex_);

  const uint64_t budget_;
  const Work work_;
  Mutex mutex_;
  CondVar pushed_;
  CondVar done_;
  std::deque<std::function<void()>> tasks_ KILN_GUARDED_BY(mutex_);
  std::array<std::deque<std::shared_ptr<Build>>, kLanes> lanes_ KILN_GUARDED_BY(mutex_);
  uint64_t in_flight_ KILN_GUARDED_BY(mutex_) = 0;  // bytes
  uint32_t running_ KILN_GUARDED_BY(mutex_) = 0;
  bool stop_ KILN_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace kiln::runtime
