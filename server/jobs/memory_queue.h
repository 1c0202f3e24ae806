// SPDX-License-Identifier: MIT
// The queue of one daemon. Interactive work first; of ten dispatches at least one serves the batch
// lane if it has work; each lane is bounded. Inside of a lane tenants take turns by weight, and a
// tenant's sessions by priority (fair_line).
// Interactive jobs that may run long wait in a line of their own and have some of the threads only:
// nobody's counting keeps the compiles of others waiting. Beyond that share the owner may run one,
// and a named tenant has half of it; short jobs go first in nine of ten dispatches. A
// named tenant may use half of a lane, all of them together three quarters, and not the last thread
// that serves interactive work: the owner, who is the tenant without a name, finds room and a
// thread. See spec/daemon 5.3, 9.4
//
// Threads: all functions may run concurrently; one mutex guards everything, held for O(log n), and
// O(n) of the tenants that wait for their share of long interactive jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/mutex.h"
#include "server/jobs/fair_line.h"
#include "server/jobs/queue.h"

namespace kiln::jobs {

struct QueueLimits {
  uint64_t interactive = 256;
  uint64_t batch = 10'000;
  uint64_t others_at_once = UINT64_MAX;  // interactive jobs of named tenants that may run
  uint64_t long_at_once = UINT64_MAX;    // and long ones of all, but for one more of the owner
};

class MemoryQueue final : public JobQueue {
 public:
  // Told how long a job has waited when it is handed out, outside of the mutex.
  using OnClaim = std::function<void(Lane lane, Duration waited)>;

  explicit MemoryQueue(const QueueLimits& limits)
      : limits_{limits.interactive, limits.batch},
        others_at_once_(limits.others_at_once),
        long_at_once_(limits.long_at_once) {}
  // The clock must outlive the queue.
  MemoryQueue(const QueueLimits& limits, Clock& clock, OnClaim on_claim)
      : limits_{limits.interactive, limits.batch},
        others_at_once_(limits.others_at_once),
        long_at_once_(limits.long_at_once),
        clock_(clock),
        on_claim_(std::move(on_claim)) {}

  Result<uint64_t> Submit(Job job) override;
  std::optional<DispatchedJob> Claim(LaneChoice serves) override;
  void RunsHere(uint64_t id) override;
  void Complete(uint64_t id) override;
  void SetWeights(std::map<std::string, uint32_t> weights) override;
  void Limit(Lane lane, uint32_t most) override;
  void Close() override;
  QueueStatus Status() override;
  std::vector<JobRow> List() override;
  Result<void> Kill(uint64_t id) override;
  Duration DrainTime(Lane lane) override;
  Duration LongestWait(Lane lane) override;

 private:
  // Stops when the caller or an operator wants it.
  struct Stopper {
    explicit Stopper(const std::stop_token& caller)
        : forward(caller, [source = source] { source.request_stop(); }) {}
    std::stop_source source;
    std::stop_callback<std::function<void()>> forward;
  };
  struct Row {
    DispatchedJob claimed;  // the job is empty once it runs
    Lane lane = Lane::kInteractive;
    Length length = Length::kShort;
    std::string name, tenant;
    Duration submitted{};
    std::shared_ptr<Stopper> stopper;
    clockid_t thread = 0;   // CPU clock of the thread that runs it
    Duration thread_cpu{};  // of that clock at the start

    void RunsHere();  // the calling thread runs it
  };
  using Rows = std::map<uint64_t, Row>;
  struct Line {  // jobs that wait, of one kind
    Rows rows;
    FairLine order;
  };
  // The batch lane has one, the interactive lane one for each length.
  enum class Kind : uint8_t { kShort, kLong, kBatch };
  static constexpr uint32_t kKindCount = 3;
  static Kind KindOf(Lane lane, Length length) {
    return lane == Lane::kBatch      ? Kind::kBatch
           : length == Length::kLong ? Kind::kLong
                                     : Kind::kShort;
  }
  Line& LineOf(Kind kind) KILN_REQUIRES(mutex_) { return waiting_[static_cast<size_t>(kind)]; }
  const Line& LineOf(Kind kind) const KILN_REQUIRES(mutex_) {
    return waiting_[static_cast<size_t>(kind)];
  }
  std::span<const Line> LinesOf(Lane lane) const KILN_REQUIRES(mutex_);
  uint64_t Waiting(Lane lane) const KILN_REQUIRES(mutex_);

  // There is work of the lane or kind, and it may run. A closed queue hands out all it has.
  bool MayRun(Lane lane) const KILN_REQUIRES(mutex_);
  bool MayRun(Kind kind) const KILN_REQUIRES(mutex_);
  bool MayRunLong(const std::string& tenant) const KILN_REQUIRES(mutex_);
  // The tenant whose turn it is, of those with a job that may run; null if there is none.
  const std::string* NextTenant(Kind kind) const KILN_REQUIRES(mutex_);
  // The kind whose turn it is in the lane. Requires: MayRun(lane).
  Kind NextKind(Lane lane) const KILN_REQUIRES(mutex_);
  Result<void> CheckRoom(const Job& job) const KILN_REQUIRES(mutex_);
  std::optional<Lane> Pick(LaneChoice serves) KILN_REQUIRES(mutex_);
  DispatchedJob Take(Lane lane) KILN_REQUIRES(mutex_);
  Result<uint64_t> Add(Job job) KILN_REQUIRES(mutex_);
  // Whom to wake once the mutex is free; null: nobody is idle, or there is nothing for them.
  CondVar* NextToWake() KILN_REQUIRES(mutex_);

  const std::array<uint64_t, kLaneCount> limits_;
  const uint64_t others_at_once_;
  const uint64_t long_at_once_;
  SystemClock own_clock_;
  Clock& clock_ = own_clock_;
  const OnClaim on_claim_;
  Mutex mutex_;
  // Threads that wait for work, by what they serve. One is woken for one job, and it wakes the next
  // one if there is more: waking all of them would cost more than most jobs.
  struct Idle {
    CondVar changed;
    uint32_t threads = 0;
  };
  std::array<Idle, 2> idle_ KILN_GUARDED_BY(mutex_);  // by Serves
  std::array<Line, kKindCount> waiting_ KILN_GUARDED_BY(mutex_);
  std::map<std::string, uint32_t> weights_ KILN_GUARDED_BY(mutex_);
  Rows running_ KILN_GUARDED_BY(mutex_);
  std::array<uint32_t, kLaneCount> running_of_ KILN_GUARDED_BY(mutex_) = {};
  std::array<uint32_t, kLaneCount> most_ KILN_GUARDED_BY(mutex_) = {UINT32_MAX, UINT32_MAX};
  uint64_t others_running_ KILN_GUARDED_BY(mutex_) = 0;  // interactive jobs of named tenants
  // Of a lane: the mean time between two jobs that end, and when the last one did.
  std::array<Duration, kLaneCount> between_ends_ KILN_GUARDED_BY(mutex_) = {};
  std::array<Duration, kLaneCount> last_end_ KILN_GUARDED_BY(mutex_) = {};
  std::array<uint64_t, kLaneCount> finished_ KILN_GUARDED_BY(mutex_) = {};
  uint64_t next_id_ KILN_GUARDED_BY(mutex_) = 1;
  uint64_t long_running_ KILN_GUARDED_BY(mutex_) = 0;                // interactive jobs, of all
  std::map<std::string, uint64_t> long_of_ KILN_GUARDED_BY(mutex_);  // of them, of each tenant
  uint32_t since_long_ KILN_GUARDED_BY(mutex_) = 0;   // short interactive dispatches in a row
  uint32_t since_batch_ KILN_GUARDED_BY(mutex_) = 0;  // interactive dispatches in a row
  bool closed_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::jobs
