// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/build_queue.h"

#include <algorithm>
#include <set>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace kiln::runtime {
namespace {

constexpr int kNice = 10;  // below the threads that draw

}  // namespace

BuildQueue::BuildQueue(uint32_t threads, uint64_t budget, Work work)
    : budget_(budget), work_(std::move(work)) {
  // The number of a thread is its slot in the journal and its cache.
  for (uint32_t i = 0; i < threads; ++i) {
    threads_.emplace_back(Thread::Entry{.name = "pipelines"},
                          [this, i](const std::stop_token&) { Loop(i); });
  }
}

// Threads finish the job they have, since a call of the driver cannot be broken off; jobs that
// still wait are dropped.
BuildQueue::~BuildQueue() {
  {
    const MutexLock lock(mutex_);
    // The flag is set under the lock, so that no thread can look at it and fall asleep in between.
    stop_ = true;
  }
  pushed_.NotifyAll();
  for (Thread& thread : threads_) {
    thread.join();
  }
}

// Notified outside of the lock, so that the thread that wakes up does not wait for it at once.
void BuildQueue::Push(Lane lane, std::shared_ptr<Build> build) {
  {
    const MutexLock lock(mutex_);
    lanes_[static_cast<size_t>(lane)].push_back(std::move(build));
  }
  pushed_.NotifyOne();
}

void BuildQueue::Post(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  pushed_.NotifyOne();
}

std::function<void()> BuildQueue::NextTask() {
  if (tasks_.empty()) {
    return nullptr;
  }
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

// Lanes are searched in the order of their urgency, and the first job that fits is taken. A build
// may be in several lanes: the one that claims it wins, and the other entries fall out when they
// come to the front.
BuildQueue::Job BuildQueue::Next() {
  for (auto& lane : lanes_) {
    while (!lane.empty()) {
      // The size of the code stands for the memory that the driver will take.
      const uint64_t bytes = lane.front()->code_bytes;
      // One job always runs, even if it is above the budget alone; otherwise it would wait forever.
      // Jobs behind a large one wait with it, so that a stream of small ones cannot keep it
      // waiting.
      if (running_ > 0 && in_flight_ + bytes > budget_) {
        return {};  // no later one overtakes
      }
      Job job{std::move(lane.front()), bytes};
      lane.pop_front();
      if (job.build->Claim()) {  // else it was built meanwhile
        in_flight_ += bytes;
        ++running_;
        return job;
      }
    }
  }
  return {};
}

// An exception must not end a worker, nor leave a build in the state of being built: somebody may
// wait for it to become final.
void BuildQueue::Do(const Job& job, uint32_t worker) {
  const Result<void> worked = CatchAll([&] { work_(job.build, worker); });
  // The work itself has told its errors; only an exception leaves the build in this state.
  if (!worked.ok() &&
      job.build->State() == PipelineState::kBuilding) {  // whoever waits for it is told
    job.build->Fail(PipelineState::kFailed, worked.error());
  }
  {
    const MutexLock lock(mutex_);
    in_flight_ -= job.bytes;
    --running_;
  }
  done_.NotifyAll();
  pushed_.NotifyAll();  // the budget may allow another one now
}

void BuildQueue::Loop(uint32_t worker) {
  // Lowers the priority of this thread alone, as Linux allows; if refused, only smoothness suffers.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
  for (;;) {
    Job job;
    std::function<void()> task;
    {
      const MutexLock lock(mutex_);
      // Tasks come before builds, so that a stream of builds cannot keep them waiting.
      while (!stop_ && (task = NextTask()) == nullptr && (job = Next()).build == nullptr) {
        pushed_.Wait(mutex_);
      }
      // A job that was claimed is always done, even while the queue stops, because nobody else can
      // claim it.
      if (stop_ && job.build == nullptr) {
        return;
      }
    }
    if (task) {
      task();
    } else {
      Do(job, worker);
    }
  }
}

void BuildQueue::Drop(std::span<const std::shared_ptr<Build>> builds) {
  const std::set<std::shared_ptr<Build>> dropped(builds.begin(), builds.end());
  const MutexLock lock(mutex_);
  for (auto& lane : lanes_) {
    // A build that a worker has already claimed is not in a lane any more, and is made.
    std::erase_if(lane, [&](const auto& build) { return dropped.contains(build); });
  }
}

// For a queue without threads, as tests and child processes have it. The worker number is that
// behind the last thread, whose slot in the journal nobody else uses.
bool BuildQueue::RunOne() {
  Job job;
  std::function<void()> task;
  {
    const MutexLock lock(mutex_);
    task = NextTask();
    job = task ? Job{} : Next();
  }
  if (task) {
    task();
    return true;
  }
  if (job.build == nullptr) {
    return false;
  }
  Do(job, threads());
  return true;
}

void BuildQueue::WaitForChange(std::chrono::nanoseconds timeout) {
  const MutexLock lock(mutex_);
  // A wait may end without a change; callers look for themselves.
  (void)done_.WaitFor(mutex_, timeout);
}

// Entries whose build somebody else has done still lie in the lanes, and they are no work that
// waits.
std::array<size_t, kLanes> BuildQueue::Lengths() {
  const MutexLock lock(mutex_);
  std::array<size_t, kLanes> lengths{};
  for (size_t i = 0; i < kLanes; ++i) {
    lengths[i] = static_cast<size_t>(
        std::count_if(lanes_[i].begin(), lanes_[i].end(),
                      [](const std::shared_ptr<Build>& build) { return build->Wanted(); }));
  }
  return lengths;
}

bool BuildQueue::Idle() {
  const MutexLock lock(mutex_);
  for (const auto& lane : lanes_) {
    for (const std::shared_ptr<Build>& build : lane) {
      if (build->Wanted()) {
        return false;
      }
    }
  }
  return running_ == 0;
}

}  // namespace kiln::runtime
