// SPDX-License-Identifier: MIT
// What a batch does on worker threads: building points in slices, and what
// follows when the last one is built.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "cache/call_bounds.h"
#include "compiler/artifact/metadata.h"
#include "compiler/base/thread.h"
#include "server/compile/batch.h"
#include "server/compile/batch_points.h"
#include "server/compile/batch_run.h"

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

struct Refused {
  uint64_t results = 0;
  std::optional<Error> why;  // of the first

  void Add(const Refused& more) {
    results += more.results;
    why = why.has_value() ? why : more.why;
  }
};

// Puts rows durably, in order. A row whose content the store refuses does not keep the others out.
// The rows are halved until the refused one is alone; any other error counts for all of them.
Refused PutRows(cache::BlobStore& store, std::span<const cache::Item> rows,
                cache::Durability durability) {
  if (rows.empty()) {
    return {};
  }
  const Result<cache::PutResult> stored = store.Put(rows, durability, {});
  if (stored.ok()) {
    return {};
  }
  const ErrorCode code = stored.error().code;
  const bool one_is_wrong =
      code == ErrorCode::kFailedPrecondition || code == ErrorCode::kAlreadyExists;
  if (rows.size() == 1 || !one_is_wrong || stored.error().reason == cache::kReadOnly) {
    const auto results = std::ranges::count_if(
        rows, [](const cache::Item& row) { return row.key.level == cache::Level::kSignature; });
    return {.results = static_cast<uint64_t>(results), .why = stored.error()};
  }
  const size_t half = rows.size() / 2;
  Refused refused = PutRows(store, rows.first(half), durability);
  refused.Add(PutRows(store, rows.subspan(half), durability));
  return refused;
}

constexpr Duration kRenewLease = std::chrono::minutes(1);
constexpr uint32_t kExplained = 16;  // misses of a program and target that leave a record

}  // namespace

// The worker reports a bug of kiln; here it ends the batch, which nobody else would end.
// The exception then goes on to the worker.
void Batches::Work(const RunPtr& run, const cache::Call& call) {
  bool ends = false;
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
void Batches::Break(const RunPtr& run, std::string_view what, bool ends) noexcept {
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
void Batches::RunChunk(const RunPtr& run, const cache::Call& call, bool& ends) {
  bool scans = false;
  {
    const MutexLock lock(run->mutex);
    if (!call.stop.stop_requested() && (run->Parked() || halted())) {
      return run->Leave();
    }
    scans = !run->scanning;
    run->scanning = true;
    if (run->worked_until == Duration::zero()) {
      run->worked_until = clock_.Monotonic();
    }
    if (run->state == BatchState::kQueued) {
      run->state = BatchState::kRunning;
    }
  }
  if (scans && !call.stop.stop_requested() && Scan(run, call)) {
    for (uint32_t i = 1; i < options_.workers; ++i) {
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
    if (more && (run->Parked() || halted())) {
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
    if (run->active == 1 && halted()) {  // the daemon drains: the next one goes on
      return run->Leave();
    }
    ends = true;
    ++run->ending;
    last = run->ending == run->active;
  }
  if (last) {
    Acknowledge(run);
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

void Batches::BuildPoints(const RunPtr& run, const cache::Call& call) {
  const Duration end = clock_.Monotonic() + kSlice;
  Hold(run, call);
  std::vector<cache::Item> rows;
  BuildOptions how{.durability = cache::Durability::kRelaxed,
                   .retry_failed = run->request.retry_failed,
                   .may_compile = true,
                   .all_code = false,
                   .rows = &rows,
                   .background = true};
  while (!call.stop.stop_requested() && clock_.Monotonic() < end && !halted()) {
    std::optional<TakenPoints> taken;
    {
      const MutexLock lock(run->mutex);
      if (!run->Parked() && !run->progress.over_budget) {
        taken = run->Take();
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
      BuildPoint(run, *taken, taken->first + i, how, call);
    }
    const MutexLock lock(run->mutex);
    run->Finish(*taken);
  }
  bool acknowledge = false;
  {
    const MutexLock lock(run->mutex);
    run->rows.insert(run->rows.end(), std::make_move_iterator(rows.begin()),
                     std::make_move_iterator(rows.end()));
    acknowledge = run->rows.size() >= kRowsAtOnce || run->current == run->programs.size();
  }
  if (acknowledge) {
    Acknowledge(run);
  }
  Measure(run);
}

// One point, for the targets that want it.
void Batches::BuildPoint(const RunPtr& run, const TakenPoints& taken, size_t index,
                         BuildOptions how, const cache::Call& call) {
  const BatchPoint& point = taken.points->points[index];
  const bool explored = !taken.nodes.empty();
  Exploration::Read read;
  bool whole = true;
  std::vector<Result<Outcome>> outcomes;
  for (size_t target = 0; target < taken.targets.size(); ++target) {
    if (!point.IsFor(target)) {
      continue;
    }
    BuildTrace trace;
    trace.options_of_hits = false;
    how.trace = options_.explains == nullptr && !explored ? nullptr : &trace;
    Result<Outcome> outcome = builder_.Build(
        *taken.targets[target], point.options, how,
        {.stop = call.stop,
         .deadline = std::min(call.deadline, clock_.Monotonic() + jobs::kItemDeadline)});
    whole = whole && outcome.ok();
    read.Add(trace);
    if (outcome.ok() && options_.explains != nullptr) {
      Explain(run, taken.program, target, point.options, std::move(trace),
              outcome->kind != OutcomeKind::kOk);
    }
    if (outcome.ok() && target == 0) {
      ObeyFamily(run, taken.program, point.options, *outcome, call);
    }
    outcomes.push_back(std::move(outcome));
  }
  if (explored) {
    Expand(run, taken, index, whole ? std::optional(std::move(read)) : std::nullopt, call);
  }
  const MutexLock lock(run->mutex);
  for (const Result<Outcome>& outcome : outcomes) {
    run->Note(taken.program, taken.base + index, outcome);
  }
}

// Tells the exploration what a node of it read, so that it goes on; `read` is empty if the node
// could not be built.
void Batches::Expand(const RunPtr& run, const TakenPoints& taken, size_t index,
                     std::optional<Exploration::Read> read, const cache::Call& call) {
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
      cache::WhileWanted(call, jobs::kCallBytes, clock_, [&]() -> Result<uint64_t> {
        return exploration->Expand(taken.nodes[index], std::move(*read));
      });
  if (!variants.ok() && call.stop.stop_requested()) {
    return;
  }
  const MutexLock lock(run->mutex);
  run->NoteExpanded(taken.program, taken.base + index, variants.ok() ? *variants : 0);
}

// Tells how far the batch is, and writes it down, when it is time to.
void Batches::Measure(const RunPtr& run) {
  const jobs::QueueStatus queue = queue_.Status();
  const std::string slowed_by =
      options_.slowed_by == nullptr ? std::string() : options_.slowed_by();
  bool save = false;
  {
    const MutexLock lock(run->mutex);
    const Duration now = clock_.Monotonic();
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
    Save(run);
  }
}

// Compares the layout of a result with those of the other programs of its material.
void Batches::ObeyFamily(const RunPtr& run, size_t program,
                         std::span<const resolve::OptionSetting> point, const Outcome& outcome,
                         const cache::Call& call) {
  {
    const MutexLock lock(run->mutex);
    if (run->programs[program].family == nullptr || !outcome.artifact.has_value()) {
      return;
    }
  }
  const Result<artifact::PipelineMetadata> metadata = MetadataOf(store_, outcome, call);
  if (!metadata.ok()) {
    return;  // evicted already; what it was built from has not changed
  }
  const MutexLock lock(run->mutex);
  const BatchRun::Program& row = run->programs[program];
  const std::optional<PlacedDiagnostic> difference =
      row.family->Add(row.family_member, point, *metadata);
  if (difference.has_value()) {
    run->AddFailedProgram(run->request.programs[program].program.name, {*difference});
  }
}

// What counts as stored was acknowledged (spec/cache 6.5.3): records name content, so they are
// taken only if everything before them was.
void Batches::Acknowledge(const RunPtr& run) {
  std::vector<cache::Item> rows;
  {
    const MutexLock lock(run->mutex);
    rows.swap(run->rows);
  }
  const Refused refused = PutRows(
      store_, rows, run->request.quorum ? cache::Durability::kQuorum : cache::Durability::kDurable);
  if (refused.results != 0) {
    builder_.DistrustStore();
    const MutexLock lock(run->mutex);
    run->NoteUnstored(refused.results, *refused.why);
  }
}

// Counts what was missed and why; some misses, the first hit and every failure leave a record:
// failures are found by it when they are to be forgotten.
void Batches::Explain(const RunPtr& run, size_t program, size_t target,
                      std::span<const resolve::OptionSetting> point, BuildTrace trace,
                      bool failed) {
  const bool miss = trace.result == cache::ExplainResult::kMiss;
  std::shared_ptr<const PreparedProgram> prepared;
  std::shared_ptr<const std::vector<BatchCauses>> causes;
  bool leaves_record = false;
  {
    const MutexLock lock(run->mutex);
    BatchRun::Program& of = run->programs[program];
    ++run->misses.results;
    prepared = of.targets[target];
    causes = of.causes;
    leaves_record = miss ? of.explained[target] < kExplained : !of.hit_explained[target];
    of.explained[target] += miss && leaves_record ? 1 : 0;
    leaves_record = leaves_record || failed;
    of.hit_explained[target] = of.hit_explained[target] || !miss;
  }
  const cache::Cause cause = !miss ? cache::Cause::kNone
                             : trace.cause != cache::Cause::kNone
                                 ? trace.cause
                                 : (*causes)[target].CauseOf(trace.options);
  uint64_t seq = 0;
  if (leaves_record) {
    if (!miss) {
      std::vector<resolve::OptionSetting> settings = prepared->request.options;
      settings.insert(settings.end(), point.begin(), point.end());
      const auto values = resolve::CheckOptions(prepared->program(), settings);
      trace.options =
          values.ok() ? OptionTexts(prepared->program(), *values.value) : OptionTexts(settings);
    }
    cache::ExplainRecord record = ExplainRecordOf(*prepared, run->asker, trace, clock_);
    // An explanation for content that was there once: the ring knows who removed it.
    record.cause = cause == cache::Cause::kEvicted ? cache::Cause::kNone : cause;
    seq = options_.explains->Append(std::move(record));
  } else if (miss) {
    options_.explains->CountMisses(cause, 1);
  }
  if (miss) {
    const MutexLock lock(run->mutex);
    MissHistogram::Row& row = run->misses.causes[cause];
    ++row.count;
    if (seq != 0 && row.examples.size() < MissHistogram::kExamples) {
      row.examples.push_back(seq);
    }
  }
}

// Holds leases on what the batch uses, renewed every minute.
void Batches::Hold(const RunPtr& run, const cache::Call& call) {
  if (options_.leases == nullptr) {
    return;
  }
  {
    const MutexLock lock(run->mutex);
    const Duration now = clock_.Monotonic();
    if (run->held_at != Duration::min() && now - run->held_at < kRenewLease) {
      return;
    }
    run->held_at = now;
  }
  (void)options_.leases->Hold("batch " + run->id.hex());  // without a database nothing is evicted
  std::set<cache::Key> sources;  // no record names them: to be asked for is to be leased
  for (const BatchProgram& program : run->request.programs) {
    for (const Source& source : program.program.sources) {
      sources.insert(cache::ContentKey(source.digest));
    }
  }
  (void)store_.FindMissing(std::vector<cache::Key>(sources.begin(), sources.end()), call);
}

// Pins the results under the name that the request gives.
void Batches::Pin(const RunPtr& run) {
  std::vector<cache::Key> keys;
  {
    const MutexLock lock(run->mutex);
    if (run->Over()) {
      return;
    }
    for (const std::shared_ptr<const BatchItem>& item : run->results) {
      keys.push_back(
          {.level = cache::Level::kSignature, .space = 0, .id = item->outcome.artifact->signature});
    }
  }
  const Result<uint64_t> pinned =
      options_.pins == nullptr
          ? Error{.code = ErrorCode::kFailedPrecondition,
                  .context = "results are kept in memory only",
                  .reason = std::string(cache::kReadOnly)}
          : options_.pins->Add({.name = run->request.pin, .note = "batch " + run->id.hex()}, keys);
  if (!pinned.ok()) {
    const MutexLock lock(run->mutex);
    run->Add({.kind = BatchEvent::Kind::kMessage,
              .text = "pin '" + run->request.pin + "': " + pinned.error().context});
    run->NoteUnstored(keys.size(),
                      {.code = pinned.error().code,
                       .context = "pin '" + run->request.pin + "': " + pinned.error().context});
  }
}

void Batches::Finish(const RunPtr& run, BatchState state) {
  if (state == BatchState::kDone && !run->request.pin.empty()) {
    Pin(run);
  }
  if (options_.leases != nullptr) {
    (void)options_.leases->Release("batch " + run->id.hex());
  }
  {
    const MutexLock lock(run->mutex);
    if (run->Over() || run->finishing) {
      return;
    }
    if (state == BatchState::kCancelled && halted()) {
      return;  // the process ends, not the batch: the next one goes on from the row
    }
    run->finishing = true;
    if (run->worked_until != Duration::zero() && !run->paused) {
      run->Work(clock_.Monotonic());
    }
    for (size_t program = 0; program < run->programs.size(); ++program) {
      run->AddFailures(program);  // of programs that were not finished
    }
  }
  Save(run, state);  // before anybody hears of the end, who may rely on it
  const MutexLock lock(run->mutex);
  run->state = state;
  run->progress.eta_ms = 0;
  run->progress.slowed_by.clear();
  run->progress.stage = "store";
  run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});  // complete
  run->Add({.kind = BatchEvent::Kind::kFinal, .progress = run->progress, .state = state});
}

}  // namespace kiln::compile
