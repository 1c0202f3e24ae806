// SPDX-License-Identifier: MIT
#include "server/compile/batch.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <utility>

#include "server/compile/batch_journal.h"
#include "server/compile/batch_run.h"

namespace kiln::compile {
namespace {

constexpr size_t kRememberedBatches = 256;  // of those that are over
constexpr uint32_t kRowsOfPage = 100;
constexpr uint64_t kSeqsOfALife = uint64_t{1} << 32;
constexpr size_t kSlowItems = 100;

int64_t UnixMs(Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.UnixTime()).count();
}

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

Result<Batches::StartResult> Batches::Start(const Hash128& id, BatchRequest request, StartHow how) {
  auto run = std::make_shared<BatchRun>(id, std::move(request), clock_);
  run->spec = std::move(how.spec);
  run->detach = how.detach;
  run->owner = std::move(how.owner);
  run->tenant = std::move(how.tenant);
  run->started_ms = UnixMs(clock_);
  run->losses = options_.losses == nullptr ? 0 : options_.losses();
  {
    const MutexLock lock(run->mutex);
    run->progress.programs = run->request.programs.size();
    run->progress.stage = "scan";
  }
  RunPtr going;  // of the same id
  {
    const MutexLock lock(mutex_);
    RunPtr& known = runs_[id];
    if (known != nullptr) {
      const MutexLock run_lock(known->mutex);
      going = known->Over() ? nullptr : known;
    }
    if (going == nullptr) {
      known = run;
    }
  }
  if (going != nullptr) {
    (void)Wake(going);
    return StartResult{.id = id, .attached = true};
  }
  DropOldest();
  Save(run);
  const Result<void> submitted = Submit(run);
  if (!submitted.ok()) {
    Finish(run, BatchState::kFailed);
    return submitted.error();
  }
  return StartResult{.id = id, .attached = false};
}

std::optional<Batches::StartResult> Batches::Repeat(const Hash128& id, StartHow how) {
  const RunPtr before = Find(id);
  if (before == nullptr || options_.losses == nullptr) {
    return std::nullopt;
  }
  const auto run = std::make_shared<BatchRun>(id, before->request, clock_);
  run->spec = std::move(how.spec);
  run->detach = how.detach;
  run->owner = std::move(how.owner);
  run->tenant = std::move(how.tenant);
  run->started_ms = UnixMs(clock_);
  {
    const MutexLock lock(before->mutex);
    if (!before->IsRepeatable() || before->losses != options_.losses()) {
      return std::nullopt;
    }
    const MutexLock run_lock(run->mutex);
    run->Repeat(*before);
  }
  {
    const MutexLock lock(mutex_);
    RunPtr& known = runs_[id];
    if (known != before) {  // somebody else was faster, or it was dropped
      return std::nullopt;
    }
    known = run;
  }
  Save(run);
  return StartResult{.id = id, .attached = false};
}

// A batch that is over is remembered for a while; the cache has its results for longer.
void Batches::DropOldest() {
  std::vector<RunPtr> dropped;
  {
    const MutexLock lock(mutex_);
    std::vector<RunPtr> over;
    for (const auto& [id, run] : runs_) {
      const MutexLock run_lock(run->mutex);
      if (run->Over()) {
        over.push_back(run);
      }
    }
    if (over.size() <= kRememberedBatches) {
      return;
    }
    std::ranges::stable_sort(over, {}, [](const RunPtr& run) { return run->started_ms; });
    over.resize(over.size() - kRememberedBatches);
    for (const RunPtr& run : over) {
      runs_.erase(run->id);
    }
    dropped = std::move(over);
  }
  for (const RunPtr& run : dropped) {
    if (options_.rows != nullptr) {
      (void)options_.rows->Remove(run->id);
    }
  }
}

void Batches::Restore(const Decode& decode) {
  if (options_.rows == nullptr) {
    return;
  }
  std::optional<Hash128> after;
  for (;;) {
    const Result<std::vector<cache::BatchRow>> rows = options_.rows->List(after, kRowsOfPage);
    if (!rows.ok() || rows->empty()) {
      return;  // without a database there is nothing to go on with
    }
    for (const cache::BatchRow& row : *rows) {
      Result<BatchRequest> request = decode(row.id, row.spec);
      const bool damaged = !request.ok() && request.error().code == ErrorCode::kDataLoss;
      if (damaged || row.state > static_cast<uint32_t>(BatchState::kCancelled)) {
        (void)options_.rows->Remove(row.id);  // of another build: its id names nothing any more
        continue;
      }
      const RunPtr run = request.ok() ? Restored(row, std::move(request).value())
                                      : RestoredAsRefused(row, request.error());
      {
        const MutexLock lock(mutex_);
        runs_[row.id] = run;
      }
      bool goes_on = false;
      {
        const MutexLock lock(run->mutex);
        goes_on = !run->Over() && !run->paused && run->detach;
      }
      if (goes_on) {
        (void)Wake(run);
      }
    }
    after = rows->back().id;
  }
}

Batches::RunPtr Batches::Restored(const cache::BatchRow& row, BatchRequest request) {
  auto run = std::make_shared<BatchRun>(row.id, std::move(request), clock_);
  const BatchNotes notes = DecodeNotes(row.counts);
  run->spec = row.spec;
  run->detach = notes.detach;
  run->owner = notes.owner;
  run->tenant = notes.tenant;
  run->started_ms = notes.started_ms;
  run->restored = true;
  const MutexLock lock(run->mutex);
  run->state = static_cast<BatchState>(row.state);
  run->paused = run->state == BatchState::kPaused;
  run->waits = !run->Over();
  if (run->state == BatchState::kRunning) {
    run->state = BatchState::kQueued;
  }
  run->progress.programs = run->request.programs.size();
  run->progress.stage = "scan";
  run->updated_ms = row.updated_s * 1000;
  run->next_seq = notes.next_seq + kSeqsOfALife;  // above all that a watcher has seen
  if (run->Over()) {
    run->progress = notes.progress;
    run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});
    run->Add({.kind = BatchEvent::Kind::kFinal, .progress = run->progress, .state = run->state});
  }
  return run;
}

// The row was written by a daemon with higher limits than this one.
Batches::RunPtr Batches::RestoredAsRefused(const cache::BatchRow& row, const Error& error) {
  cache::BatchRow failed = row;
  failed.state = static_cast<uint32_t>(BatchState::kFailed);
  RunPtr run = Restored(failed, {});
  {
    const MutexLock lock(run->mutex);
    run->events.pop_back();  // the end, which follows what it ends with
    run->Add({.kind = BatchEvent::Kind::kMessage, .text = "refused: " + error.context});
    run->Add({.kind = BatchEvent::Kind::kFinal, .progress = run->progress, .state = run->state});
  }
  if (row.state != failed.state) {
    Save(run);
  }
  return run;
}

bool Batches::Wake(const RunPtr& run) {
  uint32_t chunks = 0;
  {
    const MutexLock lock(run->mutex);
    if (run->Over() || run->finishing || run->paused || halted()) {
      return true;
    }
    const uint32_t wanted = run->scanned ? options_.workers : 1;
    chunks = wanted - std::min(wanted, run->active);
  }
  bool submitted = chunks == 0;
  for (uint32_t i = 0; i < chunks; ++i) {
    submitted |= Submit(run).ok();  // fewer workers if the queue is full
  }
  return submitted;
}

void Batches::Save(const RunPtr& run, std::optional<BatchState> state) {
  if (options_.rows == nullptr) {
    return;
  }
  const MutexLock save_lock(run->save_mutex);
  cache::BatchRow row{.id = run->id, .spec = run->spec, .state = 0, .counts = {}, .updated_s = 0};
  {
    const MutexLock lock(run->mutex);
    run->saved_at = clock_.Monotonic();
    run->updated_ms = UnixMs(clock_);
    row.updated_s = run->updated_ms / 1000;
    row.state = static_cast<uint32_t>(state.value_or(run->state));
    row.counts = EncodeNotes({.detach = run->detach,
                              .owner = run->owner,
                              .tenant = run->tenant,
                              .started_ms = run->started_ms,
                              .next_seq = run->next_seq,
                              .progress = run->progress});
  }
  (void)options_.rows->Put(row);  // without a database the batch ends with the process
}

Result<void> Batches::Submit(const RunPtr& run) {
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
  const Result<uint64_t> submitted = queue_.Submit(std::move(job));
  const MutexLock lock(run->mutex);
  if (!submitted.ok()) {
    --run->active;
    run->idle.NotifyAll();
    return submitted.error();
  }
  run->waits = false;
  return {};
}

Result<std::vector<BatchEvent>> Batches::Events(const Hash128& id, uint64_t from_seq) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  if (from_seq >= run->next_seq) {
    from_seq = 0;  // of no batch
  }
  std::vector<BatchEvent> events;
  const uint64_t first = run->events.empty() ? run->next_seq : run->events.front().seq;
  if (from_seq + 1 < first && first > 1) {  // some were dropped, or it was another process
    events.push_back({.seq = first - 1,
                      .kind = BatchEvent::Kind::kProgress,
                      .progress = run->progress,
                      .item = nullptr,
                      .text = {}});
  }
  for (const BatchEvent& event : run->events) {
    if (event.seq > from_seq) {
      events.push_back(event);
    }
  }
  return events;
}

Result<std::shared_ptr<void>> Batches::Subscribe(const Hash128& id, Wakes wakes,
                                                 std::function<void()> on_events) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  if (wakes == Wakes::kYes) {
    (void)Wake(run);
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
  return run->Summary();
}

Result<BatchSummary> Batches::Cancel(const Hash128& id) {
  if (const RunPtr run = Find(id); run != nullptr) {
    run->stop.request_stop();
    bool idle = false;
    {
      const MutexLock lock(run->mutex);
      idle = run->active == 0;
    }
    if (idle) {  // paused, or waiting for its client: nobody else ends it
      Finish(run, BatchState::kCancelled);
    }
  }
  return Get(id);
}

Result<BatchSummary> Batches::Pause(const Hash128& id) {
  if (const RunPtr run = Find(id); run != nullptr) {
    bool changed = false;
    {
      const MutexLock lock(run->mutex);
      changed = !run->Over() && !run->finishing && !run->paused;
      if (changed) {
        run->paused = true;
        run->state = BatchState::kPaused;
        run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});
      }
    }
    if (changed) {
      Save(run);
    }
  }
  return Get(id);
}

Result<BatchSummary> Batches::Resume(const Hash128& id) {
  if (const RunPtr run = Find(id); run != nullptr) {
    bool changed = false;
    {
      const MutexLock lock(run->mutex);
      changed = !run->Over() && run->paused;
      if (changed) {
        run->paused = false;
        run->worked_until = clock_.Monotonic();
        run->state = run->scanned ? BatchState::kRunning : BatchState::kQueued;
      }
    }
    if (changed) {
      Save(run);
    }
    if (!Wake(run)) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "the batch lane is full; resume it later",
                   .reason = "QUEUE_FULL"};
    }
  }
  return Get(id);
}

std::vector<BatchSummary> Batches::List() {
  std::vector<RunPtr> runs;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      runs.push_back(run);
    }
  }
  std::ranges::stable_sort(runs, std::greater(), [](const RunPtr& run) { return run->started_ms; });
  std::vector<BatchSummary> summaries;
  for (const RunPtr& run : runs) {
    const MutexLock lock(run->mutex);
    summaries.push_back(run->Summary());
  }
  return summaries;
}

Result<BatchResults> Batches::Results(const Hash128& id) {
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  if (run->restored && run->Over() && run->results.empty() && run->progress.results_done != 0) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context =
                     "the batch ended before the daemon was restarted; start it again, "
                     "which finds what it built",
                 .reason = "BATCH_FORGOTTEN"};
  }
  return run->Told();
}

Result<Batches::ItemPage> Batches::Items(const Hash128& id, const ItemKinds& kinds, size_t first,
                                         size_t count) {
  KILN_TRY_VOID(Results(id));
  const RunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  (void)run->Told();
  BatchResults failures;
  for (const std::shared_ptr<const BatchItem>& failure : run->failures) {
    const bool poison = failure->outcome.kind == OutcomeKind::kPoison;
    if (kinds.all() || (poison ? kinds.poison : kinds.failed)) {
      failures.push_back(failure);
    }
  }
  std::vector<size_t> chosen(run->results.size());
  std::iota(chosen.begin(), chosen.end(), size_t{0});
  if (kinds.slow && !kinds.deduped) {
    const auto cost = [&](size_t i) KILN_REQUIRES(run->mutex) {
      return run->results[i]->outcome.artifact->cpu_us;
    };
    std::ranges::stable_sort(chosen, std::greater(), cost);
    chosen.resize(std::min(chosen.size(), kSlowItems));
  } else if (!kinds.all()) {
    std::erase_if(chosen, [&](size_t i) KILN_REQUIRES(run->mutex) {
      return !kinds.deduped || run->served[i] < 2;
    });
  }
  ItemPage page{.items = {}, .in_all = failures.size() + chosen.size()};
  for (size_t i = first; i < page.in_all && page.items.size() < count; ++i) {
    if (i < failures.size()) {
      page.items.push_back(failures[i]);
      continue;
    }
    const size_t number = chosen[i - failures.size()];
    BatchItem item = *run->results[number];
    item.served = run->served[number];
    page.items.push_back(std::make_shared<const BatchItem>(std::move(item)));
  }
  return page;
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

void Batches::Halt() {
  halted_.store(true);
  std::vector<RunPtr> scanning;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      const MutexLock run_lock(run->mutex);
      if (run->scanning && !run->scanned) {
        scanning.push_back(run);
      }
    }
  }
  for (const RunPtr& run : scanning) {
    run->stop.request_stop();
  }
}

void Batches::CancelAll() {
  Halt();
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

}  // namespace kiln::compile
