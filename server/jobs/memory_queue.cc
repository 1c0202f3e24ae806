// SPDX-License-Identifier: MIT
#include "server/jobs/memory_queue.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <span>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/threads/thread.h"
#include "server/jobs/shares.h"

namespace kiln::jobs {
namespace {

// The floors of spec/daemon 5.3: one dispatch in ten.
constexpr uint32_t kInteractiveInARow = 9;  // then one of the batch lane
constexpr uint32_t kShortInARow = 9;        // then a long one

constexpr double kSmooth = 0.1;  // weight of the latest interval between two jobs that end

size_t At(Lane lane) { return static_cast<size_t>(lane); }
uint64_t CountOf(const std::map<std::string, uint64_t>& jobs, const std::string& tenant) {
  const auto found = jobs.find(tenant);
  return found == jobs.end() ? 0 : found->second;
}

void TakeOne(std::map<std::string, uint64_t>& jobs, const std::string& tenant) {
  const auto found = jobs.find(tenant);
  if (--found->second == 0) {
    jobs.erase(found);
  }
}

size_t At(LaneChoice serves) { return serves == LaneChoice::kBoth ? 0 : 1; }

// The time of a CPU clock; zero once its thread is gone.
Duration TimeOf(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0
             ? std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)
             : Duration::zero();
}

}  // namespace

// The CPU clock of the thread is read again when somebody lists the jobs, from another thread. The
// thread may have ended by then; its clock then says zero.
void MemoryQueue::Row::RunsHere() {
  if (pthread_getcpuclockid(pthread_self(), &thread) == 0) {
    thread_cpu = TimeOf(thread);
  }
}

Result<uint64_t> MemoryQueue::Submit(Job job) {
  CondVar* wake = nullptr;
  Result<uint64_t> id = [&] {
    const MutexLock lock(mutex_);
    Result<uint64_t> added = Add(std::move(job));
    wake = NextToWake();
    return added;
  }();
  if (wake != nullptr) {
    wake->NotifyOne();
  }
  return id;
}

// Whom to wake, if anybody: one thread per job that can run now, and rather a thread that serves
// interactive work only, since it has no other use. Waking happens outside of the mutex, so that
// the thread does not run into it. A job that cannot run for a limit wakes nobody; Complete looks
// again.
CondVar* MemoryQueue::NextToWake() {
  Idle& both = idle_[At(LaneChoice::kBoth)];
  Idle& express = idle_[At(LaneChoice::kInteractiveOnly)];
  const bool interactive = MayRun(Lane::kInteractive);
  const bool any = interactive || MayRun(Lane::kBatch);
  return interactive && express.threads != 0 ? &express.changed
         : any && both.threads != 0          ? &both.changed
                                             : nullptr;
}

Result<void> MemoryQueue::CheckRoom(const Job& job) const {
  if (closed_) {
    return Error{
        .code = ErrorCode::kUnavailable, .context = "the daemon is draining", .reason = "DRAINING"};
  }
  // Only what waits counts, not what runs: the limit is on the length of the queue. Counting costs
  // O(log n), as each line keeps the jobs of each tenant.
  const auto taken_in = [&job](std::span<const Line> lines) {
    PlaceUsage taken;
    for (const Line& line : lines) {
      taken.all += line.rows.size();
      taken.owner += line.order.WaitingOf("");
      taken.tenant += line.order.WaitingOf(job.tenant);
    }
    return taken;
  };
  const uint64_t limit = limits_[At(job.lane)];
  const PlaceUsage taken = taken_in(LinesOf(job.lane));
  Room room = RoomFor(job.tenant, limit, taken);
  if (room == Room::kYes && KindOf(job.lane, job.length) == Kind::kLong) {  // they have half of it
    room = RoomFor(job.tenant, std::max<uint64_t>(1, limit / 2),
                   taken_in(std::span(&LineOf(Kind::kLong), 1)));
  }
  switch (room) {
    case Room::kYes:
      return {};
    case Room::kOwnShare:
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "tenant '" + job.tenant + "' has its half of the queue",
                   .reason = "QUOTA"};
    case Room::kFull:
      break;
  }
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = "the queue holds " + std::to_string(taken.all) + " jobs already",
               .reason = "QUEUE_FULL"};
}

// The lines are in the order of Kind: short, long, batch.
std::span<const MemoryQueue::Line> MemoryQueue::LinesOf(Lane lane) const {
  return lane == Lane::kBatch ? std::span(waiting_).last(1) : std::span(waiting_).first(2);
}

uint64_t MemoryQueue::Waiting(Lane lane) const {
  uint64_t waiting = 0;
  for (const Line& line : LinesOf(lane)) {
    waiting += line.rows.size();
  }
  return waiting;
}

Result<uint64_t> MemoryQueue::Add(Job job) {
  Row row{.lane = job.lane,
          .length = job.length,
          .name = job.name,
          .tenant = job.tenant,
          .submitted = clock_.Monotonic(),
          .stopper = std::make_shared<Stopper>(job.stop)};
  // The job stops for its caller as well as for an operator who kills it, and needs to look at one
  // token only.
  job.stop = row.stopper->source.get_token();
  KILN_TRY_VOID(CheckRoom(job));
  Line& line = LineOf(KindOf(job.lane, job.length));
  const uint64_t id = next_id_++;
  line.order.Add(id, job.tenant, job.session, job.priority);
  row.claimed = {.id = id, .job = std::move(job)};
  line.rows.emplace(id, std::move(row));
  return id;
}

bool MemoryQueue::MayRun(Lane lane) const {
  return lane == Lane::kBatch ? MayRun(Kind::kBatch) : MayRun(Kind::kShort) || MayRun(Kind::kLong);
}

// Short jobs find the places of their lane as if no long one ran: where there is only one, a long
// job that has it does not keep them waiting.
bool MemoryQueue::MayRun(Kind kind) const {
  const size_t lane = At(kind == Kind::kBatch ? Lane::kBatch : Lane::kInteractive);
  const uint64_t running = running_of_[lane] - (kind == Kind::kShort ? long_running_ : 0);
  // The limit of a lane does not hold once the queue is closed: what waits must come out, or nobody
  // would end.
  return NextTenant(kind) != nullptr && (running < most_[lane] || closed_);
}

// The owner may run one beyond the share, whatever others run. The second half keeps one tenant
// from filling the share of all.
bool MemoryQueue::MayRunLong(const std::string& tenant) const {
  const uint64_t running = CountOf(long_of_, tenant);
  if (tenant.empty()) {
    return running == 0 || long_running_ < long_at_once_;
  }
  return long_running_ < long_at_once_ && others_running_ < others_at_once_ &&
         running < std::max<uint64_t>(1, long_at_once_ / 2);
}

// Usually that is the first of all. While others than the owner have all the threads that they may
// have, it is the owner; for long jobs it is the first who has a share left.
const std::string* MemoryQueue::NextTenant(Kind kind) const {
  const bool anybodys = closed_ || kind == Kind::kBatch || others_running_ < others_at_once_;
  return LineOf(kind).order.Next([&](const std::string& tenant) KILN_REQUIRES(mutex_) {
    return kind == Kind::kLong && !closed_ ? MayRunLong(tenant) : anybodys || tenant.empty();
  });
}

MemoryQueue::Kind MemoryQueue::NextKind(Lane lane) const {
  if (lane == Lane::kBatch) {
    return Kind::kBatch;
  }
  // As with the lanes: short ones go first, and after nine of them in a row a long one has its
  // turn.
  const bool after_short = since_long_ >= kShortInARow && MayRun(Kind::kLong);
  return MayRun(Kind::kShort) && !after_short ? Kind::kShort : Kind::kLong;
}

// Interactive work goes first, but for every tenth dispatch: a batch that runs beside a busy editor
// takes ten times as long, and not for ever.
std::optional<Lane> MemoryQueue::Pick(LaneChoice serves) {
  const bool interactive = MayRun(Lane::kInteractive);
  const bool batch = serves == LaneChoice::kBoth && MayRun(Lane::kBatch);
  if (interactive && !(batch && since_batch_ >= kInteractiveInARow)) {
    return Lane::kInteractive;
  }
  return batch ? std::optional(Lane::kBatch) : std::nullopt;
}

// Moves the row of the lane whose turn it is to those that run.
DispatchedJob MemoryQueue::Take(Lane lane) {
  const Kind kind = NextKind(lane);
  Line& line = LineOf(kind);
  const std::string tenant = *NextTenant(kind);
  const auto weight = weights_.find(tenant);
  const uint64_t id = line.order.Take(tenant, weight == weights_.end() ? 1 : weight->second);
  Row row = std::move(line.rows.extract(id).mapped());
  if (kind == Kind::kLong) {
    ++long_running_;
    ++long_of_[row.tenant];
    since_long_ = 0;
  } else {
    since_long_ += kind == Kind::kShort ? 1 : 0;
  }
  // The counts of Complete must mirror these to the letter, or a place would be lost with each job.
  others_running_ += lane == Lane::kInteractive && !row.tenant.empty() ? 1 : 0;
  row.RunsHere();
  DispatchedJob claimed = std::exchange(row.claimed, {});
  running_.emplace(claimed.id, std::move(row));
  ++running_of_[At(lane)];
  return claimed;
}

std::optional<DispatchedJob> MemoryQueue::Claim(LaneChoice serves) {
  std::optional<DispatchedJob> claimed;
  Duration waited{};
  CondVar* wake = nullptr;
  {
    const MutexLock lock(mutex_);
    std::optional<Lane> lane = Pick(serves);
    while (!lane.has_value()) {
      // A closed queue still hands out what waits: only an empty one ends the thread.
      if (closed_) {
        return std::nullopt;
      }
      // What the thread waits for is told by its own condition variable, so that a job for anybody
      // does not wake one that may not take it.
      Idle& idle = idle_[At(serves)];
      ++idle.threads;
      idle.changed.Wait(mutex_);
      --idle.threads;
      lane = Pick(serves);
    }
    claimed = Take(*lane);
    waited = clock_.Monotonic() - running_.at(claimed->id).submitted;
    if (serves == LaneChoice::kBoth) {
      since_batch_ = *lane == Lane::kBatch ? 0 : since_batch_ + 1;
    }
    // Whoever was woken wakes the next one if there is more to do. So a burst of jobs needs no loop
    // of wakes under the mutex.
    wake = NextToWake();
  }
  if (wake != nullptr) {
    wake->NotifyOne();
  }
  if (on_claim_ != nullptr) {  // a job that was taken is handed out, whatever that costs others
    (void)CatchAll([&] { on_claim_(claimed->job.lane, waited); });
  }
  return claimed;
}

void MemoryQueue::RunsHere(uint64_t id) {
  const MutexLock lock(mutex_);
  if (const auto found = running_.find(id); found != running_.end()) {
    found->second.RunsHere();
  }
}

// The mean time between two ends is smoothed exponentially. It is what DrainTime multiplies by the
// jobs that wait, and so what a client that was refused is told to wait for.
void MemoryQueue::Complete(uint64_t id) {
  CondVar* wake = nullptr;
  {
    const MutexLock lock(mutex_);
    const auto found = running_.find(id);
    KILN_CHECK(found != running_.end(), "job {} is not running", id);
    const size_t lane = At(found->second.lane);
    const Duration now = clock_.Monotonic();
    // The first end has no end before it, so the mean begins with the second.
    if (++finished_[lane] > 1) {
      between_ends_[lane] += std::chrono::duration_cast<Duration>(
          (now - last_end_[lane] - between_ends_[lane]) * kSmooth);
    }
    last_end_[lane] = now;
    --running_of_[lane];
    const bool of_others = lane == At(Lane::kInteractive) && !found->second.tenant.empty();
    const bool had_all = of_others && others_running_ >= others_at_once_;
    others_running_ -= of_others ? 1 : 0;
    const bool was_long = KindOf(found->second.lane, found->second.length) == Kind::kLong;
    if (was_long) {
      --long_running_;
      TakeOne(long_of_, found->second.tenant);
    }
    running_.erase(found);
    // A worker that completes a job looks for the next one itself; others idle only under a limit.
    wake = most_[lane] == UINT32_MAX && !had_all && !was_long ? nullptr : NextToWake();
  }
  if (wake != nullptr) {
    wake->NotifyOne();
  }
}

void MemoryQueue::SetWeights(std::map<std::string, uint32_t> weights) {
  const MutexLock lock(mutex_);
  weights_ = std::move(weights);
}

void MemoryQueue::Limit(Lane lane, uint32_t most) {
  CondVar* wake = nullptr;
  {
    const MutexLock lock(mutex_);
    most_[At(lane)] = most;
    wake = NextToWake();
  }
  if (wake != nullptr) {
    wake->NotifyOne();
  }
}

// It holds the mutex for all rows, up to ten thousand, and is meant for people who ask now and
// then.
std::vector<JobRow> MemoryQueue::List() {
  std::vector<JobRow> rows;
  const MutexLock lock(mutex_);
  const Duration now = clock_.Monotonic();
  const auto add = [&](uint64_t id, const Row& row, bool running) {
    rows.push_back({.id = id,
                    .lane = row.lane,
                    .running = running,
                    .name = row.name,
                    .tenant = row.tenant,
                    .age = now - row.submitted,
                    .cpu = running ? TimeOf(row.thread) - row.thread_cpu : Duration::zero()});
  };
  for (const auto& [id, row] : running_) {
    add(id, row, true);
  }
  for (const Line& line : waiting_) {
    for (const auto& [id, row] : line.rows) {
      add(id, row, false);
    }
  }
  std::sort(rows.begin(), rows.end(), [](const JobRow& a, const JobRow& b) { return a.id < b.id; });
  return rows;
}

Result<void> MemoryQueue::Kill(uint64_t id) {
  std::shared_ptr<Stopper> stopper;  // its callbacks run outside of the mutex
  {
    const MutexLock lock(mutex_);
    if (const auto found = running_.find(id); found != running_.end()) {
      stopper = found->second.stopper;
    }
    for (const Line& line : waiting_) {
      if (const auto found = line.rows.find(id); found != line.rows.end()) {
        stopper = found->second.stopper;
      }
    }
  }
  if (stopper == nullptr) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no job " + std::to_string(id),
                 .reason = "UNKNOWN_JOB"};
  }
  // A job that waits stays in its line: a worker takes it in its turn and finds at once that it is
  // not wanted.
  stopper->source.request_stop();
  return {};
}

Duration MemoryQueue::DrainTime(Lane lane) {
  const MutexLock lock(mutex_);
  return between_ends_[At(lane)] * static_cast<int64_t>(Waiting(lane));
}

Duration MemoryQueue::LongestWait(Lane lane) {
  const MutexLock lock(mutex_);
  const Duration now = clock_.Monotonic();
  Duration longest{};
  // What may run long waits for its share, and not for somebody to make way.
  for (const auto& [id, row] : LinesOf(lane).front().rows) {
    longest = std::max(longest, now - row.submitted);
  }
  return longest;
}

void MemoryQueue::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  for (Idle& idle : idle_) {
    idle.changed.NotifyAll();
  }
}

QueueStatus MemoryQueue::Status() {
  const MutexLock lock(mutex_);
  QueueStatus status;
  status.finished = finished_;
  for (size_t lane = 0; lane < kLaneCount; ++lane) {
    status.waiting[lane] = Waiting(static_cast<Lane>(lane));
  }
  for (const auto& [id, row] : running_) {
    ++status.running[At(row.lane)];
  }
  return status;
}

}  // namespace kiln::jobs
