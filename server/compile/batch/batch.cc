// SPDX-License-Identifier: MIT
#include "server/compile/batch/batch.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "server/compile/batch/batch_journal.h"
#include "server/compile/batch/batch_room.h"
#include "server/compile/batch/batch_run.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kRowsOfPage = 100;
// What ListBatchItems shows as slow; there are no more pages.
constexpr size_t kSlowItems = 100;

// Also told of a batch that was forgotten: the caller cannot know which it was.
Error UnknownBatch(const Hash128& id) {
  return {.code = ErrorCode::kNotFound,
          .context = "no batch has the id " + id.hex(),
          .reason = "UNKNOWN_BATCH"};
}

// Nobody may stop what another one waits for: whoever has joined is asked for, too.
Result<void> CheckStarters(const BatchRun& run, const std::vector<std::string>& starters,
                           const cache::Actor& actor, bool alone) {
  if (actor.any) {
    return {};
  }
  const std::string what = "batch " + run.id.hex().substr(0, 8);
  const bool own = std::ranges::find(starters, actor.id) != starters.end();
  const auto other = std::ranges::find_if(
      starters, [&](const std::string& starter) { return starter != actor.id; });
  if (own && (!alone || other == starters.end())) {
    return {};
  }
  return cache::NotYours(own ? what + " was joined and also" : what,
                         other == starters.end() ? std::string() : *other, actor.id);
}

// What was asked of a batch is done, and the store did not take it: whoever asked has to know that
// it may not outlive the process.
Error NotKept(const std::string& done, const Error& why) {
  return {.code = why.code,
          .context = done + ", but that could not be stored: " + why.context +
                     "; it is stored when there is room, and undone if kilnd ends before",
          .reason = why.reason};
}

}  // namespace

// No chunk may be left that could touch this object.
Batches::~Batches() { CancelAll(); }

// Locks of this class: `mutex_` guards the table of runs, `mutex` of a run what is in it, and the
// table is always locked first. Nothing is written to disk while `mutex_` is held.
BatchRunPtr Batches::Find(const Hash128& id) {
  const MutexLock lock(mutex_);
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : found->second;
}

// Not visible to anybody yet; the locks are those that its parts require.
BatchRunPtr Batches::NewRun(const Hash128& id, BatchRequest request, StartHow how) {
  auto run = std::make_shared<BatchRun>(id, std::move(request), context_.clock);
  run->spec = std::move(how.spec);
  run->detach = how.detach;
  run->owner = std::move(how.owner);
  run->tenant = std::move(how.tenant);
  run->pin_owner = std::move(how.pin_owner);
  run->former = std::move(how.former);
  {
    const MutexLock all_lock(mutex_);
    const MutexLock lock(run->mutex);
    run->held_results.CountIn(HeldBy(how.starter));
    (void)run->Join(std::string(cache::OwnerName(how.starter)));
  }
  run->started_ms = UnixMs(context_.clock);
  return run;
}

// Whoever starts a batch that is going joins it. The row is there before the first chunk is
// submitted, so that a process that ends in between leaves a batch and not a hole.
Result<Batches::StartResult> Batches::Start(const Hash128& id, BatchRequest request, StartHow how) {
  const std::string starter(cache::OwnerName(how.starter));
  const BatchRunPtr run = NewRun(id, std::move(request), std::move(how));
  // Former results may be used only if the store has lost nothing since they were chosen: FormerOf
  // compares the same number, and something may have been lost in between.
  run->losses = context_.options.losses == nullptr ? 0 : context_.options.losses();
  if (run->former.losses != run->losses) {
    run->former = {};
  }
  {
    const MutexLock lock(run->mutex);
    run->progress.programs = run->request.programs.size();
    run->progress.stage = "scan";
  }
  BatchRunPtr going;  // of the same id
  // Whether the row in the store has to be written again.
  bool changed = false;
  std::vector<BatchRunPtr> dropped;
  {
    const MutexLock lock(mutex_);
    const auto found = runs_.find(id);
    if (found != runs_.end()) {
      const BatchRunPtr& known = found->second;
      const MutexLock run_lock(known->mutex);
      if (!known->Over()) {
        going = known;
        changed = going->Join(starter);
        changed |= going->Unpause(starter, context_.clock.Monotonic());
      }
    }
    if (going == nullptr) {
      // A run of the same id that is over is replaced, and the new one is found from here on,
      // before it has a row and before it is submitted.
      KILN_TRY(dropped, MakeRoom(*run, starter));
      if (found != runs_.end()) {
        const MutexLock run_lock(found->second->mutex);
        gone_.Add(found->second->progress);
      }
      runs_[id] = run;
    }
  }
  if (going != nullptr) {
    if (changed) {
      (void)SaveRow(context_, *going);  // it has a row, which goes on as well
    }
    (void)worker_.Wake(going);
    return StartResult{.id = id, .attached = true};
  }
  RemoveRows(dropped);
  const Result<void> saved = SaveRow(context_, *run);
  if (!saved.ok() && run->detach) {  // nobody would start it again
    worker_.Finish(run, BatchState::kFailed);
    return WithContext(saved.error(), "the batch was not started: a detached one has to be stored");
  }
  const Result<void> submitted = worker_.Submit(run);
  // A full queue refuses the batch as a whole. It ends as failed, so that those who attached to it
  // meanwhile hear of an end.
  if (!submitted.ok()) {
    worker_.Finish(run, BatchState::kFailed);
    return submitted.error();
  }
  return StartResult{.id = id, .attached = false};
}

// For a batch that was done a moment ago and of which nothing changed (spec/daemon 7.1). Nothing is
// submitted: the new run is over when it becomes visible. `losses` counts what the store lost or
// gave up, so an equal number means that every result is still there.
std::optional<Batches::StartResult> Batches::Repeat(const Hash128& id, StartHow how) {
  const BatchRunPtr before = Find(id);
  if (before == nullptr || context_.options.losses == nullptr) {
    return std::nullopt;
  }
  const BatchRunPtr run = NewRun(id, before->request, std::move(how));
  {
    // Both locks at once, in the order of making: nobody else knows the new run yet.
    const MutexLock lock(before->mutex);
    if (!before->IsRepeatable() || before->losses != context_.options.losses()) {
      return std::nullopt;
    }
    const MutexLock run_lock(run->mutex);
    run->Repeat(*before);
  }
  {
    const MutexLock lock(mutex_);
    const auto known = runs_.find(id);
    if (known == runs_.end() || known->second != before) {
      return std::nullopt;  // it was dropped, or somebody else was faster
    }
    {
      const MutexLock run_lock(before->mutex);
      gone_.Add(before->progress);
    }
    known->second = run;
  }
  (void)SaveRow(context_, *run);  // that of the run before says the same
  return StartResult{.id = id, .attached = false};
}

// The results that programs of this request can take over from the latest batch that is done. Only
// batches of the same way of building stand for each other (MayStandFor). The latest one is taken
// because its table has what earlier ones left to it.
FormerResults Batches::FormerOf(const BatchRequest& request) {
  if (context_.options.losses == nullptr) {
    return {};
  }
  const uint64_t losses = context_.options.losses();
  BatchRunPtr latest;
  std::vector<ProgramResultsPtr> kept;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      if ((latest != nullptr && run->started_ms < latest->started_ms) ||
          !MayStandFor(run->request, request)) {
        continue;
      }
      const MutexLock run_lock(run->mutex);
      if (run->state == BatchState::kDone && run->losses == losses && !run->kept.empty()) {
        latest = run;
        kept = run->kept;
      }
    }
  }
  if (latest == nullptr) {
    return {};
  }
  return {.programs = ResultsOfEqual(latest->request, kept, request), .losses = losses};
}

// Runs that must be forgotten so that the next one fits; one of the same id is replaced, so it
// needs no room. Bounds are divided between principals (spec/daemon 11.4); batches that are not
// over are never dropped, so the request may be refused.
Result<std::vector<BatchRunPtr>> Batches::MakeRoom(const BatchRun& next,
                                                   const std::string& starter) {
  std::vector<BatchRunPtr> known;
  std::vector<RememberedBatch> remembered;
  for (const auto& [id, run] : runs_) {
    if (id != next.id) {
      const MutexLock run_lock(run->mutex);
      known.push_back(run);
      remembered.push_back({.of = run->FirstStarter(),
                            .bytes = run->spec.size(),
                            .results = run->result_count,
                            .started_ms = run->started_ms,
                            .over = run->Over()});
    }
  }
  KILN_TRY(const std::vector<size_t> dropped,
           RoomForBatch(
               remembered, starter, next.spec.size(),
               {.bytes = context_.options.spec_bytes, .results = context_.options.held_results}));
  // The runs are returned and not destroyed here: the last pointer may free much, and `mutex_` is
  // held.
  std::vector<BatchRunPtr> gone;
  for (const size_t index : dropped) {
    {
      const MutexLock run_lock(known[index]->mutex);
      gone_.Add(known[index]->progress);
    }
    runs_.erase(known[index]->id);
    gone.push_back(known[index]);
  }
  return gone;
}

// The owner has no bound. Principals whose batches are all forgotten have no row.
std::shared_ptr<HeldResults> Batches::HeldBy(std::string_view starter) {
  std::erase_if(held_, [](const auto& row) { return row.second.expired(); });
  std::weak_ptr<HeldResults>& known = held_[std::string(cache::OwnerName(starter))];
  std::shared_ptr<HeldResults> held = known.lock();
  if (held == nullptr) {
    const bool is_owner = cache::OwnerName(starter) == cache::OwnerName({});
    held = std::make_shared<HeldResults>(is_owner ? std::numeric_limits<uint64_t>::max()
                                                  : context_.options.held_results);
    known = held;
  }
  return held;
}

// Without `mutex_`: each removal waits for the database.
void Batches::RemoveRows(const std::vector<BatchRunPtr>& dropped) {
  for (const BatchRunPtr& run : dropped) {
    if (context_.options.rows != nullptr) {
      (void)context_.options.rows->Remove(run->id);
    }
  }
}

// Pages of rows, because what is decoded of one may be long. A batch that goes on is submitted at
// once: workers begin when all are restored.
void Batches::Restore(const Decode& decode) {
  if (context_.options.rows == nullptr) {
    return;
  }
  std::optional<Hash128> after;
  for (;;) {
    const Result<std::vector<cache::BatchRow>> rows =
        context_.options.rows->List(after, kRowsOfPage);
    if (!rows.ok() || rows->empty()) {
      return;  // without a database there is nothing to go on with
    }
    for (const cache::BatchRow& row : *rows) {
      Result<BatchRequest> request = decode(row.id, row.spec);
      const bool damaged = !request.ok() && request.error().code == ErrorCode::kDataLoss;
      if (damaged || row.state > static_cast<uint32_t>(BatchState::kCancelled)) {
        (void)context_.options.rows->Remove(
            row.id);  // of another build: its id names nothing any more
        continue;
      }
      const BatchRunPtr run = request.ok()
                                  ? RestoredRun(row, std::move(request).value(), context_.clock)
                                  : RefusedRun(context_, row, request.error());
      {
        const MutexLock lock(mutex_);
        const MutexLock run_lock(run->mutex);
        run->held_results.CountIn(HeldBy(run->FirstStarter()));
        runs_[row.id] = run;
      }
      bool goes_on = false;
      {
        const MutexLock lock(run->mutex);
        goes_on = !run->Over() && !run->paused && run->detach;
      }
      if (goes_on) {
        (void)worker_.Wake(run);
      }
    }
    after = rows->back().id;
  }
}

// From the number that the watcher saw last. A number of the future was told by another batch of
// that id, or by a store that is gone, so it gets everything. Whoever missed events that are not
// kept any more gets one with the complete progress first (spec/daemon 7.4).
Result<std::vector<BatchEvent>> Batches::Events(const Hash128& id, uint64_t from_seq) {
  const BatchRunPtr run = Find(id);
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

// The callback is called under the lock of the run and must only post. A subscriber that attaches
// to a waiting batch wakes it, unless it may only read (spec/daemon 7.1).
Result<std::shared_ptr<void>> Batches::Subscribe(const Hash128& id, Wakes wakes,
                                                 std::function<void()> on_events) {
  const BatchRunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  if (wakes == Wakes::kYes) {
    (void)worker_.Wake(run);
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
  const BatchRunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  return run->Summary();
}

// The stop is requested outside of the lock, because callbacks of the token run in this thread.
// Chunks that are at work end the batch when they leave; only where there is none this call ends
// it.
Result<BatchSummary> Batches::Cancel(const Hash128& id, const cache::Actor& actor) {
  if (const BatchRunPtr run = Find(id); run != nullptr) {
    {
      const MutexLock lock(run->mutex);
      KILN_TRY_VOID(CheckStarters(*run, run->starters, actor, true));
    }
    bool idle = false;
    bool changed = false;
    {
      const MutexLock lock(run->mutex);
      changed = !run->Over() && !run->finishing && !run->cancelled;
      run->cancelled |= changed;
      idle = run->active == 0;
    }
    // Before it is answered: a process that ends in the next moment leaves a batch that is
    // cancelled, and not one that goes on.
    const Result<void> kept = SaveIfChanged(context_, *run, changed);
    run->stop.request_stop();
    if (idle) {  // paused, or waiting for its client: nobody else ends it
      worker_.Finish(run, BatchState::kCancelled);
    }
    if (!kept.ok()) {
      return NotKept("the batch is cancelled", kept.error());
    }
  }
  return Get(id);
}

Result<BatchSummary> Batches::Pause(const Hash128& id, const cache::Actor& actor) {
  if (const BatchRunPtr run = Find(id); run != nullptr) {
    bool changed = false;
    {
      const MutexLock lock(run->mutex);
      KILN_TRY_VOID(CheckStarters(*run, run->starters, actor, true));
      changed = run->Pause(std::string(cache::OwnerName(actor.id)));
    }
    if (const Result<void> kept = SaveIfChanged(context_, *run, changed); !kept.ok()) {
      return NotKept("the batch is paused", kept.error());
    }
  }
  return Get(id);
}

// A paused batch has no jobs, so it needs a place of the queue like a new one. If there is none it
// is resumed all the same and waits to be woken: only the call says that the lane is full.
Result<BatchSummary> Batches::Resume(const Hash128& id, const cache::Actor& actor) {
  if (const BatchRunPtr run = Find(id); run != nullptr) {
    bool changed = false;
    {
      const MutexLock lock(run->mutex);
      KILN_TRY_VOID(CheckStarters(*run, run->starters, actor, false));
      changed = run->Unpause(std::string(cache::OwnerName(actor.id)), context_.clock.Monotonic());
    }
    const Result<void> kept = SaveIfChanged(context_, *run, changed);
    if (!worker_.Wake(run)) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "the batch lane is full; resume it later",
                   .reason = "QUEUE_FULL"};
    }
    if (!kept.ok()) {
      return NotKept("the batch goes on", kept.error());
    }
  }
  return Get(id);
}

BatchTotals Batches::Totals() {
  const MutexLock lock(mutex_);
  BatchTotals totals = gone_;
  for (const auto& [id, run] : runs_) {
    const MutexLock run_lock(run->mutex);
    totals.Add(run->progress);
  }
  return totals;
}

// Latest first. Runs are copied out of the table, so that no lock of a run is waited for while the
// table is locked.
std::vector<BatchSummary> Batches::List() {
  std::vector<BatchRunPtr> runs;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      runs.push_back(run);
    }
  }
  std::ranges::stable_sort(runs, std::greater(),
                           [](const BatchRunPtr& run) { return run->started_ms; });
  std::vector<BatchSummary> summaries;
  for (const BatchRunPtr& run : runs) {
    const MutexLock lock(run->mutex);
    summaries.push_back(run->Summary());
  }
  return summaries;
}

// A batch that goes on still changes its tables, so the caller gets copies of them; of one that is
// over the tables never change and are shared.
Result<BatchResults> Batches::Results(const Hash128& id) {
  const BatchRunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  if (run->restored && run->Over() && run->result_count == 0 && run->progress.results_done != 0) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context =
                     "the batch ended before the daemon was restarted; start it again, "
                     "which finds what it built",
                 .reason = "BATCH_FORGOTTEN"};
  }
  const BatchResults told = run->Told();
  return run->Over() ? told : told.Copied();
}

// Failures come first, then results, both in an order that stays while the batch is kept, so that a
// page token is a number. Without kinds all items are listed. The sort of the slow ones is over all
// results, which are at most 1,000,000 (spec/daemon 10).
Result<Batches::ItemPage> Batches::Items(const Hash128& id, const ItemKinds& kinds, size_t first,
                                         size_t count) {
  KILN_TRY_VOID(Results(id));
  const BatchRunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  const BatchResults results = run->Told();
  BatchItems failures;
  for (const std::shared_ptr<const BatchItem>& failure : run->failures) {
    const bool poison = failure->outcome.kind == OutcomeKind::kPoison;
    if (kinds.all() || (poison ? kinds.poison : kinds.failed)) {
      failures.push_back(failure);
    }
  }
  std::vector<size_t> chosen(results.size());
  std::iota(chosen.begin(), chosen.end(), size_t{0});
  if (kinds.slow && !kinds.deduped) {
    std::ranges::stable_sort(chosen, std::greater(),
                             [&](size_t i) { return results.Row(i).cpu_us; });
    chosen.resize(std::min(chosen.size(), kSlowItems));
  } else if (!kinds.all()) {
    std::erase_if(chosen, [&](size_t i) { return !kinds.deduped || results.Row(i).served < 2; });
  }
  ItemPage page{.items = {}, .in_all = failures.size() + chosen.size()};
  for (size_t i = first; i < page.in_all && page.items.size() < count; ++i) {
    if (i < failures.size()) {
      page.items.push_back(failures[i]);
      continue;
    }
    page.items.push_back(
        std::make_shared<const BatchItem>(results.At(chosen[i - failures.size()])));
  }
  return page;
}

Result<MissHistogram> Batches::Misses(const Hash128& id) {
  const BatchRunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  const MutexLock lock(run->mutex);
  return run->misses;
}

// Shares the life of the run, so the request stays when the batch is forgotten.
Result<std::shared_ptr<const BatchRequest>> Batches::Request(const Hash128& id) {
  const BatchRunPtr run = Find(id);
  if (run == nullptr) {
    return UnknownBatch(id);
  }
  return std::shared_ptr<const BatchRequest>(run, &run->request);
}

// Stops scans, which know no slices and may last long. Chunks that build see `halted` after the
// current point. Both leave the batch as it is in the store: the next process goes on with it.
void Batches::Halt() {
  context_.halted.store(true);
  std::vector<BatchRunPtr> scanning;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      const MutexLock run_lock(run->mutex);
      if (run->scanning && !run->scanned) {
        scanning.push_back(run);
      }
    }
  }
  for (const BatchRunPtr& run : scanning) {
    run->stop.request_stop();
  }
}

// For the destructor: returns when no chunk is left that could touch this object. The lock of a run
// is released while waiting for its chunks, since they need it to leave.
void Batches::CancelAll() {
  Halt();
  std::vector<BatchRunPtr> runs;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, run] : runs_) {
      runs.push_back(run);
    }
  }
  for (const BatchRunPtr& run : runs) {
    run->stop.request_stop();
    const MutexLock lock(run->mutex);
    while (run->active != 0) {
      run->idle.Wait(run->mutex);
    }
  }
}

}  // namespace kiln::compile
