// SPDX-License-Identifier: MIT
#include "server/worker/pool.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/worker/message.h"

namespace kiln::worker {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(20);  // for cancels, between looks at a worker

// Errors: what ends the wait of a caller.
Result<void> StillWanted(const std::stop_token& stop, Duration deadline, Clock& clock) {
  if (stop.stop_requested()) {
    return Error{.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}};
  }
  if (clock.Monotonic() >= deadline) {
    return Error{.code = ErrorCode::kDeadlineExceeded,
                 .context = "the deadline passed while a recipe ran",
                 .reason = {}};
  }
  return {};
}

}  // namespace

PoolCounters Pool::counters() {
  const MutexLock lock(mutex_);
  return counters_;
}

Result<std::unique_ptr<Process>> Pool::Take(const std::stop_token& stop, Duration deadline) {
  {
    const MutexLock lock(mutex_);
    while (idle_.empty() && alive_ >= options_.workers) {
      KILN_TRY_VOID(StillWanted(stop, deadline, clock_));
      (void)given_.WaitFor(mutex_, kLook);
    }
    if (!idle_.empty()) {
      std::unique_ptr<Process> process = std::move(idle_.back());
      idle_.pop_back();
      return process;
    }
    ++alive_;
    ++counters_.started;
  }
  Result<std::unique_ptr<Process>> process = Process::Start(options_.program);
  if (!process.ok()) {
    const MutexLock lock(mutex_);
    --alive_;
    given_.NotifyOne();
  }
  return process;
}

void Pool::Give(std::unique_ptr<Process> process) {
  const uint64_t resident = process->ResidentBytes();
  process->first_resident = process->jobs == 0 ? resident : process->first_resident;
  const bool old = ++process->jobs >= options_.jobs_per_process ||
                   resident > process->first_resident + options_.growth_bytes;
  {
    const MutexLock lock(mutex_);
    if (old) {
      --alive_;
      ++counters_.recycled;
    } else {
      idle_.push_back(std::move(process));
    }
    given_.NotifyOne();
  }
}

void Pool::Lose(std::unique_ptr<Process> process) {
  process.reset();
  const MutexLock lock(mutex_);
  --alive_;
  ++counters_.killed;
  given_.NotifyOne();
}

Result<Pool::Attempt> Pool::Try(const Job& job, const std::stop_token& stop, Duration deadline) {
  KILN_TRY(std::unique_ptr<Process> process, Take(stop, deadline));
  Attempt attempt;
  const Duration timeout = clock_.Monotonic() + options_.wall;
  const Message message{
      .kind = MessageKind::kJob,
      .text = std::string(target::EnvironmentText(job.environment)) + " " + job.recipe,
      .payload = {job.input.begin(), job.input.end()}};
  Result<void> sent = Send(process->socket(), message);
  if (!sent.ok() && sent.error().code != ErrorCode::kUnavailable) {
    Give(std::move(process));
    return sent.error();
  }
  while (sent.ok()) {
    if (!process->WaitReadable(kLook)) {
      if (const Result<void> wanted = StillWanted(stop, deadline, clock_); !wanted.ok()) {
        Lose(std::move(process));
        return wanted.error();
      }
      if (clock_.Monotonic() >= timeout) {
        attempt.death = fmt::format("no answer within {} s; ", options_.wall.count());
        break;
      }
      continue;
    }
    Result<Message> answer = Receive(process->socket());
    if (!answer.ok()) {
      break;
    }
    if (answer->kind == MessageKind::kTaken) {
      attempt.taken = true;
      continue;
    }
    attempt.answered = true;
    attempt.answer = {
        .kind = answer->kind == MessageKind::kMade ? AnswerKind::kMade : AnswerKind::kRejected,
        .bytes = std::move(answer->payload),
        .report = std::move(answer->text)};
    Give(std::move(process));
    return attempt;
  }
  attempt.death += process->End();
  Lose(std::move(process));
  return attempt;
}

Result<Answer> Pool::Run(const Job& job, std::stop_token stop, Duration deadline) {
  std::string death;
  int free_attempts = options_.attempts;  // of processes that went before they had the job
  for (int attempts = 0; attempts < options_.attempts;) {
    KILN_TRY(Attempt attempt, Try(job, stop, deadline));
    if (attempt.answered) {
      return std::move(attempt.answer);
    }
    death = std::move(attempt.death);
    if (attempt.taken || free_attempts == 0) {
      ++attempts;
    } else {
      --free_attempts;
    }
  }
  const MutexLock lock(mutex_);
  ++counters_.poisoned;
  return Answer{.kind = AnswerKind::kPoison,
                .bytes = {},
                .report = fmt::format("'{}' ended {} worker processes: {}", job.recipe,
                                      options_.attempts, death)};
}

}  // namespace kiln::worker
