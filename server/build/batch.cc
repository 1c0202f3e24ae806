// SPDX-License-Identifier: MIT
#include "server/build/batch.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "server/build/batch_points.h"
#include "server/build/batch_run.h"

namespace kiln::build {
namespace {

constexpr Duration kSlice = std::chrono::milliseconds(50);           // of one chunk (daemon §5.4)
constexpr Duration kProgressEvery = std::chrono::milliseconds(100);  // at most 10 per second
// Rows that wait for the disk together: waiting for it after every slice would take longer than the
// slice.
constexpr size_t kRowsAtOnce = 2048;

// Puts rows durably, in order; returns how many records were refused. A row that the store refuses
// for what is in it does not keep the others out.
uint64_t PutRows(cache::BlobStore& store, std::span<const cache::Item> rows) {
  if (rows.empty()) {
    return 0;
  }
  const Result<cache::Stored> stored = store.Put(rows, cache::Durability::kDurable, {});
  if (stored.ok()) {
    return 0;
  }
  const ErrorCode code = stored.error().code;
  const bool one_is_wrong =
      code == ErrorCode::kFailedPrecondition || code == ErrorCode::kAlreadyExists;
  if (rows.size() == 1 || !one_is_wrong || stored.error().reason == cache::kReadOnly) {
    return static_cast<uint64_t>(std::ranges::count_if(
        rows, [](const cache::Item& row) { return row.key.level == cache::Level::kSignature; }));
  }
  const size_t half = rows.size() / 2;
  return PutRows(store, rows.first(half)) + PutRows(store, rows.subspan(half));
}

constexpr Duration kRenewLease = std::chrono::minutes(1);
constexpr uint32_t kExplained = 16;  // misses of a program and target that leave a record

Error UnknownBatch(const Hash128& id) {
  return {.code = ErrorCode::kNotFound,
          .context = "no batch has the id " + id.hex(),
          .reason = "BATCH_UNKNOWN"};
}

}  // namespace

Batches::~Batches() { CancelAll(); }

Batches::RunPtr Batches::Find(const Hash128& id) {
  const MutexLock lock(mutex_);
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : found->second;
}

Result<Batches::Started> Batches::Start(const Hash128& id, BatchRequest request) {
  auto run = std::make_shared<BatchRun>(id, std::move(request), clock_);
  {
    const MutexLock lock(mutex_);
    RunPtr& known = runs_[id];
    if (known != nullptr) {
      const MutexLock run_lock(known->mutex);
      if (!known->Over()) {
        return Started{.id = id, .attached = true};
      }
    }
    known = run;
  }
  {
    const MutexLock lock(run->mutex);
    run->progress.programs = run->request.programs.size();
  }
  const Result<void> submitted = Submit(run);
  if (!submitted.ok()) {
    Finish(run, BatchState::kFailed);
    return submitted.error();
  }
  return Started{.id = id, .attached = false};
}

Result<void> Batches::Submit(const RunPtr& run) {
  {
    const MutexLock lock(run->mutex);
    ++run->active;
  }
  jobs::Job job{.lane = jobs::Lane::kBatch,
                .name = "batch " + run->request.project,
                .stop = run->stop.get_token(),
                .run = [this, run](const cache::Call& call) { RunChunk(run, call); }};
  const Result<uint64_t> submitted = queue_.Submit(std::move(job));
  if (!submitted.ok()) {
    const MutexLock lock(run->mutex);
    --run->active;
    run->idle.NotifyAll();
    return submitted.error();
  }
  return {};
}

void Batches::RunChunk(const RunPtr& run, const cache::Call& call) {
  bool first = false;
  {
    const MutexLock lock(run->mutex);
    first = run->state == BatchState::kQueued;
    run->state = first ? BatchState::kRunning : run->state;
  }
  bool more = !call.stop.stop_requested();
  if (more && first) {
    more = Scan(run, call);
    for (uint32_t i = 1; more && i < options_.workers; ++i) {
      (void)Submit(run);  // fewer workers if the queue is full
    }
  }
  if (more) {
    BuildPoints(run, call);
  }
  bool again = false;
  bool last = false;
  {
    const MutexLock lock(run->mutex);
    again =
        more && !run->Over() && run->current < run->programs.size() && !call.stop.stop_requested();
    // Chunks end side by side: the one that finds all others ended is the last.
    run->ending += again ? 0 : 1;
    last = run->ending == run->active;
  }
  if (again && !Submit(run).ok()) {
    last = true;  // the queue closed: the daemon drains
  }
  if (last) {
    Acknowledge(run);
    Finish(run, call.stop.stop_requested() || again ? BatchState::kCancelled : BatchState::kDone);
  }
  const MutexLock lock(run->mutex);
  --run->active;
  run->ending -= again ? 0 : 1;
  run->idle.NotifyAll();
}

// Prepares every program and lists its points. False if the batch cannot go on.
bool Batches::Scan(const RunPtr& run, const cache::Call& call) {
  Hold(run);
  std::vector<BatchRun::Program> programs;
  uint64_t total = 0;
  for (const BatchProgram& request : run->request.programs) {
    BatchRun::Program program;
    program.points = std::make_shared<const BatchPoints>();
    Result<void> failure;
    for (const NamedTarget& target : request.targets) {
      Result<std::shared_ptr<const PreparedProgram>> prepared =
          builder_.Prepare(request.program, target, call);
      if (!prepared.ok()) {
        failure = prepared.error();
        break;
      }
      program.targets.push_back(std::move(prepared).value());
    }
    if (failure.ok() && !program.targets.empty() && program.targets[0]->ok()) {
      Result<BatchPoints> points = PointsOf(*program.targets[0]->linked->value, request.space,
                                            run->request.max_results, clock_);
      if (points.ok()) {
        total += points->variants;
        program.points = std::make_shared<const BatchPoints>(std::move(points).value());
      } else {
        failure = points.error();
      }
    }
    const auto causes = std::make_shared<std::vector<BatchCauses>>();
    for (const std::shared_ptr<const PreparedProgram>& target : program.targets) {
      if (options_.explains != nullptr) {
        const cache::ExplainRecord record = ExplainRecordOf(*target, run->asker, {}, clock_);
        causes->emplace_back(record, options_.explains->Records(record.slot));
      }
    }
    program.causes = causes;
    program.explained.resize(program.targets.size());
    program.hit_explained.resize(program.targets.size());
    const MutexLock lock(run->mutex);
    if (!failure.ok()) {
      run->Add({.kind = BatchEvent::Kind::kMessage,
                .text = request.program.name + ": " + failure.error().context});
      ++run->progress.failed;
    } else if (!program.targets.empty() && !program.targets[0]->ok()) {
      run->AddFailedProgram(request.program.name, program.targets[0]->diagnostics);
    }
    programs.push_back(std::move(program));
    if (call.stop.stop_requested()) {
      return false;
    }
  }
  const MutexLock lock(run->mutex);
  run->programs = std::move(programs);
  run->progress.variants_total = total;
  run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});
  return true;
}

void Batches::BuildPoints(const RunPtr& run, const cache::Call& call) {
  const Duration end = clock_.Monotonic() + kSlice;
  Hold(run);
  std::vector<cache::Item> rows;
  BuildOptions how{.durability = cache::Durability::kRelaxed,
                   .retry_failed = run->request.retry_failed,
                   .may_compile = true,
                   .all_code = false,
                   .rows = &rows};
  while (!call.stop.stop_requested() && clock_.Monotonic() < end) {
    std::optional<BatchRun::Taken> taken;
    {
      const MutexLock lock(run->mutex);
      taken = run->Take();
    }
    if (!taken.has_value()) {
      break;
    }
    uint64_t served = 0;
    for (size_t i = taken->first; i < taken->first + taken->count; ++i) {
      served += taken->points->points[i].served;
      for (size_t target = 0; target < taken->targets.size(); ++target) {
        const std::vector<resolve::OptionSetting>& point = taken->points->points[i].options;
        BuildTrace trace;
        trace.options_of_hits = false;
        how.trace = options_.explains == nullptr ? nullptr : &trace;
        const Result<Outcome> outcome = builder_.Build(*taken->targets[target], point, how, call);
        if (outcome.ok() && how.trace != nullptr) {
          Explain(run, taken->program, target, point, std::move(trace));
        }
        const MutexLock lock(run->mutex);
        run->Note(taken->program, i, outcome);
      }
    }
    const MutexLock lock(run->mutex);
    run->Finish(*taken, served);
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
  const MutexLock lock(run->mutex);
  const Duration now = clock_.Monotonic();
  run->progress.elapsed = now - run->start;
  if (now - run->last_progress >= kProgressEvery) {
    run->last_progress = now;
    run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});
  }
}

// What counts as stored was acknowledged (cache §6.5.3): records name content, so they are taken
// only if everything before them was.
void Batches::Acknowledge(const RunPtr& run) {
  std::vector<cache::Item> rows;
  {
    const MutexLock lock(run->mutex);
    rows.swap(run->rows);
  }
  const uint64_t unstored = PutRows(store_, rows);
  if (unstored != 0) {
    builder_.DistrustStore();
    const MutexLock lock(run->mutex);
    run->progress.unstored += unstored;
  }
}

// Counts what was missed and why; some misses, and the first hit, leave a record.
void Batches::Explain(const RunPtr& run, size_t program, size_t target,
                      std::span<const resolve::OptionSetting> point, BuildTrace trace) {
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
    // What is gone was there: the ring knows who removed it.
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

// Keeps what the batch uses from eviction; again every minute.
void Batches::Hold(const RunPtr& run) {
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
  std::vector<cache::Key> sources;  // no record names them: to be asked for is to be leased
  for (const BatchProgram& program : run->request.programs) {
    for (const Source& source : program.program.sources) {
      sources.push_back({.level = cache::Level::kContent, .space = 0, .id = source.digest.id});
    }
  }
  (void)store_.FindMissing(sources, {});
}

// Exempts the results from eviction under the name that the request gives.
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
  }
}

void Batches::Finish(const RunPtr& run, BatchState state) {
  if (state == BatchState::kDone && !run->request.pin.empty()) {
    Pin(run);
  }
  if (options_.leases != nullptr) {
    (void)options_.leases->Release("batch " + run->id.hex());
  }
  const MutexLock lock(run->mutex);
  if (run->Over()) {
    return;
  }
  run->state = state;
  run->progress.elapsed = clock_.Monotonic() - run->start;
  for (size_t program = 0; program < run->programs.size(); ++program) {
    run->AddFailures(program);  // of programs that were not finished
  }
  run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});  // complete
  run->Add({.kind = BatchEvent::Kind::kFinal, .progress = run->progress, .state = state});
}

Result<std::vector<BatchEvent>> Batches::Events(const Hash128& id, uint64_t from_seq) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  std::vector<BatchEvent> events;
  for (const BatchEvent& event : run->events) {
    if (event.seq > from_seq) {
      events.push_back(event);
    }
  }
  return events;
}

Result<std::shared_ptr<void>> Batches::Subscribe(const Hash128& id,
                                                 std::function<void()> on_events) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  const uint64_t number = run->next_subscriber++;
  run->subscribers.emplace(number, std::move(on_events));
  // The token's deleter takes the subscription back.
  return std::shared_ptr<void>(run.get(), [run, number](void*) {
    const MutexLock unlock(run->mutex);
    run->subscribers.erase(number);
  });
}

Result<BatchSummary> Batches::Get(const Hash128& id) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  return BatchSummary{
      .id = id, .project = run->request.project, .state = run->state, .progress = run->progress};
}

Result<BatchSummary> Batches::Cancel(const Hash128& id) {
  if (const RunPtr run = Find(id); run != nullptr) {
    run->stop.request_stop();
  }
  return Get(id);
}

std::vector<BatchSummary> Batches::List() {
  std::vector<Hash128> ids;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      ids.push_back(id);
    }
  }
  std::vector<BatchSummary> summaries;
  for (const Hash128& id : ids) {
    Result<BatchSummary> summary = Get(id);
    if (summary.ok()) {
      summaries.push_back(std::move(summary).value());
    }
  }
  return summaries;
}

Result<BatchResults> Batches::Results(const Hash128& id) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  return run->results;
}

Result<MissHistogram> Batches::Misses(const Hash128& id) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  return run->misses;
}

Result<std::shared_ptr<const BatchRequest>> Batches::Request(const Hash128& id) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  return std::shared_ptr<const BatchRequest>(run, &run->request);
}

void Batches::CancelAll() {
  std::vector<RunPtr> runs;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      runs.push_back(run);
    }
  }
  for (const RunPtr& run : runs) {
    run->stop.request_stop();
    const MutexLock lock(run->mutex);
    while (run->active != 0) {
      run->idle.Wait(run->mutex);
    }
  }
}

}  // namespace kiln::build
