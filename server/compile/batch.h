// SPDX-License-Identifier: MIT
// Batches: every allowed variant of several programs, built or found in chunks on the batch lane,
// with events that any number of watchers read. A batch is its request; its progress is the content
// of the cache, so starting it again resumes it, and a row per batch is all that a restart of the
// daemon needs. See spec/daemon 4.2, 7
//
// Threads: all functions of Batches may run concurrently. One mutex per batch guards its events and
// counts; building runs outside of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/batch_rows.h"
#include "cache/leases.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "server/compile/batch_points.h"
#include "server/compile/cached_build.h"
#include "server/compile/explainer.h"
#include "server/compile/exploration.h"
#include "server/jobs/crash_guard.h"
#include "server/jobs/queue.h"
#include "server/project/space.h"

namespace kiln::compile {

// Limits of a batch; 0: none.
struct BatchBudget {
  uint64_t results = kMaxResults;  // distinct ones of one program
  uint64_t variants = 0;           // allowed ones of one program
  uint64_t cpu_us = 0;             // of all compiling
  uint64_t output = 0;             // bytes of distinct code and metadata
};

struct BatchProgram {
  ProgramRequest program;
  project::SpaceRequest space;
  std::vector<NamedTarget> targets;
  uint64_t results = 0, variants = 0;  // instead of the batch's, unless 0
  uint32_t priority = 0;               // 0 to 9: those with a higher one are built first
  std::string family;                  // programs of one obey the family rule; or empty
};

enum class OnError : uint8_t { kContinue, kStopProgram, kStop };

struct BatchRequest {
  std::string project;
  std::vector<BatchProgram> programs;
  OnError on_error = OnError::kContinue;
  bool retry_failed = false;
  BatchBudget budget;
  uint64_t explore = 0;  // distinct results of a program to discover beyond its budget; 0: none
  std::string pin;       // not empty: keeps the results when the batch is done
  uint32_t priority = 0;
  // A result counts as stored only when an upstream has it as well (spec/cache 7.2).
  bool quorum = false;
};

// Of one program of the request.
PointLimits LimitsOf(const BatchRequest& request, const BatchProgram& program);

// What can be told before anything is built: the budget, and the family rule at the values that
// every program fixes or defaults to. Programs with wrong sources pass: they fail as results.
// Errors: kResourceExhausted, LIMIT_VARIANTS; kInvalidArgument, SPACE_WRONG; kFailedPrecondition,
// FAMILY_MISMATCH; as CachedBuild::Prepare.
Result<void> CheckBatch(CachedBuild& builder, cache::BlobStore& store, const BatchRequest& request,
                        Clock& clock, const cache::Call& call);

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

// A distinct result with the digests to fetch.
using BatchResults = std::vector<std::shared_ptr<const BatchItem>>;

// The name under which attempts to scan a batch are noted: what ends the process three times while
// it counts is not tried again.
cache::Key ScanKey(const Hash128& batch);

struct BatchRun;
struct TakenPoints;

class Batches {
 public:
  struct Options {
    uint32_t workers = 1;  // chunks of one batch that may run at once
    // Counts what the store lost: equal counts, and what was stored then is stored now. Null: no
    // batch is repeated from what an equal one found.
    std::function<uint64_t()> losses = {};
    cache::ExplainRing* explains = nullptr;  // null: nothing is explained
    cache::Leases* leases = nullptr;         // null: there is nothing to keep from eviction
    cache::Pins* pins = nullptr;             // the same
    cache::BatchRows* rows = nullptr;        // null: batches end with the process
    // What batch work makes way for: empty, cpu, memory, io; null: nothing.
    std::function<std::string()> slowed_by = {};
    jobs::CrashGuard* attempts = nullptr;  // null: what ends the process in scanning is not found
  };

  // All must outlive the object, those of the options too.
  Batches(CachedBuild& builder, cache::BlobStore& store, jobs::JobQueue& queue, Clock& clock,
          const Options& options)
      : builder_(builder), store_(store), queue_(queue), clock_(clock), options_(options) {}
  ~Batches();

  struct StartResult {
    Hash128 id;
    bool attached = false;  // a batch of the same id was running already
  };
  struct StartHow {
    bool detach = false;      // goes on by itself after a restart
    Bytes spec;               // what Restore decodes the request from
    std::string owner = {};   // who started it, for people
    std::string tenant = {};  // whose share of the lane it uses
  };
  // `id` names the request: equal requests, equal id. When it returns the batch survives the death
  // of the process. Errors: those of the queue.
  Result<StartResult> Start(const Hash128& id, BatchRequest request, StartHow how);
  Result<StartResult> Start(const Hash128& id, BatchRequest request) {
    return Start(id, std::move(request), {});
  }

  // A batch of which nothing changed: an equal one is done, all its results were right and stored,
  // and the store has lost nothing since it began. It is over when this returns, with the results
  // of the one before as hits of memory, whatever their number: no program is prepared and no point
  // looked up. Nothing if there is no such batch, if it pins its results, or if they are to be
  // acknowledged by an upstream: Start has to look.
  std::optional<StartResult> Repeat(const Hash128& id, StartHow how);

  // Takes up the batches of an earlier process. Detached ones that had not ended go on; attached
  // ones when somebody who may write starts, watches or resumes them; paused ones stay paused. Rows
  // that `decode`
  // cannot read are dropped; what it reads and refuses, as a new one would be, has failed and says
  // why. To be called once, before anything else.
  using Decode = std::function<Result<BatchRequest>(const Hash128& id, ByteView spec)>;
  void Restore(const Decode& decode);

  // Events after `from_seq`. The last 4,096 are kept; if the next one is not among them, or
  // `from_seq` is not of this batch, the first is a full progress event. Errors: kNotFound.
  Result<std::vector<BatchEvent>> Events(const Hash128& id, uint64_t from_seq);

  // Calls back from some thread whenever there are new events, until the returned token goes. A
  // restored batch that waits for its client goes on if the subscriber may write: whoever may only
  // read starts nothing. Errors: kNotFound.
  enum class Wakes : uint8_t { kNo, kYes };
  Result<std::shared_ptr<void>> Subscribe(const Hash128& id, Wakes wakes,
                                          std::function<void()> on_events);

  // These three change nothing of a batch that is over. Errors: kNotFound.
  Result<BatchSummary> Cancel(const Hash128& id);
  Result<BatchSummary> Pause(const Hash128& id);  // running variants end first
  Result<BatchSummary> Resume(const Hash128& id);
  Result<BatchSummary> Get(const Hash128& id);
  std::vector<BatchSummary> List();  // latest first
  // Distinct results so far, in order of program and meeting. Errors: kNotFound;
  // kFailedPrecondition, BATCH_FORGOTTEN, if it ended before the daemon was restarted.
  Result<BatchResults> Results(const Hash128& id);
  // Those of some kinds and the failures, with the variants that each serves: `count` of them from
  // the number `first` on. Errors: as Results.
  struct ItemPage {
    BatchResults items;
    size_t in_all = 0;
  };
  Result<ItemPage> Items(const Hash128& id, const ItemKinds& kinds, size_t first, size_t count);
  Result<MissHistogram> Misses(const Hash128& id);  // so far; errors: kNotFound
  // The request of a batch, to look its results up again. Errors: kNotFound.
  Result<std::shared_ptr<const BatchRequest>> Request(const Hash128& id);

  // Starts no further chunk and ends those that scan: batches go on in the next process. For
  // draining.
  void Halt();
  // The same, and waits for running chunks. Rows say where each batch was.
  void CancelAll();

 private:
  using RunPtr = std::shared_ptr<BatchRun>;

  RunPtr Find(const Hash128& id);
  Result<void> Submit(const RunPtr& run);
  // Submits chunks for a run that has none. False if the queue takes none.
  bool Wake(const RunPtr& run);
  // Puts the row of a run: what the next process goes on with. `state`: instead of the run's.
  void Save(const RunPtr& run, std::optional<BatchState> state = std::nullopt);
  void DropOldest();
  RunPtr Restored(const cache::BatchRow& row, BatchRequest request);
  RunPtr RestoredAsRefused(const cache::BatchRow& row, const Error& error);
  bool halted() const { return halted_.load(); }
  void Measure(const RunPtr& run);
  void Work(const RunPtr& run, const cache::Call& call);
  void RunChunk(const RunPtr& run, const cache::Call& call, bool& ends);
  void Break(const RunPtr& run, std::string_view what, bool ends) noexcept;
  bool Scan(const RunPtr& run, const cache::Call& call);
  void BuildPoints(const RunPtr& run, const cache::Call& call);
  void BuildPoint(const RunPtr& run, const TakenPoints& taken, size_t index, BuildOptions how,
                  const cache::Call& call);
  void Expand(const RunPtr& run, const TakenPoints& taken, size_t index,
              std::optional<Exploration::Read> read, const cache::Call& call);
  void Acknowledge(const RunPtr& run);
  void Explain(const RunPtr& run, size_t program, size_t target,
               std::span<const resolve::OptionSetting> point, BuildTrace trace, bool failed);
  void ObeyFamily(const RunPtr& run, size_t program, std::span<const resolve::OptionSetting> point,
                  const Outcome& outcome, const cache::Call& call);
  void Hold(const RunPtr& run, const cache::Call& call);
  void Pin(const RunPtr& run);
  void Finish(const RunPtr& run, BatchState state);

  CachedBuild& builder_;
  cache::BlobStore& store_;
  jobs::JobQueue& queue_;
  Clock& clock_;
  const Options options_;
  std::atomic<bool> halted_{false};
  Mutex mutex_;
  std::map<Hash128, RunPtr> runs_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::compile
