// SPDX-License-Identifier: MIT
// Where jobs wait. memory_queue serves one daemon; a farm's queue has the same face.
// See spec/architecture 12, spec/daemon 5
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/jobs/job.h"

namespace kiln::jobs {

// Which lanes a worker takes work from.
enum class LaneChoice : uint8_t { kBoth, kInteractiveOnly };

// A job that was handed to a worker.
struct DispatchedJob {
  uint64_t id = 0;
  Job job;
};

struct QueueStatus {
  std::array<uint64_t, kLaneCount> waiting{};
  std::array<uint64_t, kLaneCount> running{};
  std::array<uint64_t, kLaneCount> finished{};
};

// A job that waits or runs.
struct JobRow {
  uint64_t id = 0;
  Lane lane = Lane::kInteractive;
  bool running = false;
  std::string name;
  std::string tenant;
  Duration age{};  // since it was submitted
  Duration cpu{};  // of the thread that runs it
};

// Safe from any thread.
class JobQueue {
 public:
  virtual ~JobQueue() = default;

  // Returns the job's number. Errors: kResourceExhausted with reason QUEUE_FULL, or QUOTA if the
  // tenant has its share; kUnavailable with reason DRAINING once closed.
  virtual Result<uint64_t> Submit(Job job) = 0;

  // Waits for work; nothing once the queue is closed and has no more of it.
  virtual std::optional<DispatchedJob> Claim(LaneChoice serves) = 0;

  // Tells that the calling thread runs the job, and not the one that claimed it.
  virtual void RunsHere(uint64_t id) = 0;
  // Tells that a claimed job has returned.
  virtual void Complete(uint64_t id) = 0;

  // Shares of tenants in a lane that all of them want; of those that are not named it is 1. For
  // turns from now on.
  virtual void SetWeights(std::map<std::string, uint32_t> weights) = 0;

  // At most so many jobs of a lane run at once; those that run already go on.
  virtual void Limit(Lane lane, uint32_t most) = 0;

  // Takes no more jobs; those that wait are still handed out.
  virtual void Close() = 0;

  virtual QueueStatus Status() = 0;

  virtual std::vector<JobRow> List() = 0;  // by number
  // Asks a job to stop, as if its caller had. Errors: kNotFound with reason UNKNOWN_JOB.
  virtual Result<void> Kill(uint64_t id) = 0;
  // About how long the lane takes for what waits now.
  virtual Duration DrainTime(Lane lane) = 0;
  // How long the job that waits for longest has waited, of those that do not run long; zero if none
  // waits.
  virtual Duration LongestWait(Lane lane) = 0;
};

}  // namespace kiln::jobs
