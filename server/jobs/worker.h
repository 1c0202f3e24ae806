// SPDX-License-Identifier: MIT
// The threads that run jobs, and one of the places where a bug of kiln is caught: it costs the job,
// not the daemon. See spec/daemon 5.2, spec/architecture 14
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/log.h"
#include "compiler/base/threads/thread.h"
#include "server/jobs/queue.h"

namespace kiln::jobs {

struct WorkerConfig {
  uint32_t both = 1;     // threads that take work of both lanes
  uint32_t express = 1;  // threads that take interactive work only
};

// Starts its threads at once and joins them when destroyed. Requires: the queue is closed before
// the workers are destroyed, and outlives them, as does the log.
class Workers {
 public:
  Workers(const WorkerConfig& config, JobQueue& queue, LogSink& log);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  std::vector<Thread> threads_;
};

}  // namespace kiln::jobs
