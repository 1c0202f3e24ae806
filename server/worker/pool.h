// SPDX-License-Identifier: MIT
// Worker processes and what they are asked: a recipe and the bytes of a module -> the bytes that it
// makes, a report of what is wrong, or the end of a process that nobody mourns; where nobody is
// trusted also a source -> what a front end makes of it. See spec/daemon 12
//
// Jobs that nobody waits for have processes of their own, which are stopped while interactive work
// waits for a thread: for a second at most, and not while somebody waits for the job after all.
//
// Threads: Run may be called from any number of threads; each waits for a process of its own.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "compiler/target/target.h"
#include "server/worker/child.h"
#include "server/worker/process.h"

namespace kiln::worker {

enum class AnswerKind : uint8_t { kMade, kRejected, kPoison };

struct Answer {
  AnswerKind kind = AnswerKind::kMade;
  Bytes bytes;         // kMade
  std::string report;  // else why; of kPoison the signal, and the end of what the process said
  Duration cpu{};      // that processes used for the job
};

enum class Work : uint8_t { kRecipe, kRead };

struct Job {
  Work work = Work::kRecipe;
  target::Environment environment = target::Environment::kVulkan11;
  std::string recipe;  // of kRead: language and path, see reading.h
  ByteView input;
  bool background = false;            // nobody waits for it
  std::function<bool()> urgent = {};  // of a background job: by now somebody does; null: never
};

// What runs recipes; tests have one without processes.
class Runner {
 public:
  virtual ~Runner() = default;
  // Errors: kCancelled, kDeadlineExceeded; kUnavailable if no process starts, with reason
  // NOT_CONFINED if one could not be locked in.
  virtual Result<Answer> Run(const Job& job, std::stop_token stop, Duration deadline) = 0;
};

struct PoolCounters {
  uint64_t started = 0;   // processes
  uint64_t recycled = 0;  // ended because they were old or large
  uint64_t killed = 0;    // by a limit, a timeout, a cancel, or by themselves
  uint64_t poisoned = 0;  // jobs
  uint64_t stopped = 0;   // times that a process had to wait for interactive work
};

// A process as people see it.
struct ProcessRow {
  uint64_t pid = 0;
  std::string job;  // recipe, or empty
  uint64_t jobs_done = 0;
  uint64_t memory = 0;  // bytes that are resident
};

class Pool final : public Runner {
 public:
  struct Options {
    std::string program;   // what becomes a worker with kWorkerFlag; empty: this program
    uint32_t workers = 1;  // processes of either kind: for somebody and for nobody
    uint32_t jobs_per_process = 1000;
    uint64_t growth_bytes = uint64_t{512} << 20;  // of resident memory
    std::chrono::seconds wall{60};                // of one attempt
    Duration cpu = std::chrono::seconds(30);      // of one attempt; a process that used it is old
    Duration message = std::chrono::seconds(10);  // of one message, from its first byte on
    int attempts = 3;
    // How long interactive work has been waiting for a thread; null: it never does.
    std::function<Duration()> interactive_wait = {};
    // Told why a process could not be locked in, by the thread that wanted it.
    std::function<void(const std::string& why)> on_unfit = {};
  };

  // The clock must outlive the pool.
  Pool(Options options, Clock& clock) : options_(std::move(options)), clock_(clock) {}

  Result<Answer> Run(const Job& job, std::stop_token stop, Duration deadline) override;

  PoolCounters counters();
  std::vector<ProcessRow> Rows();  // by pid

 private:
  struct Attempt {
    bool answered = false;
    bool taken = false;  // the process had the job when it went
    Answer answer;
    std::string death;
  };

  class YieldGuard;
  static size_t At(bool background) { return background ? 1 : 0; }

  // A process that is busy with the job from the moment it is not idle.
  Result<std::unique_ptr<Process>> Take(const Job& job, const std::stop_token& stop,
                                        Duration deadline);
  void CountStop();
  void Give(std::unique_ptr<Process> process);
  void Lose(std::unique_ptr<Process> process);
  Result<Attempt> Try(const Job& job, const std::stop_token& stop, Duration deadline);
  // Whether the attempt is over.
  Result<bool> Hear(Process& process, Attempt& attempt);

  const Options options_;
  Clock& clock_;
  Mutex mutex_;
  CondVar given_;
  // By whether they are for background jobs.
  std::array<std::vector<std::unique_ptr<Process>>, 2> idle_ KILN_GUARDED_BY(mutex_);
  std::array<uint32_t, 2> alive_ KILN_GUARDED_BY(mutex_) = {};          // idle and at work
  std::map<const Process*, std::string> busy_ KILN_GUARDED_BY(mutex_);  // with their recipes
  PoolCounters counters_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::worker
