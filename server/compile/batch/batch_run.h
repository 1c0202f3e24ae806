// SPDX-License-Identifier: MIT
// The state of one batch: its programs with the points that are left, what came of the others, and
// the events that tell about it. Shared by the parts of Batches, and by nobody else.
//
// Threads: `mutex` guards all that changes, and nothing is built, stored or asked while it is held;
// subscribers are called under it and must only post. `save_mutex` is taken before `mutex`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/mutex.h"
#include "server/compile/batch/batch_points.h"
#include "server/compile/batch/batch_progress.h"
#include "server/compile/batch/batch_rates.h"
#include "server/compile/batch/batch_request.h"
#include "server/compile/batch/exploration.h"
#include "server/compile/batch/family_rule.h"
#include "server/compile/batch/former_results.h"
#include "server/compile/batch/held_results.h"
#include "server/compile/batch/merged_failures.h"
#include "server/compile/explainer.h"
#include "server/compile/programs/prepared_program.h"
#include "server/compile/rows/result_table.h"
#include "server/compile/rows/signature_groups.h"

namespace kiln::compile {

// Points that one chunk took.
struct TakenPoints {
  size_t program = 0;
  std::vector<std::shared_ptr<const PreparedProgram>> targets;
  std::shared_ptr<const BatchPoints> points;
  size_t first = 0, count = 0;
  size_t base = 0;                       // number of the first of `points` in those of the program
  std::vector<Exploration::Node> nodes;  // of an exploration: one for each point
};

// A result of a point for one target, or what failed.
struct BuiltPoint {
  size_t program = 0;
  size_t target = 0;
  size_t point = 0;  // of the program
  std::span<const resolve::OptionSetting> options;
  const Outcome& outcome;
};

struct BatchRun {
  // A program with one prepared form per target and its points.
  struct Program {
    std::vector<std::shared_ptr<const PreparedProgram>> targets;
    std::shared_ptr<BatchPoints> points;  // grow if they are explored, else never change
    MergedFailures failures;
    std::shared_ptr<const std::vector<BatchCauses>> causes;  // by target
    std::vector<uint32_t> explained;                         // records made, by target
    std::vector<bool> hit_explained;                         // by target
    std::shared_ptr<FamilyRule> family;                      // null: none
    size_t family_member = 0;                                // of those of the family
    std::vector<SignatureGroupPtr> groups;                   // by target, until it is done
    ProgramResultsPtr former;                                // that stand for it, until taken
    size_t next = 0;
    size_t done = 0;
    uint32_t takers = 0;  // chunks that work on it
    uint64_t variants_served = 0;
    bool stopped = false;  // on_error
    bool right = true;     // no failure so far
    bool shares = false;   // a result that another program has as well
  };
  // What came of a program; at most one of them. Stays when the run is over.
  struct Results {
    std::shared_ptr<ResultTable> own = {};
    ResultTablePtr known = {};  // an earlier run found it: told as hits of memory

    ResultTablePtr any() const { return own != nullptr ? ResultTablePtr(own) : known; }
  };

  BatchRun(const Hash128& run_id, BatchRequest run_request, Clock& clock)
      : id(run_id),
        request(std::move(run_request)),
        start(clock.Monotonic()),
        asker({.project = request.project,
               .lane = "batch",
               .trace = id.hex() + "-" + std::to_string(clock.UnixTime().count())}) {}

  const Hash128 id;
  const BatchRequest request;
  const Duration start;
  const Requester asker;  // no two runs have the same trace
  std::stop_source stop;
  // Set before the run is shared.
  Bytes spec;
  bool detach = false;
  std::string owner, tenant;
  std::string pin_owner;  // as whose the results are pinned
  int64_t started_ms = 0;
  bool restored = false;  // of an earlier process
  uint64_t losses = 0;    // of the store, when the run began
  FormerResults former;   // what needs not be built

  Mutex save_mutex;  // rows of one run are put one after another

  Mutex mutex;
  CondVar idle;
  BatchState state KILN_GUARDED_BY(mutex) = BatchState::kQueued;
  bool paused KILN_GUARDED_BY(mutex) = false;
  std::string paused_by KILN_GUARDED_BY(mutex);  // empty: it is not paused
  // The principals that started or joined it, the first one first; none: the owner of the daemon.
  std::vector<std::string> starters KILN_GUARDED_BY(mutex);
  bool waits KILN_GUARDED_BY(mutex) = false;      // restored, and no chunk was submitted since
  bool finishing KILN_GUARDED_BY(mutex) = false;  // its last row is being put
  bool cancelled KILN_GUARDED_BY(mutex) = false;  // somebody was told so, and it ends so
  bool scanning KILN_GUARDED_BY(mutex) = false;   // a chunk has begun to scan, or is done with it
  bool scanned KILN_GUARDED_BY(mutex) = false;
  bool on_error KILN_GUARDED_BY(mutex) = false;  // stopped because the request says so
  bool broken KILN_GUARDED_BY(mutex) = false;    // a fault of kiln ended a chunk, or it is refused
  Duration saved_at KILN_GUARDED_BY(mutex) = Duration::zero();
  int64_t updated_ms KILN_GUARDED_BY(mutex) = 0;
  BatchRates rates KILN_GUARDED_BY(mutex);
  uint64_t compiled_before KILN_GUARDED_BY(mutex) = 0;  // when the last progress was told
  Duration worked_until KILN_GUARDED_BY(mutex) = Duration::zero();
  uint32_t active KILN_GUARDED_BY(mutex) = 0;  // submitted chunks
  uint32_t ending KILN_GUARDED_BY(mutex) = 0;  // of these: submit no other
  std::vector<Program> programs KILN_GUARDED_BY(mutex);
  size_t current KILN_GUARDED_BY(mutex) = 0;
  BatchProgress progress KILN_GUARDED_BY(mutex);
  FlatMap<Hash128, bool> code KILN_GUARDED_BY(mutex);   // modules that were counted
  FlatMap<Hash128, bool> blobs KILN_GUARDED_BY(mutex);  // the same of metadata
  std::vector<Results> results KILN_GUARDED_BY(mutex);  // by program
  uint64_t result_count KILN_GUARDED_BY(mutex) = 0;
  HeldPart held_results KILN_GUARDED_BY(mutex);  // of whoever started it first
  // By program, when the run is over; null if not all of it was right and stored.
  std::vector<ProgramResultsPtr> kept KILN_GUARDED_BY(mutex);
  BatchItems failures KILN_GUARDED_BY(mutex);
  // Of results whose content was put.
  std::vector<cache::Item> rows KILN_GUARDED_BY(mutex);
  MissHistogram misses KILN_GUARDED_BY(mutex);
  Duration held_at KILN_GUARDED_BY(mutex) = Duration::min();  // the lease
  std::deque<BatchEvent> events KILN_GUARDED_BY(mutex);
  uint64_t next_seq KILN_GUARDED_BY(mutex) = 1;
  Duration last_progress KILN_GUARDED_BY(mutex) = Duration::zero();
  uint64_t next_subscriber KILN_GUARDED_BY(mutex) = 0;
  std::map<uint64_t, std::function<void()>> subscribers KILN_GUARDED_BY(mutex);

  bool Over() KILN_REQUIRES(mutex);
  // What its row and its callers are told: of one that was cancelled that it is, also while its
  // last steps run.
  BatchState LastingState() KILN_REQUIRES(mutex) {
    return cancelled && !Over() ? BatchState::kCancelled : state;
  }
  // Notes that somebody wants it built; whether he is new.
  bool Join(const std::string& starter) KILN_REQUIRES(mutex);
  std::string FirstStarter() KILN_REQUIRES(mutex) {
    return starters.empty() ? std::string() : starters.front();
  }
  // Whether an equal run would find all that this one found, and nothing else.
  bool IsRepeatable() KILN_REQUIRES(mutex);
  // Is over with what an equal run found, as hits of memory. Costs a pointer a program.
  void Repeat(BatchRun& before) KILN_REQUIRES(mutex, before.mutex);
  // What stands for a program becomes its results. Costs two look-ups of contents a result.
  void Adopt(size_t program) KILN_REQUIRES(mutex);
  // The run has ended and was stored: later ones may adopt what its programs came to.
  void KeepResults() KILN_REQUIRES(mutex);
  // Gives up what only a run needs that is not over.
  void DropWork() KILN_REQUIRES(mutex);
  // The results, in the order of the programs. They change until the run is over.
  BatchResults Told() KILN_REQUIRES(mutex);
  // Waits until somebody resumes or starts it, and tells watchers by whom; whether it did not
  // before.
  bool Pause(const std::string& by) KILN_REQUIRES(mutex);
  void AddPaused() KILN_REQUIRES(mutex);  // the message: who paused it, and how it goes on
  // Goes on if it was paused; whether it was.
  bool Unpause(const std::string& by, Duration now) KILN_REQUIRES(mutex);
  // Nothing is to be built for now.
  bool Parked() KILN_REQUIRES(mutex) { return paused && !stop.stop_requested(); }
  BatchSummary Summary() KILN_REQUIRES(mutex);
  // Counts the time since the last call as work.
  void Work(Duration now) KILN_REQUIRES(mutex);
  // A chunk is over.
  void Leave() KILN_REQUIRES(mutex);
  // What a run whose last chunk ends has become.
  BatchState End(bool stopped) KILN_REQUIRES(mutex);
  void Add(BatchEvent event) KILN_REQUIRES(mutex);
  // The next points: of the program that the chunk has taken, else of the first one that no other
  // works on, else of the first one that has some. One assembler learns a program once, so chunks
  // that work on programs of their own compile least.
  std::optional<TakenPoints> Take(std::optional<size_t>& own) KILN_REQUIRES(mutex);
  void LeaveProgram(std::optional<size_t>& own) KILN_REQUIRES(mutex);
  std::optional<TakenPoints> TakeFrom(size_t program) KILN_REQUIRES(mutex);
  std::optional<TakenPoints> TakeNodes(size_t program) KILN_REQUIRES(mutex);
  // Whether there may be points later although there are none now.
  bool Explores() KILN_REQUIRES(mutex);
  // A node serves so many variants; ends the batch if too many results were found.
  void NoteExpanded(size_t program, size_t point, uint64_t variants) KILN_REQUIRES(mutex);
  // A point of a program has its outcome for one target.
  void Count(const BuiltPoint& built) KILN_REQUIRES(mutex);
  // Modules and metadata that no result before had.
  void CountContent(const ResultTable& table, size_t row) KILN_REQUIRES(mutex);
  // A result that serves so many variants, be it new or not.
  void AddResult(const BuiltPoint& built, uint64_t variants) KILN_REQUIRES(mutex);
  // Whether the result is new, and is the next one of its program; else the one that is there
  // serves more variants.
  bool AddSignature(const BuiltPoint& built, const Hash128& signature, uint64_t variants)
      KILN_REQUIRES(mutex);
  // The same as Count; stops where the request says so.
  void Note(const BuiltPoint& built) KILN_REQUIRES(mutex);
  void NoteUnbuilt(size_t program, const std::string& why) KILN_REQUIRES(mutex);
  // All points of `taken` have their outcomes.
  void Finish(const TakenPoints& taken) KILN_REQUIRES(mutex);
  // Tells what went wrong in the points of a program, once.
  void AddFailures(size_t program) KILN_REQUIRES(mutex);
  // A failure that watchers hear of.
  void AddItem(std::shared_ptr<const BatchItem> item) KILN_REQUIRES(mutex);
  void AddSlow(const BuiltPoint& built) KILN_REQUIRES(mutex);
  // That a result could not be built for a reason that its sources do not give.
  void NoteUnbuilt(const std::string& why) KILN_REQUIRES(mutex);
  // That the store did not take results.
  void NoteUnstored(uint64_t results, const Error& why) KILN_REQUIRES(mutex);
  // A program was prepared and its points listed, or not.
  void NoteScanned(const std::string& name, const Result<void>& scanned, const Program& program)
      KILN_REQUIRES(mutex);
  // Nothing of it is built.
  void Refuse(const Error& error) KILN_REQUIRES(mutex);
  // A program that fails as a whole.
  void AddFailedProgram(const std::string& name, const std::vector<PlacedDiagnostic>& diagnostics)
      KILN_REQUIRES(mutex);
};

using BatchRunPtr = std::shared_ptr<BatchRun>;

}  // namespace kiln::compile
