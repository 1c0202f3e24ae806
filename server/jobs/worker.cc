// SPDX-License-Identifier: MIT
#include "server/jobs/worker.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <sched.h>
#include <sys/resource.h>
#include <utility>

#include "compiler/base/mutex.h"
#include "compiler/base/signal_stack.h"

namespace kiln::jobs {
namespace {

constexpr int kBatchNicer = 10;
constexpr int kNicest = 19;

// The kernel runs everything else before the calling thread, and all that it starts.
void Yield() {
  const sched_param none{};
  (void)sched_setscheduler(0, SCHED_BATCH, &none);
  (void)setpriority(PRIO_PROCESS, 0, std::min(getpriority(PRIO_PROCESS, 0) + kBatchNicer, kNicest));
}

// A thread that does what another one waits for, and yields to everything else meanwhile. Who has
// become nice may not go back, so batch work has threads of its own; each stands in for a worker,
// and the number that runs at once stays the same.
class StandIn {
 public:
  StandIn() : thread_([this](const std::stop_token& stop) { Loop(stop); }) {}
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
    while (work_ != nullptr) {
      changed_.Wait(mutex_);
    }
  }

 private:
  void Loop(const std::stop_token& stop) {
    UseSignalStack();
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
        work = work_;
      }
      (*work)();
      const MutexLock lock(mutex_);
      work_ = nullptr;
      changed_.NotifyAll();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  const std::function<void()>* work_ KILN_GUARDED_BY(mutex_) = nullptr;
  std::jthread thread_;  // last: it uses the rest
};

void RunJob(Claimed& claimed, JobQueue& queue, LogSink& log) {
  try {
    claimed.job.run({.stop = claimed.job.stop, .deadline = claimed.job.deadline});
  } catch (const std::exception& error) {  // InternalError or bad_alloc: the job is lost
    log.Write(LogLevel::kError, "jobs", "a job failed with an internal error",
              {{"job", claimed.job.name}, {"what", error.what()}});
  }
  claimed.job = {};  // what the job holds goes before it counts as finished
  queue.Complete(claimed.id);
}

void RunJobs(Serves serves, JobQueue& queue, LogSink& log) {
  UseSignalStack();
  std::optional<StandIn> nice;
  for (;;) {
    std::optional<Claimed> claimed = queue.Claim(serves);
    if (!claimed.has_value()) {
      return;
    }
    if (claimed->job.lane == Lane::kInteractive) {
      RunJob(*claimed, queue, log);
      continue;
    }
    if (!nice.has_value()) {
      nice.emplace();
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
    const Serves serves = i < config.both ? Serves::kBoth : Serves::kInteractiveOnly;
    threads_.emplace_back([serves, &queue, &log] { RunJobs(serves, queue, log); });
  }
}

}  // namespace kiln::jobs
