// SPDX-License-Identifier: MIT
// Batches: every allowed variant of several programs, built or found in chunks on the batch lane,
// with events that any number of watchers read. A batch is its request; its progress is the content
// of the cache, so starting it again resumes it. Spec: daemon §4.2, §7
//
// Threads: all functions of Batches may run concurrently. One mutex per batch guards its events and
// counts; building runs outside of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/leases.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "server/build/cached_build.h"
#include "server/build/explainer.h"
#include "server/jobs/queue.h"
#include "server/project/space.h"

namespace kiln::build {

struct BatchProgram {
  ProgramRequest program;
  project::SpaceRequest space;
  std::vector<NamedTarget> targets;
};

enum class OnError : uint8_t { kContinue, kStopProgram, kStop };

struct BatchRequest {
  std::string project;
  std::vector<BatchProgram> programs;
  OnError on_error = OnError::kContinue;
  bool retry_failed = false;
  uint64_t max_results = 100'000;  // of one program
  std::string pin;                 // not empty: keeps the results when the batch is done
};

enum class BatchState : uint8_t { kQueued, kRunning, kPaused, kDone, kFailed, kCancelled };

// Counts of daemon §7.3. Results are distinct signatures of all
// targets; variants are allowed points of the axes.
struct BatchProgress {
  uint64_t variants_total = 0;  // 0 until every program was scanned
  uint64_t variants_served = 0;
  uint64_t results_done = 0;
  uint64_t hit_memory = 0, hit_local = 0, hit_upstream = 0, shared = 0,
           compiled = 0;       // of results, by origin
  uint64_t failed = 0;         // results that are source errors
  uint64_t unstored = 0;       // results that the store did not take
  uint64_t code_distinct = 0;  // SPIR-V modules
  uint64_t bytes_out = 0;      // of distinct code and metadata
  uint64_t cpu_us = 0;         // spent
  uint64_t cpu_saved_us = 0;   // of hits, when they were built
  uint64_t programs_done = 0, programs = 0;
  Duration elapsed{};
  std::string program;  // in work
};

// One distinct result, when it was first met; or all that fails in a program, each message once.
struct BatchItem {
  std::string program;
  std::vector<resolve::OptionSetting> options;  // a representative
  Outcome outcome;
  uint64_t served = 1;                                        // variants
  std::vector<std::vector<resolve::OptionSetting>> examples;  // of each diagnostic, or empty
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
};

// A distinct result with the digests to fetch.
using BatchResults = std::vector<std::shared_ptr<const BatchItem>>;

struct BatchRun;

class Batches {
 public:
  struct Options {
    uint32_t workers = 1;                    // chunks of one batch that may run at once
    cache::ExplainRing* explains = nullptr;  // null: nothing is explained
    cache::Leases* leases = nullptr;         // null: there is nothing to keep from eviction
    cache::Pins* pins = nullptr;             // the same
  };

  // All must outlive the object, those of the options too.
  Batches(CachedBuild& builder, cache::BlobStore& store, jobs::JobQueue& queue, Clock& clock,
          const Options& options)
      : builder_(builder), store_(store), queue_(queue), clock_(clock), options_(options) {}
  ~Batches();

  struct Started {
    Hash128 id;
    bool attached = false;  // a batch of the same id was running already
  };
  // `id` names the request: equal requests, equal id. Errors: those of the queue.
  Result<Started> Start(const Hash128& id, BatchRequest request);

  // Events after `from_seq`; at most the last 4,096 are kept, older ones are skipped. Errors:
  // kNotFound.
  Result<std::vector<BatchEvent>> Events(const Hash128& id, uint64_t from_seq);

  // Calls back from some thread whenever there are new events, until the returned token goes.
  // Errors: kNotFound.
  Result<std::shared_ptr<void>> Subscribe(const Hash128& id, std::function<void()> on_events);

  Result<BatchSummary> Cancel(const Hash128& id);  // errors: kNotFound
  Result<BatchSummary> Get(const Hash128& id);
  std::vector<BatchSummary> List();
  Result<BatchResults> Results(const Hash128& id);  // so far, in order of program and meeting
  Result<MissHistogram> Misses(const Hash128& id);  // so far; errors: kNotFound
  // The request of a batch, to look its results up again. Errors: kNotFound.
  Result<std::shared_ptr<const BatchRequest>> Request(const Hash128& id);

  // Cancels everything and waits for running chunks; for shutdown.
  void CancelAll();

 private:
  using RunPtr = std::shared_ptr<BatchRun>;

  RunPtr Find(const Hash128& id);
  Result<void> Submit(const RunPtr& run);
  void RunChunk(const RunPtr& run, const cache::Call& call);
  bool Scan(const RunPtr& run, const cache::Call& call);
  void BuildPoints(const RunPtr& run, const cache::Call& call);
  void Acknowledge(const RunPtr& run);
  void Explain(const RunPtr& run, size_t program, size_t target,
               std::span<const resolve::OptionSetting> point, BuildTrace trace);
  void Hold(const RunPtr& run);
  void Pin(const RunPtr& run);
  void Finish(const RunPtr& run, BatchState state);

  CachedBuild& builder_;
  cache::BlobStore& store_;
  jobs::JobQueue& queue_;
  Clock& clock_;
  const Options options_;
  Mutex mutex_;
  std::map<Hash128, RunPtr> runs_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::build
