// SPDX-License-Identifier: MIT
// Worker processes and what they are asked: a recipe and the bytes of a module -> the bytes that it
// makes, a report of what is wrong, or the end of a process that nobody mourns. Spec: daemon §12
//
// Threads: Run may be called from any number of threads; each waits for a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
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
};

struct Job {
  target::Environment environment = target::Environment::kVulkan11;
  std::string recipe;
  ByteView input;
};

// What runs recipes; tests have one without processes.
class Runner {
 public:
  virtual ~Runner() = default;
  // Errors: kCancelled, kDeadlineExceeded; kUnavailable if no process starts.
  virtual Result<Answer> Run(const Job& job, std::stop_token stop, Duration deadline) = 0;
};

struct PoolCounters {
  uint64_t started = 0;   // processes
  uint64_t recycled = 0;  // ended because they were old or large
  uint64_t killed = 0;    // by a limit, a timeout, a cancel, or by themselves
  uint64_t poisoned = 0;  // jobs
};

class Pool final : public Runner {
 public:
  struct Options {
    std::string program;   // what becomes a worker with kWorkerFlag; empty: this program
    uint32_t workers = 1;  // processes
    uint32_t jobs_per_process = 1000;
    uint64_t growth_bytes = uint64_t{512} << 20;  // of resident memory
    std::chrono::seconds wall{60};                // of one attempt
    int attempts = 3;
  };

  // The clock must outlive the pool.
  Pool(Options options, Clock& clock) : options_(std::move(options)), clock_(clock) {}

  Result<Answer> Run(const Job& job, std::stop_token stop, Duration deadline) override;

  PoolCounters counters();

 private:
  struct Attempt {
    bool answered = false;
    bool taken = false;  // the process had the job when it went
    Answer answer;
    std::string death;
  };

  Result<std::unique_ptr<Process>> Take(const std::stop_token& stop, Duration deadline);
  void Give(std::unique_ptr<Process> process);
  void Lose(std::unique_ptr<Process> process);
  Result<Attempt> Try(const Job& job, const std::stop_token& stop, Duration deadline);

  const Options options_;
  Clock& clock_;
  Mutex mutex_;
  CondVar given_;
  std::vector<std::unique_ptr<Process>> idle_ KILN_GUARDED_BY(mutex_);
  uint32_t alive_ KILN_GUARDED_BY(mutex_) = 0;  // idle and at work
  PoolCounters counters_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::worker
