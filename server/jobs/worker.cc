// SPDX-License-Identifier: MIT
#include "server/jobs/worker.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <sched.h>
#include <sys/resource.h>

#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::jobs {
namespace {

// Relative to what the daemon itself has: one that was started nice stays below its neighbours. 19
// is the end of the scale. See spec/daemon 5.2
constexpr int kBatchNicer = 10;
constexpr int kNicest = 19;

// Lets the kernel run everything else before the calling thread, and all that it starts.
void Yield() {
  const sched_param none{};
  (void)sched_setscheduler(0, SCHED_BATCH, &none);
  (void)setpriority(PRIO_PROCESS, 0, std::min(getpriority(PRIO_PROCESS, 0) + kBatchNicer, kNicest));
}

// A thread of low priority that runs the job of a worker while that worker waits. A thread cannot
// raise its priority again, so batch work has threads of its own; each stands in for a worker, and
// the number that runs at once stays the same.
class StandIn {
 public:
  explicit StandIn(LogSink& log)
      : thread_({.name = "batch worker", .log = &log},
                [this](const std::stop_token& stop) { Loop(stop); }) {}
  ~StandIn() {
    const MutexLock lock(mutex_);
    thread_.request_stop();
    changed_.NotifyAll();
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  void Do(const std::function<void()>& work) {
    const MutexLock lock(mutex_);
    work_ = &work;
    changed_.NotifyAll();
    // The worker sleeps here for as long as the job runs. So of a pair of threads only one is ever
    // busy, and a job that was claimed can live on the stack of the other.
    while (work_ != nullptr) {
      changed_.Wait(mutex_);
    }
  }

 private:
  void Loop(const std::stop_token& stop) {
    Yield();
    for (;;) {
      const std::function<void()>* work = nullptr;
      {
        const MutexLock lock(mutex_);
        while (work_ == nullptr && !stop.stop_requested()) {
          changed_.Wait(mutex_);
        }
        if (work_ == nullptr) {
          return;
        }
        // It runs outside of the mutex. The pointer stays set until it is done, which is what Do
        // waits for.
        work = work_;
      }
      (void)CatchAll(*work);  // who waits for it goes on, whatever it does
      const MutexLock lock(mutex_);
      work_ = nullptr;
      changed_.NotifyAll();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  const std::function<void()>* work_ KILN_GUARDED_BY(mutex_) = nullptr;
  Thread thread_;  // last: it uses the rest
};

// Whatever the job throws, and even without memory to report it, the job counts as finished.
void RunJob(DispatchedJob& claimed, JobQueue& queue, LogSink& log) {
  const Result<void> ran = CatchAll(
      [&] { claimed.job.run({.stop = claimed.job.stop, .deadline = claimed.job.deadline}); });
  if (!ran.ok()) {
    (void)CatchAll([&] {
      log.Write(LogLevel::kError, "jobs", "a job failed with an internal error",
                {{"job", claimed.job.name}, {"what", ran.error().context}});
    });
  }
  claimed.job = {};  // what the job holds goes before it counts as finished
  queue.Complete(claimed.id);
}

// One thread of the daemon: it claims until the queue is closed and empty. The stand-in is made
// with the first batch job, because a daemon that only serves an editor needs none.
void RunJobs(LaneChoice serves, JobQueue& queue, LogSink& log) {
  std::optional<StandIn> nice;
  for (;;) {
    std::optional<DispatchedJob> claimed = queue.Claim(serves);
    if (!claimed.has_value()) {
      return;
    }
    if (claimed->job.lane == Lane::kInteractive) {
      RunJob(*claimed, queue, log);
      continue;
    }
    if (!nice.has_value() && !CatchAll([&] { nice.emplace(log); }).ok()) {
      RunJob(*claimed, queue, log);  // without a thread of its own: not niced, but done
      continue;
    }
    nice->Do([&] {
      queue.RunsHere(claimed->id);
      RunJob(*claimed, queue, log);
    });
  }
}

}  // namespace

Workers::Workers(const WorkerConfig& config, JobQueue& queue, LogSink& log) {
  for (uint32_t i = 0; i < config.both + config.express; ++i) {
    const LaneChoice serves = i < config.both ? LaneChoice::kBoth : LaneChoice::kInteractiveOnly;
    threads_.emplace_back(
        Thread::Entry{.name = "worker", .log = &log},
        [serves, &queue, &log](const std::stop_token&) { RunJobs(serves, queue, log); });
  }
}

}  // namespace kiln::jobs
