// SPDX-License-Identifier: MIT
#include "server/worker/pool.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/worker/message.h"

namespace kiln::worker {
namespace {

// Times of spec/daemon 5.4 and 9.2. A look costs a poll and two clocks, and cancels have 100 ms in
// which they must be noticed.
constexpr Duration kLook = std::chrono::milliseconds(20);  // for cancels, between looks at a worker
constexpr Duration kPatience = std::chrono::milliseconds(20);  // interactive (spec/daemon 5.4)
constexpr Duration kMostStopped = std::chrono::seconds(1);

// Errors: what ends the wait of a caller.
Result<void> StillWanted(const Job& job, const std::stop_token& stop, Duration deadline,
                         Clock& clock) {
  if (stop.stop_requested()) {
    return Error{.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}};
  }
  if (clock.Monotonic() >= deadline) {
    return Error{.code = ErrorCode::kDeadlineExceeded,
                 .context = job.work == Work::kRead
                                ? "the deadline passed while a worker process read a source"
                                : "the deadline passed while a recipe ran",
                 .reason = {}};
  }
  return {};
}

Message MessageOf(const Job& job) {
  const bool reads = job.work == Work::kRead;
  return {.kind = reads ? MessageKind::kRead : MessageKind::kJob,
          .text = reads ? job.recipe
                        : std::string(target::EnvironmentText(job.environment)) + " " + job.recipe,
          .payload = {job.input.begin(), job.input.end()}};
}

}  // namespace

// Stops the process of a background job while interactive work waits. A process that was stopped
// for the longest time allowed then runs undisturbed for as long.
class Pool::YieldGuard {
 public:
  YieldGuard(Pool& pool, const Process& process, const Job& job)
      : pool_(pool), process_(process), job_(job) {}

  // To be called now and then while the process works.
  void Look() {
    if (!job_.background || pool_.options_.interactive_wait == nullptr) {
      return;
    }
    const Duration waited = pool_.options_.interactive_wait();
    const bool urgent = job_.urgent != nullptr && job_.urgent();
    const Duration now = pool_.clock_.Monotonic();
    if (stopped_at_.has_value()) {
      // It goes on when nobody waits any more, when somebody waits for it after all, or after a
      // second. In the last case it then runs for a second, whoever waits, so that it comes to an
      // end on a machine that is always busy.
      const bool long_enough = now - *stopped_at_ >= kMostStopped;
      if (long_enough || urgent || waited == Duration::zero()) {
        undisturbed_until_ = long_enough ? now + kMostStopped : now;
        Continue();
      }
    } else if (waited >= kPatience && !urgent && now >= undisturbed_until_) {
      process_.Stop();
      stopped_at_ = now;
      pool_.CountStop();
    }
  }

  // Time in which the process was stopped is added up: it is not the job's.
  void Continue() {
    if (stopped_at_.has_value()) {
      process_.Continue();
      in_all_ += pool_.clock_.Monotonic() - *stopped_at_;
      stopped_at_.reset();
    }
  }

  Duration in_all() const { return in_all_; }

 private:
  Pool& pool_;
  const Process& process_;
  const Job& job_;
  std::optional<Duration> stopped_at_;
  Duration undisturbed_until_ = Duration::min();
  Duration in_all_{};
};

void Pool::CountStop() {
  const MutexLock lock(mutex_);
  ++counters_.stopped;
}

PoolCounters Pool::counters() {
  const MutexLock lock(mutex_);
  return counters_;
}

std::vector<ProcessRow> Pool::Rows() {
  std::vector<ProcessRow> rows;
  const MutexLock lock(mutex_);
  const auto add = [&](const Process& process, const std::string& job) {
    rows.push_back({.pid = static_cast<uint64_t>(process.pid()),
                    .job = job,
                    .jobs_done = process.jobs,
                    .memory = process.ResidentBytes()});
  };
  for (const auto& [process, job] : busy_) {
    add(*process, job);
  }
  for (const auto& kind : idle_) {
    for (const std::unique_ptr<Process>& process : kind) {
      add(*process, {});
    }
  }
  std::ranges::sort(rows, {}, &ProcessRow::pid);
  return rows;
}

Result<std::unique_ptr<Process>> Pool::Take(const Job& job, const std::stop_token& stop,
                                            Duration deadline) {
  const size_t kind = At(job.background);
  {
    const MutexLock lock(mutex_);
    std::vector<std::unique_ptr<Process>>& idle = idle_[kind];
    // It wakes up every 20 ms although Give and Lose notify: the stop token and the deadline of a
    // caller notify nobody.
    while (idle.empty() && alive_[kind] >= options_.workers) {
      KILN_TRY_VOID(StillWanted(job, stop, deadline, clock_));
      (void)given_.WaitFor(mutex_, kLook);
    }
    if (!idle.empty()) {
      std::unique_ptr<Process> process = std::move(idle.back());
      idle.pop_back();
      busy_[process.get()] = job.recipe;
      return process;
    }
    // The place is taken before the process is there, because starting one takes milliseconds and
    // must not hold the mutex. It is given back if nothing starts.
    ++alive_[kind];
    ++counters_.started;
  }
  Result<std::unique_ptr<Process>> process = Process::Start(options_.program);
  const MutexLock lock(mutex_);
  if (!process.ok()) {
    --alive_[kind];
    given_.NotifyAll();
    return process;
  }
  (*process)->background = job.background;
  busy_[process->get()] = job.recipe;
  return process;
}

// A process goes back to the others, unless it is used up: libraries that it runs leak, so it is
// replaced after some jobs, when it has grown, or before a limit of its own would end it within a
// job.
void Pool::Give(std::unique_ptr<Process> process) {
  // Files of /proc are read outside of the mutex.
  const uint64_t resident = process->ResidentBytes();
  const bool used_up = process->CpuTime() >= options_.cpu;  // before its own limit ends it
  const size_t kind = At(process->background);
  const MutexLock lock(mutex_);
  busy_.erase(process.get());
  // What it had after its first job is its size with all libraries loaded, and growth is counted
  // from there.
  process->first_resident = process->jobs == 0 ? resident : process->first_resident;
  const bool old = used_up || ++process->jobs >= options_.jobs_per_process ||
                   resident > process->first_resident + options_.growth_bytes;
  if (old) {
    --alive_[kind];
    ++counters_.recycled;
  } else {
    idle_[kind].push_back(std::move(process));
  }
  given_.NotifyAll();
}

// First it is no longer shown as busy, then it is ended outside of the mutex, which takes 50 ms if
// it is stubborn, and only then its place is free: at no time are there more processes than
// allowed.
void Pool::Lose(std::unique_ptr<Process> process) {
  const size_t kind = At(process->background);
  {
    const MutexLock lock(mutex_);
    busy_.erase(process.get());
  }
  process.reset();
  const MutexLock lock(mutex_);
  --alive_[kind];
  ++counters_.killed;
  given_.NotifyAll();
}

Result<bool> Pool::Hear(Process& process, Attempt& attempt) {
  Result<Message> said = Receive(process.socket(), options_.message);
  if (!said.ok()) {
    return true;
  }
  if (said->kind == MessageKind::kUnfit) {
    if (options_.on_unfit != nullptr) {
      options_.on_unfit(said->text);
    }
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "a worker process cannot be locked in: " + said->text,
                 .reason = "NOT_CONFINED"};
  }
  if (said->kind == MessageKind::kTaken && !attempt.taken) {
    attempt.taken = true;
    return false;
  }
  // An answer to a job that it never took is as wrong as any other message. Whatever is wrong ends
  // the process, which must have been taken over.
  attempt.answered =
      attempt.taken && (said->kind == MessageKind::kMade || said->kind == MessageKind::kRejected);
  if (attempt.answered) {
    attempt.answer = {
        .kind = said->kind == MessageKind::kMade ? AnswerKind::kMade : AnswerKind::kRejected,
        .bytes = std::move(said->payload),
        .report = std::move(said->text),
        .cpu = {}};
  } else {
    attempt.death = "it said what no worker says; ";
  }
  return true;
}

// One job in one process, watched from outside. The process says when it has taken the job, and
// then what came of it; in between it is looked at every 20 ms: does anybody still want the answer,
// should it make way for interactive work, has it used up its time. Time in which it was stopped
// does not count. Whoever hangs is ended, never waited for: its memory may be anything by now.
Result<Pool::Attempt> Pool::Try(const Job& job, const std::stop_token& stop, Duration deadline) {
  KILN_TRY(std::unique_ptr<Process> process, Take(job, stop, deadline));
  YieldGuard yielding(*this, *process, job);
  Attempt attempt;
  const Duration timeout = clock_.Monotonic() + options_.wall;
  // The process may be old and have used time for other jobs, so the job's time begins at what it
  // has now.
  const Duration cpu_before = process->CpuTime();
  const Duration most_cpu = cpu_before + options_.cpu;
  const Result<void> sent = Send(process->socket(), MessageOf(job), options_.message);
  // The message was too large or there was no memory for it. Not a byte went out, so the process is
  // as good as before.
  if (!sent.ok() && sent.error().code != ErrorCode::kUnavailable) {
    Give(std::move(process));
    return sent.error();
  }
  // A process that does not take the job may have said why.
  for (bool over = !sent.ok() && !process->WaitReadable({}); !over;) {
    if (process->WaitReadable(kLook)) {
      yielding.Continue();  // it may have been stopped in the middle of what it says
      const Result<bool> heard = Hear(*process, attempt);
      if (!heard.ok()) {
        Lose(std::move(process));
        return heard.error();
      }
      over = *heard;
      continue;
    }
    if (const Result<void> wanted = StillWanted(job, stop, deadline, clock_); !wanted.ok()) {
      Lose(std::move(process));
      return wanted.error();
    }
    yielding.Look();
    if (clock_.Monotonic() >= timeout + yielding.in_all()) {
      attempt.death = fmt::format("no answer within {} s; ", options_.wall.count());
    } else if (process->CpuTime() >= most_cpu) {
      attempt.death = "no answer within the time of a processor that a job has; ";
    }
    over = !attempt.death.empty();
  }
  // One that is gone has no time any more.
  attempt.answer.cpu = std::max(Duration{}, process->CpuTime() - cpu_before);
  if (attempt.answered) {
    Give(std::move(process));
    return attempt;
  }
  {
    const MutexLock lock(mutex_);
    busy_.erase(process.get());  // before its number may be another's
  }
  attempt.death += process->End();
  Lose(std::move(process));
  return attempt;
}

// An input is poison after it ended as many processes as it has attempts. Processes that went
// before they had taken the job are not its fault, and count only when there were as many of these,
// so that a machine on which nothing starts ends a call, too.
Result<Answer> Pool::Run(const Job& job, std::stop_token stop, Duration deadline) {
  std::string death;
  Duration cpu{};                         // of attempts that ended a process
  int free_attempts = options_.attempts;  // of processes that went before they had the job
  for (int attempts = 0; attempts < options_.attempts;) {
    KILN_TRY(Attempt attempt, Try(job, stop, deadline));
    attempt.answer.cpu += cpu;
    if (attempt.answered) {
      return std::move(attempt.answer);
    }
    death = std::move(attempt.death);
    cpu = attempt.answer.cpu;
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
                                      options_.attempts, death),
                .cpu = cpu};
}

}  // namespace kiln::worker
