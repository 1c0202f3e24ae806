// SPDX-License-Identifier: MIT
// Chunks of a batch: who runs them, when they end, and what the last one does. `active` counts
// chunks that were submitted and have not left, `ending` those of them that will submit no other;
// the chunk that makes the two equal ends the batch. Everything about a run is guarded by its own
// mutex, which is released while points are built, rows are put and rows of the journal are
// written.
#include "server/compile/batch/batch_work.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cache/call_bounds.h"
#include "cache/leases/on_behalf.h"
#include "compiler/artifact/metadata.h"
#include "compiler/base/threads/thread.h"
#include "server/compile/batch/batch_acknowledge.h"
#include "server/compile/batch/batch_explain.h"
#include "server/compile/batch/batch_journal.h"
#include "server/compile/batch/batch_leases.h"
#include "server/compile/batch/batch_scan.h"
#include "server/compile/explainer.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

constexpr Duration kSlice = std::chrono::milliseconds(50);  // of one chunk (spec/daemon 5.4)
// How long a chunk waits for points that others are about to discover.
constexpr Duration kExploredBySomebody = std::chrono::milliseconds(2);
constexpr Duration kSaveEvery = std::chrono::seconds(2);
constexpr Duration kProgressEvery = std::chrono::milliseconds(100);  // at most 10 per second
// Rows are written to disk for several slices together: waiting for the disk after each would take
// longer than the slice.
constexpr size_t kRowsAtOnce = 2048;

}  // namespace

// Submits as many chunks as are missing to the number of workers, or one where a scan comes first.
// Returns false only if not even one was taken. The count may be out of date when the lock is
// released: a chunk too many finds nothing and leaves.
bool BatchWorker::Wake(const BatchRunPtr& run) {
  uint32_t chunks = 0;
  {
    const MutexLock lock(run->mutex);
    if (run->Over() || run->finishing || run->paused || context_.halted.load()) {
      return true;
    }
    const uint32_t wanted = run->scanned ? context_.options.workers : 1;
    chunks = wanted - std::min(wanted, run->active);
  }
  bool submitted = chunks == 0;
  for (uint32_t i = 0; i < chunks; ++i) {
    submitted |= Submit(run).ok();  // fewer workers if the queue is full
  }
  return submitted;
}

// The chunk counts as active from before it is submitted, because it may begin, and end, before
// Submit returns.
Result<void> BatchWorker::Submit(const BatchRunPtr& run) {
  {
    const MutexLock lock(run->mutex);
    ++run->active;
  }
  jobs::Job job{.lane = jobs::Lane::kBatch,
                .name = "batch " + run->request.project,
                .tenant = run->tenant,
                .session = run->id.hex(),
                .priority = run->request.priority,
                .stop = run->stop.get_token(),
                .run = [this, run](const cache::Call& call) { Work(run, call); }};
  const Result<uint64_t> submitted = context_.queue.Submit(std::move(job));
  const MutexLock lock(run->mutex);
  if (!submitted.ok()) {
    --run->active;
    run->idle.NotifyAll();
    return submitted.error();
  }
  run->waits = false;
  return {};
}

// The worker reports a bug of kiln; here it ends the batch, which nobody else would end.
// The exception then goes on to the worker.
void BatchWorker::Work(const BatchRunPtr& run, const cache::Call& call) {
  bool ends = false;
  const cache::OnBehalfOf starter([&] {
    const MutexLock lock(run->mutex);
    return run->FirstStarter();
  }());
  try {
    RunChunk(run, call, ends);
  } catch (...) {
    Break(run, ThrownError().context, ends);
    throw;
  }
}

// The other chunks see that they should stop; the last of all ends the batch.
// If there is no memory left to say that the batch is over, it is over all the same: the destructor
// of Batches waits for its chunks.
void BatchWorker::Break(const BatchRunPtr& run, std::string_view what, bool ends) noexcept {
  (void)run->stop.request_stop();
  bool last = false;
  {
    const MutexLock lock(run->mutex);
    run->broken = true;
    run->ending += ends ? 0 : 1;
    last = run->active == run->ending;
    (void)CatchAll([&] {
      run->Add(
          {.kind = BatchEvent::Kind::kMessage, .text = "internal error: " + std::string(what)});
    });
  }
  if (last && !CatchAll([&] { Finish(run, BatchState::kFailed); }).ok()) {
    const MutexLock lock(run->mutex);
    run->state = BatchState::kFailed;
  }
  const MutexLock lock(run->mutex);
  --run->ending;
  run->Leave();
}

// A chunk ends in one of four ways: another one follows; the batch is parked, and whoever wakes it
// submits the next one; other chunks are still at work; or it was the last one, which ends the
// batch. `ends` is set when it is counted among those that end.
void BatchWorker::RunChunk(const BatchRunPtr& run, const cache::Call& call, bool& ends) {
  bool scans = false;
  {
    // A chunk that was submitted before a pause leaves here. The last one of a cancelled batch must
    // not: it ends the batch below.
    const MutexLock lock(run->mutex);
    if (!call.stop.stop_requested() && (run->Parked() || context_.halted.load())) {
      return run->Leave();
    }
    // Exactly one chunk scans. Others of an interrupted scan do not exist: only one is submitted
    // until `scanned` is set.
    scans = !run->scanning;
    run->scanning = true;
    if (run->worked_until == Duration::zero()) {
      run->worked_until = context_.clock.Monotonic();
    }
    if (run->state == BatchState::kQueued) {
      run->state = BatchState::kRunning;
    }
  }
  if (scans && !call.stop.stop_requested() && ScanBatch(context_, *run, call)) {
    for (uint32_t i = 1; i < context_.options.workers; ++i) {
      (void)Submit(run);  // fewer workers if the queue is full
    }
  }
  if (!call.stop.stop_requested()) {
    BuildPoints(run, call);
  }
  bool again = false;
  bool last = false;
  {
    const MutexLock lock(run->mutex);
    const bool more = !run->Over() && !call.stop.stop_requested() && !run->progress.over_budget &&
                      !run->broken && !(run->scanned && run->current >= run->programs.size());
    if (more && (run->Parked() || context_.halted.load())) {
      return run->Leave();
    }
    again = more;
    // Chunks end concurrently: the one that finds all others ended is the last.
    ends = !again;
    run->ending += ends ? 1 : 0;
    last = run->ending == run->active;
  }
  if (again && !Submit(run).ok()) {
    const MutexLock lock(run->mutex);
    if (run->active == 1 && context_.halted.load()) {  // the daemon drains: the next one goes on
      return run->Leave();
    }
    ends = true;
    ++run->ending;
    last = run->ending == run->active;
  }
  if (last) {
    Acknowledge(context_, *run);
    BatchState end = BatchState::kDone;
    {
      const MutexLock lock(run->mutex);
      end = run->End(call.stop.stop_requested());
    }
    Finish(run, end);
  }
  const MutexLock lock(run->mutex);
  run->ending -= ends ? 1 : 0;
  run->Leave();
}

// Points are taken a few at a time, under the run's lock, and built outside of it, until the slice
// is over. Where points are still being discovered, a chunk that finds none waits a moment for
// those that others are about to find.
void BatchWorker::BuildPoints(const BatchRunPtr& run, const cache::Call& call) {
  const Duration end = context_.clock.Monotonic() + kSlice;
  HoldLeases(context_, *run, call);
  std::vector<cache::Item> rows;
  std::optional<size_t> own;
  while (!call.stop.stop_requested() && context_.clock.Monotonic() < end &&
         !context_.halted.load()) {
    std::optional<TakenPoints> taken;
    {
      const MutexLock lock(run->mutex);
      if (!run->Parked() && !run->progress.over_budget) {
        taken = run->Take(own);
      }
    }
    if (!taken.has_value()) {
      const MutexLock lock(run->mutex);
      if (run->Parked() || run->progress.over_budget || !run->Explores()) {
        break;
      }
      (void)run->idle.WaitFor(run->mutex, kExploredBySomebody);
      continue;
    }
    for (size_t i = 0; i < taken->count; ++i) {
      std::vector<cache::Item> more = BuildPoint(run, *taken, taken->first + i, call);
      rows.insert(rows.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
    }
    const MutexLock lock(run->mutex);
    run->Finish(*taken);
  }
  bool acknowledge = false;
  {
    const MutexLock lock(run->mutex);
    run->LeaveProgram(own);
    run->rows.insert(run->rows.end(), std::make_move_iterator(rows.begin()),
                     std::make_move_iterator(rows.end()));
    acknowledge = run->rows.size() >= kRowsAtOnce || run->current == run->programs.size();
  }
  // Also at the end of the last program, so that the batch does not end with rows that were never
  // put.
  if (acknowledge) {
    Acknowledge(context_, *run);
  }
  Measure(run);
}

// One point, for the targets that want it. Gives the rows that name its results.
std::vector<cache::Item> BatchWorker::BuildPoint(const BatchRunPtr& run, const TakenPoints& taken,
                                                 size_t index, const cache::Call& call) {
  const BatchPoint point = taken.points->points.At(index);
  const bool explored = !taken.nodes.empty();
  const BuildOptions how{
      .failed = run->request.retry_failed ? KnownFailure::kTriedAgain : KnownFailure::kStands,
      .code = driver::ModuleSelection::kNew,
      .rows = ResultRows::kKeptBack,
      .urgency = Urgency::kBackground,
      .trace = context_.options.explains == nullptr && !explored ? TraceDetail::kNone
                                                                 : TraceDetail::kMisses};
  std::vector<cache::Item> rows;
  Exploration::Reading read;
  bool whole = true;
  std::vector<std::pair<size_t, Outcome>> built;  // by target
  std::vector<std::string> unbuilt;               // why
  for (size_t target = 0; target < taken.targets.size(); ++target) {
    if (!point.IsFor(target)) {
      continue;
    }
    // A batch item has its own deadline of 10 minutes (spec/daemon 9.1), however long the batch may
    // last.
    auto [outcome, trace, made] = context_.builder.Report(
        *taken.targets[target], point.options, how,
        {.stop = call.stop,
         .deadline = std::min(call.deadline, context_.clock.Monotonic() + jobs::kItemDeadline)});
    rows.insert(rows.end(), std::make_move_iterator(made.begin()),
                std::make_move_iterator(made.end()));
    whole = whole && outcome.ok();
    if (explored) {
      read.Add(trace);
    }
    if (outcome.ok() && context_.options.explains != nullptr) {
      ExplainPoint(context_, *run,
                   {.program = taken.program,
                    .target = target,
                    .point = point.options,
                    .trace = std::move(trace),
                    .failed = outcome->kind != OutcomeKind::kOk});
    }
    if (outcome.ok() && target == 0) {
      ObeyFamily(run, taken.program, point.options, *outcome, call);
    }
    if (!outcome.ok()) {
      unbuilt.push_back(outcome.error().context);
      continue;
    }
    outcome->fresh = {};  // the store has it
    built.emplace_back(target, std::move(outcome).value());
  }
  // Also when nothing was built: a node that is never expanded or abandoned keeps the exploration
  // from being done, and chunks would wait for it for ever.
  if (explored) {
    Expand(run, taken, index, whole ? std::optional(std::move(read)) : std::nullopt, call);
  }
  const MutexLock lock(run->mutex);
  for (const auto& [target, outcome] : built) {
    run->Note({.program = taken.program,
               .target = target,
               .point = taken.base + index,
               .options = point.options,
               .outcome = outcome});
  }
  for (const std::string& why : unbuilt) {
    run->NoteUnbuilt(taken.program, why);
  }
  return rows;
}

// Tells the exploration what a node of it read, so that it goes on; `read` is empty if the node
// could not be built.
void BatchWorker::Expand(const BatchRunPtr& run, const TakenPoints& taken, size_t index,
                         std::optional<Exploration::Reading> read, const cache::Call& call) {
  std::shared_ptr<Exploration> exploration;
  {
    const MutexLock lock(run->mutex);
    exploration = run->programs[taken.program].points->exploration;
  }
  if (!read.has_value()) {
    exploration->Abandon();
    return;
  }
  const Result<uint64_t> variants =
      cache::WhileWanted(call, jobs::kCallBytes, context_.clock, [&]() -> Result<uint64_t> {
        return exploration->Expand(taken.nodes[index], std::move(*read));
      });
  // A stop leaves the node unexpanded, which is of no importance: the batch is over then.
  if (!variants.ok() && call.stop.stop_requested()) {
    return;
  }
  const MutexLock lock(run->mutex);
  run->NoteExpanded(taken.program, taken.base + index, variants.ok() ? *variants : 0);
}

// Tells how far the batch is, and writes it down, when it is time to.
void BatchWorker::Measure(const BatchRunPtr& run) {
  const jobs::QueueStatus queue = context_.queue.Status();
  const std::string slowed_by =
      context_.options.slowed_by == nullptr ? std::string() : context_.options.slowed_by();
  bool save = false;
  {
    const MutexLock lock(run->mutex);
    const Duration now = context_.clock.Monotonic();
    BatchProgress& progress = run->progress;
    run->Work(now);
    if (now - run->last_progress >= kProgressEvery) {
      constexpr auto kBatch = static_cast<size_t>(jobs::Lane::kBatch);
      run->last_progress = now;
      run->rates.Add(progress.elapsed, progress.results_done, progress.variants_served);
      progress.rate_results = run->rates.results();
      progress.rate_variants = run->rates.variants();
      progress.eta_ms = run->rates.EtaMs(progress.variants_total);
      progress.queue = queue.waiting[kBatch];
      progress.running = queue.running[kBatch];
      progress.slowed_by = slowed_by;
      progress.stage = progress.compiled != run->compiled_before ? "resolve" : "lookup";
      run->compiled_before = progress.compiled;
      run->Add({.kind = BatchEvent::Kind::kProgress, .progress = progress});
    }
    save = now - run->saved_at >= kSaveEvery;
  }
  if (save) {
    // Outside of the lock of the run: SaveRow has a lock of its own, so that rows of one run are
    // written in their order.
    (void)SaveRow(context_, *run);  // counts, which are saved again
  }
}

// Compares the layout of a result with those of the other programs of its material. Most results
// have a layout that was compared before, so metadata is read for few of them.
void BatchWorker::ObeyFamily(const BatchRunPtr& run, size_t program,
                             std::span<const resolve::OptionSetting> point, const Outcome& outcome,
                             const cache::Call& call) {
  if (!outcome.artifact.has_value()) {
    return;
  }
  // Two looks at the rule, with the metadata read between them without the lock. If another chunk
  // added the same layout meanwhile, Add finds it equal, which is only repeated work.
  const Hash128& layout_hash = outcome.artifact->layout_hash;
  {
    const MutexLock lock(run->mutex);
    const BatchRun::Program& row = run->programs[program];
    if (row.family == nullptr || row.family->Knows(row.family_member, point, layout_hash)) {
      return;
    }
  }
  const Result<artifact::PipelineMetadata> metadata = MetadataOf(context_.store, outcome, call);
  if (!metadata.ok()) {
    return;  // evicted already; what it was built from has not changed
  }
  SetLines lines = SetLinesOf(*metadata);
  const MutexLock lock(run->mutex);
  BatchRun::Program& row = run->programs[program];
  const std::optional<PlacedDiagnostic> difference =
      row.family->Add(row.family_member, point, layout_hash, std::move(lines));
  if (difference.has_value()) {
    row.right = false;
    run->AddFailedProgram(run->request.programs[program].program.name, {*difference});
  }
}

// The row is written before anybody hears of the end. `finishing` keeps a second chunk, or a caller
// who cancels, from ending the run once more meanwhile.
void BatchWorker::Finish(const BatchRunPtr& run, BatchState state) {
  // Before the state changes, since the leases go next: a result that is neither pinned nor leased
  // may be evicted.
  if (state == BatchState::kDone) {
    StoreFound(context_, *run);
    if (!run->request.pin.empty()) {
      PinResults(context_, *run);
    }
    // An upstream may have been waited for, once for each result, and somebody left meanwhile.
    if (run->request.quorum && run->stop.stop_requested()) {
      state = BatchState::kCancelled;
    }
  }
  ReleaseLeases(context_, *run);
  {
    const MutexLock lock(run->mutex);
    if (run->Over() || run->finishing) {
      return;
    }
    // It may have been done before it saw that; who cancelled was told otherwise.
    state = run->cancelled ? BatchState::kCancelled : state;
    // Cancelled by the end of the process. The row still says that the batch runs.
    if (state == BatchState::kCancelled && !run->cancelled && context_.halted.load()) {
      return;  // the process ends, not the batch: the next one goes on from the row
    }
    run->finishing = true;
    if (run->worked_until != Duration::zero() && !run->paused) {
      run->Work(context_.clock.Monotonic());
    }
    for (size_t program = 0; program < run->programs.size(); ++program) {
      run->AddFailures(program);  // of programs that were not finished
    }
  }
  // Before anybody hears of the end, who may rely on it. What finds no room now is put later.
  (void)SaveRow(context_, *run, state);
  {
    const MutexLock lock(run->mutex);
    if (state == BatchState::kDone) {
      run->KeepResults();
    }
    run->DropWork();
  }
  if (context_.options.over != nullptr) {
    context_.options.over();
  }
  const MutexLock lock(run->mutex);
  run->state = state;
  run->progress.eta_ms = 0;
  run->progress.slowed_by.clear();
  run->progress.stage = "store";
  run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});  // complete
  run->Add({.kind = BatchEvent::Kind::kFinal, .progress = run->progress, .state = state});
}

}  // namespace kiln::compile
