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
  for (uint32_t i = 0; i < threads; ++i) {
    threads_.emplace_back(Thread::Entry{.name = "pipelines"},
                          [this, i](const std::stop_token&) { Loop(i); });
  }
}

BuildQueue::~BuildQueue() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  pushed_.NotifyAll();
  for (Thread& thread : threads_) {
    thread.join();
  }
}

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

BuildQueue::Job BuildQueue::Next() {
  for (auto& lane : lanes_) {
    while (!lane.empty()) {
      const uint64_t bytes = lane.front()->code_bytes;
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

void BuildQueue::Do(const Job& job, uint32_t worker) {
  const Result<void> worked = CatchAll([&] { work_(job.build, worker); });
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
      while (!stop_ && (task = NextTask()) == nullptr && (job = Next()).build == nullptr) {
        pushed_.Wait(mutex_);
      }
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
    std::erase_if(lane, [&](const auto& build) { return dropped.contains(build); });
  }
}

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
  (void)done_.WaitFor(mutex_, timeout);
}

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
