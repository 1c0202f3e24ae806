// SPDX-License-Identifier: MIT
// What a batch tells: its counts, its distinct results and failures, and events about them. Plain
// values; what is shared never changes. See spec/daemon 7.2, 7.3
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/digest.h"
#include "compiler/resolve/values/options.h"
#include "server/compile/request.h"

namespace kiln::compile {

enum class BatchState : uint8_t { kQueued, kRunning, kPaused, kDone, kFailed, kCancelled };

// Counts of spec/daemon 7.3. Results are distinct signatures of all
// targets; variants are allowed points of the axes.
struct BatchProgress {
  struct Slow {
    std::string program;
    std::vector<resolve::OptionSetting> options;
    uint64_t cpu_us = 0;
  };
  uint64_t variants_total = 0;  // 0 until every program was scanned
  uint64_t variants_served = 0;
  uint64_t results_done = 0;
  uint64_t results_upper = 0;  // points to build, of all targets; 0 until every program was scanned
  uint64_t hit_memory = 0, hit_local = 0, hit_upstream = 0, shared = 0,
           compiled = 0;                  // of results, by origin
  uint64_t failed = 0;                    // results that are source errors
  uint64_t limited = 0;                   // that exceed a limit
  uint64_t poisoned = 0;                  // that nobody can build
  uint64_t retried = 0;                   // failures that were built again
  uint64_t unbuilt = 0;                   // results that there are not: the world failed
  uint64_t unstored = 0;                  // results that the store did not take
  uint64_t validated = 0, optimised = 0;  // distinct modules that went through these recipes
  uint64_t code_distinct = 0;             // SPIR-V modules
  uint64_t bytes_out = 0;                 // of distinct code and metadata
  uint64_t cpu_us = 0;                    // spent
  uint64_t cpu_saved_us = 0;              // of hits, when they were built
  uint64_t programs_done = 0, programs = 0;
  Duration elapsed{};                          // of work, without pauses
  double rate_results = 0, rate_variants = 0;  // per second; the mean of about the last 10 s
  uint64_t eta_ms = 0;                         // 0: not known yet
  uint64_t queue = 0, running = 0;             // jobs of the batch lane
  std::string program;                         // in work
  std::string stage;                           // scan, lookup, resolve, store
  std::string slowed_by;                       // empty, cpu, memory, io
  std::vector<Slow> slowest;                   // three, slowest first
  std::string problem;       // why results are not built or kept; the first reason
  bool wants_kept = false;   // it is not well if results are not kept
  bool over_budget = false;  // of CPU, output or results: the batch ended there
  bool wrong_space = false;  // a program's axes or conditions are wrong
};

// One distinct result, when it was first met; or all that fails in a program, each message once.
struct BatchItem {
  std::string program;
  std::vector<resolve::OptionSetting> options;  // a representative
  Outcome outcome;
  uint64_t served = 1;                                        // variants
  std::vector<std::vector<resolve::OptionSetting>> examples;  // of each diagnostic, or empty
};

// Results of all batches since the daemon began, those that are forgotten too: they only grow.
struct BatchTotals {
  uint64_t hit_memory = 0, hit_local = 0, shared = 0, compiled = 0, failed = 0;

  void Add(const BatchProgress& progress) {
    hit_memory += progress.hit_memory;
    hit_local += progress.hit_local;
    shared += progress.shared;
    compiled += progress.compiled;
    failed += progress.failed;
  }
};

struct BatchEvent {
  enum class Kind : uint8_t { kProgress, kItem, kProgramDone, kMessage, kFinal };
  uint64_t seq = 0;
  Kind kind = Kind::kProgress;
  BatchProgress progress;                   // kProgress, kFinal
  std::shared_ptr<const BatchItem> item;    // kItem: failures
  std::string text;                         // kProgramDone: its name; kMessage
  BatchState state = BatchState::kRunning;  // kFinal
};

struct BatchSummary {
  Hash128 id;
  std::string project;
  BatchState state = BatchState::kQueued;
  BatchProgress progress;
  std::string owner;
  std::string paused_by;                   // the principal; empty: it is not paused
  int64_t started_ms = 0, updated_ms = 0;  // Unix
  bool waits = false;  // of an earlier process: until somebody who may write wants it
};

// Which results a list is about; none: all of them.
struct ItemKinds {
  bool failed = false;   // source errors and limits
  bool poison = false;   // crashed or timed out again and again
  bool slow = false;     // the hundred that took most CPU
  bool deduped = false;  // serve more than one variant

  bool all() const { return !failed && !poison && !slow && !deduped; }
};

using BatchItems = std::vector<std::shared_ptr<const BatchItem>>;

}  // namespace kiln::compile
