// SPDX-License-Identifier: MIT
#include "server/jobs/memory_queue.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/thread.h"
#include "server/jobs/shares.h"

namespace kiln::jobs {
namespace {

constexpr uint32_t kInteractiveInARow = 9;  // then one of the batch lane

// Between two jobs of a session of weight 1; the greatest weight is 1,000 << kMostUrgent.
constexpr uint64_t kDistance = uint64_t{1} << 24;
constexpr size_t kMostSessions = 1024;  // that are remembered, unless all of them are behind

constexpr double kSmooth = 0.1;  // weight of the latest interval between two jobs that end

size_t At(Lane lane) { return static_cast<size_t>(lane); }
size_t At(Serves serves) { return serves == Serves::kBoth ? 0 : 1; }

// What a CPU clock says; zero once its thread is gone.
Duration TimeOf(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0
             ? std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)
             : Duration::zero();
}

}  // namespace

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

CondVar* MemoryQueue::NextToWake() {
  Idle& both = idle_[At(Serves::kBoth)];
  Idle& express = idle_[At(Serves::kInteractiveOnly)];
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
  const size_t lane = At(job.lane);
  const auto waiting_of = [&](const std::string& tenant) {
    const auto found = waiting_of_[lane].find(tenant);
    return found == waiting_of_[lane].end() ? 0 : found->second;
  };
  const Taken taken = {
      .all = waiting_[lane].rows.size(), .owner = waiting_of(""), .tenant = waiting_of(job.tenant)};
  switch (RoomFor(job.tenant, limits_[lane], taken)) {
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

Result<uint64_t> MemoryQueue::Add(Job job) {
  const size_t lane = At(job.lane);
  Row row{.lane = job.lane,
          .name = job.name,
          .tenant = job.tenant,
          .submitted = clock_.Monotonic(),
          .stopper = std::make_shared<Stopper>(job.stop)};
  job.stop = row.stopper->source.get_token();
  KILN_TRY_VOID(CheckRoom(job));
  Line& line = waiting_[lane];
  ++waiting_of_[lane][job.tenant];
  const uint64_t id = next_id_++;
  const uint64_t start = StartOf(line, job);
  row.claimed = {.id = id, .job = std::move(job)};
  line.rows.emplace(std::pair(start, id), std::move(row));
  return id;
}

uint64_t MemoryQueue::StartOf(Line& line, const Job& job) {
  if (line.next.size() >= kMostSessions) {  // those that have had nothing to do are not behind
    std::erase_if(line.next, [&](const auto& session) { return session.second <= line.now; });
  }
  const auto of_tenant = weights_.find(job.tenant);
  const uint64_t weight = uint64_t{of_tenant == weights_.end() ? 1 : of_tenant->second}
                          << std::min(job.priority, kMostUrgent);
  uint64_t& next = line.next[{job.tenant, job.session}];
  const uint64_t start = std::max(next, line.now);
  next = start + kDistance / weight;
  return start;
}

bool MemoryQueue::MayRun(Lane lane) const {
  return First(lane) != waiting_[At(lane)].rows.end() &&
         (running_of_[At(lane)] < most_[At(lane)] || closed_);
}

MemoryQueue::Places::const_iterator MemoryQueue::First(Lane lane) const {
  const Places& rows = waiting_[At(lane)].rows;
  const bool anybodys = closed_ || lane != Lane::kInteractive || others_running_ < others_at_once_;
  if (anybodys || rows.empty() || !waiting_of_[At(lane)].contains("")) {
    return anybodys ? rows.begin() : rows.end();
  }
  return std::ranges::find_if(rows, [](const auto& row) { return row.second.tenant.empty(); });
}

std::optional<Lane> MemoryQueue::Pick(Serves serves) {
  const bool interactive = MayRun(Lane::kInteractive);
  const bool batch = serves == Serves::kBoth && MayRun(Lane::kBatch);
  if (interactive && !(batch && since_batch_ >= kInteractiveInARow)) {
    return Lane::kInteractive;
  }
  return batch ? std::optional(Lane::kBatch) : std::nullopt;
}

// Moves the row of the lane whose turn it is to those that run.
Claimed MemoryQueue::Take(Lane lane) {
  Line& line = waiting_[At(lane)];
  auto taken = line.rows.extract(First(lane));
  line.now = std::max(line.now, taken.key().first);
  Row row = std::move(taken.mapped());
  if (line.rows.empty()) {  // nobody is behind anybody
    line.next.clear();
    line.now = 0;
  }
  if (--waiting_of_[At(lane)][row.tenant] == 0) {
    waiting_of_[At(lane)].erase(row.tenant);
  }
  others_running_ += lane == Lane::kInteractive && !row.tenant.empty() ? 1 : 0;
  row.RunsHere();
  Claimed claimed = std::exchange(row.claimed, {});
  running_.emplace(claimed.id, std::move(row));
  ++running_of_[At(lane)];
  return claimed;
}

std::optional<Claimed> MemoryQueue::Claim(Serves serves) {
  std::optional<Claimed> claimed;
  Duration waited{};
  CondVar* wake = nullptr;
  {
    const MutexLock lock(mutex_);
    std::optional<Lane> lane = Pick(serves);
    while (!lane.has_value()) {
      if (closed_) {
        return std::nullopt;
      }
      Idle& idle = idle_[At(serves)];
      ++idle.threads;
      idle.changed.Wait(mutex_);
      --idle.threads;
      lane = Pick(serves);
    }
    claimed = Take(*lane);
    waited = clock_.Monotonic() - running_.at(claimed->id).submitted;
    if (serves == Serves::kBoth) {
      since_batch_ = *lane == Lane::kBatch ? 0 : since_batch_ + 1;
    }
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

void MemoryQueue::Complete(uint64_t id) {
  CondVar* wake = nullptr;
  {
    const MutexLock lock(mutex_);
    const auto found = running_.find(id);
    KILN_CHECK(found != running_.end(), "job {} is not running", id);
    const size_t lane = At(found->second.lane);
    const Duration now = clock_.Monotonic();
    if (++finished_[lane] > 1) {
      between_ends_[lane] += std::chrono::duration_cast<Duration>(
          (now - last_end_[lane] - between_ends_[lane]) * kSmooth);
    }
    last_end_[lane] = now;
    --running_of_[lane];
    const bool of_others = lane == At(Lane::kInteractive) && !found->second.tenant.empty();
    const bool had_all = of_others && others_running_ >= others_at_once_;
    others_running_ -= of_others ? 1 : 0;
    running_.erase(found);
    // Whoever completes looks for work next; others are idle beside work only under a limit.
    wake = most_[lane] == UINT32_MAX && !had_all ? nullptr : NextToWake();
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
    for (const auto& [place, row] : line.rows) {
      add(row.claimed.id, row, false);
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
      for (const auto& [place, row] : line.rows) {
        stopper = row.claimed.id == id ? row.stopper : stopper;
      }
    }
  }
  if (stopper == nullptr) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no job " + std::to_string(id),
                 .reason = "UNKNOWN_JOB"};
  }
  stopper->source.request_stop();
  return {};
}

Duration MemoryQueue::DrainTime(Lane lane) {
  const MutexLock lock(mutex_);
  return between_ends_[At(lane)] * static_cast<int64_t>(waiting_[At(lane)].rows.size());
}

Duration MemoryQueue::LongestWait(Lane lane) {
  const MutexLock lock(mutex_);
  const Duration now = clock_.Monotonic();
  Duration longest{};
  for (const auto& [place, row] : waiting_[At(lane)].rows) {
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
    status.waiting[lane] = waiting_[lane].rows.size();
  }
  for (const auto& [id, row] : running_) {
    ++status.running[At(row.lane)];
  }
  return status;
}

}  // namespace kiln::jobs
