// SPDX-License-Identifier: MIT
// Threads build, the thread that waits makes the warm-up draws and, without threads, builds, too.
// The time left is told from the bytes of code: from an earlier run until enough of this one is
// done, then from how fast this one is. See spec/pso 7.4, 7.5
#include "runtime/pipeline/pipelines/pipelines_warm.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/pipelines/pipelines_first_use.h"
#include "runtime/pipeline/pipelines/pipelines_isolate.h"
#include "runtime/pipeline/pipelines/pipelines_save.h"

namespace kiln::runtime {
namespace {

// How often a wait looks around, should nobody wake it.
constexpr std::chrono::milliseconds kLook{20};
constexpr uint64_t kEnoughToTell = 10;  // share of what is left that tells how fast this run is
constexpr uint32_t kSome = 64;          // jobs between two looks around

Duration Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// Threads optimise later what is linked fast; without them it is done here.
bool IsDone(const Build& build, uint32_t threads) {
  const PipelineState now = build.State();
  return IsFinal(now) && (threads > 0 || now != PipelineState::kReadyFast || !build.Wanted());
}

}  // namespace

WarmTicket WarmPipelines(PipelinesState& state, const WarmRequest& request) {
  Ticket ticket{.builds = {}, .start = Now(), .report = {}};
  std::set<const Build*> seen;
  const MutexLock lock(state.mutex);
  const auto add_build = [&](const std::shared_ptr<Build>& build) {
    // Ids may share a build, which counts once.
    if (!seen.insert(build.get()).second) {
      return;
    }
    ticket.builds.push_back(build);
    // What is final already needs no place in the queue; it only counts.
    if (build->Wanted() && !request.isolate) {
      state.queue.Push(request.lane.value_or(build->lane), build);
    }
  };
  const auto add = [&](PipelineId id) {
    const PipelineSlot& slot = state.slots[id];
    add_build(slot.owner->build);
    if (slot.next != nullptr) {
      add_build(slot.next);  // what is to replace it
    }
  };
  for (const PipelineId id : request.pipelines) {
    add(id);
  }
  // Without a list, everything that was registered is meant.
  for (uint32_t i = 0; request.pipelines.empty() && i < state.slots.size(); ++i) {
    add({i});
  }
  const WarmTicket id{static_cast<uint32_t>(state.tickets.size())};
  const Isolation isolation{id, request.lane};
  // Isolation waits for children and has a thread of its own. Without threads, whoever waits for
  // the ticket does it.
  if (request.isolate && state.queue.threads() > 0) {
    state.isolating.emplace_back(
        Thread::Entry{
            .name = "isolation", .after_throw = Thread::AfterThrow::kEnds, .log = state.log},
        [&state, isolation](const std::stop_token&) { Isolate(state, isolation); });
  } else if (request.isolate) {
    ticket.isolation = isolation;
  }
  state.tickets.push_back(std::move(ticket));
  return id;
}

namespace {

// Read without stopping anything, so numbers may be of slightly different moments.
WarmProgress TicketProgress(const PipelinesState& state, const Ticket& ticket) {
  WarmProgress progress{.total = ticket.builds.size(), .elapsed = Now() - ticket.start};
  uint64_t done_bytes = 0;
  uint64_t left_bytes = 0;
  for (const std::shared_ptr<Build>& build : ticket.builds) {
    const PipelineState now = build->State();
    progress.done += IsFinal(now) ? 1 : 0;
    progress.failed += now == PipelineState::kFailed ? 1 : 0;
    progress.unsupported += now == PipelineState::kUnsupported ? 1 : 0;
    progress.quarantined += now == PipelineState::kQuarantined ? 1 : 0;
    progress.from_cache += IsReady(now) && build->from_cache ? 1 : 0;
    progress.first_uses += build->first_use.load() != Duration{} ? 1 : 0;
    (IsFinal(now) ? done_bytes : left_bytes) += build->code_bytes;
  }
  // The first few pipelines say little about the speed of this run, so until then the last run is
  // asked.
  if (done_bytes < left_bytes / kEnoughToTell) {
    progress.eta = state.last_start.For(left_bytes);
  }
  // An earlier run is not known at the first start, and then this one has to tell after all.
  if (done_bytes > 0 && progress.eta == Duration{}) {
    progress.eta = Duration(static_cast<int64_t>(static_cast<double>(progress.elapsed.count()) *
                                                 static_cast<double>(left_bytes) /
                                                 static_cast<double>(done_bytes)));
  }
  const MutexLock lock(state.mutex);
  progress.current = left_bytes == 0 ? "" : state.current;
  return progress;
}

WarmReport ReportOf(const PipelinesState& state, const Ticket& ticket) {
  WarmReport report{.progress = TicketProgress(state, ticket)};
  for (const std::shared_ptr<Build>& build : ticket.builds) {
    const PipelineState now = build->State();
    if (IsReady(now)) {
      report.creation += build->creation;
      report.first_use += build->first_use.load();
    } else if (IsFinal(now)) {
      report.failures.push_back({.name = build->desc.name,
                                 .key = build->key,
                                 .state = now,
                                 .error = build->error ? ErrorText(*build->error) : ""});
    }
  }
  return report;
}

// Of a start that has built something, for the time left of the next one.
void KeepTimes(const PipelinesState& state, const WarmReport& report, uint64_t code_bytes) {
  if (state.cache != nullptr && report.progress.done == report.progress.total && code_bytes > 0 &&
      report.creation > Duration{}) {
    WriteWarmRecord({state.config.cache_folder, state.config.files, state.log}, state.identity,
                    {.elapsed = report.progress.elapsed, .code_bytes = code_bytes});
  }
}

bool RunSome(PipelinesState& state) {
  uint32_t done = 0;
  // Bounded, so that the deadline and the draws get their turn.
  while (done < kSome && !state.lost && state.queue.RunOne()) {
    ++done;
  }
  return done > 0;
}

}  // namespace

WarmProgress ProgressOf(const PipelinesState& state, WarmTicket ticket) {
  const Ticket now = state.TicketOf(ticket);
  return now.report ? now.report->progress : TicketProgress(state, now);
}

void CancelWarm(PipelinesState& state, WarmTicket ticket) {
  std::vector<std::shared_ptr<Build>> builds;
  {
    const MutexLock lock(state.mutex);
    state.tickets[ticket.index].cancelled = true;
    builds = state.tickets[ticket.index].builds;
  }
  // Outside of the lock, since the queue has one of its own.
  state.queue.Drop(builds);
}

Result<WarmReport> WaitForWarm(PipelinesState& state, WarmTicket ticket, Duration timeout) {
  const Ticket waited = state.TicketOf(ticket);
  if (waited.report) {
    return *waited.report;
  }
  // Taken out before it is done, so that whoever waits later does not do it again.
  if (waited.isolation && !state.IsCancelled(ticket)) {
    {
      const MutexLock lock(state.mutex);
      state.tickets[ticket.index].isolation.reset();
    }
    Isolate(state, *waited.isolation);
  }
  const Duration deadline = Now() + timeout;
  // Draws alternate with builds: a pipeline may be drawn as soon as it is ready, while others are
  // still being made.
  for (;;) {
    KILN_TRY(const bool drew, RunFirstUses(state, waited.builds));
    const bool built = std::ranges::all_of(
        waited.builds, [&](const auto& build) { return IsDone(*build, state.queue.threads()); });
    if (state.lost) {
      return Error{ErrorCode::kUnavailable, "the device was lost while pipelines were built",
                   "DEVICE_LOST"};
    }
    if ((built && !drew) || state.IsCancelled(ticket)) {
      break;
    }
    if (Now() >= deadline) {
      const WarmProgress progress = TicketProgress(state, waited);
      return Error{ErrorCode::kDeadlineExceeded,
                   fmt::format("{} of {} pipelines are built; at '{}'", progress.done,
                               progress.total, progress.current),
                   ""};
    }
    const bool ran = state.queue.threads() == 0 && RunSome(state);
    if (!drew && !built && !ran && !state.lost) {
      state.queue.WaitForChange(std::min<Duration>(deadline - Now(), kLook));
    }
  }
  // Modules are needed only to make pipelines; with nothing left to make they are only memory.
  if (state.queue.Idle()) {
    state.factory.ReleaseModules();
  }
  if (state.cache != nullptr) {
    state.cache->Confirm();
    SaveAndTell(state);
  }
  WarmReport report = ReportOf(state, waited);
  uint64_t code_bytes = 0;
  for (const std::shared_ptr<Build>& build : waited.builds) {
    code_bytes += build->code_bytes;
  }
  KeepTimes(state, report, code_bytes);
  const MutexLock lock(state.mutex);
  // The report stays with the ticket, and the builds are let go: they live as long as their ids.
  state.tickets[ticket.index].report = report;
  state.tickets[ticket.index].builds.clear();
  return report;
}

}  // namespace kiln::runtime
