// SPDX-License-Identifier: MIT
#include "server/jobs/worker.h"

#include <exception>

namespace kiln::jobs {
namespace {

void RunJobs(Serves serves, JobQueue& queue, LogSink& log) {
  for (;;) {
    std::optional<Claimed> claimed = queue.Claim(serves);
    if (!claimed.has_value()) {
      return;
    }
    try {
      claimed->job.run({.stop = claimed->job.stop, .deadline = claimed->job.deadline});
    } catch (const std::exception& error) {  // InternalError or bad_alloc: the job is lost
      log.Write(LogLevel::kError, "jobs", "a job failed with an internal error",
                {{"job", claimed->job.name}, {"what", error.what()}});
    }
    claimed->job = {};  // what the job holds goes before it counts as finished
    queue.Complete(claimed->id);
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
