// SPDX-License-Identifier: MIT
// Pipelines: warm starts. Threads build, the thread that waits makes the warm-up draws.
// See spec/pso 7.4, 7.5
#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/pipelines_state.h"

namespace kiln::runtime {
namespace {

// How often a wait looks around, should nobody wake it.
constexpr std::chrono::milliseconds kLook{20};
constexpr uint32_t kProbes = 3;
constexpr uint64_t kEnoughToTell = 10;  // share of what is left that tells how fast this run is
constexpr uint32_t kSome = 64;          // jobs between two looks around
constexpr Duration kSlowFirstUse = std::chrono::milliseconds(2);

Duration Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// Threads optimise later what is linked fast; without them it is done here.
bool IsDone(const Build& build, uint32_t threads) {
  const PipelineState now = build.State();
  return IsFinal(now) && (threads > 0 || now != PipelineState::kReadyFast || !build.Wanted());
}

}  // namespace

WarmUpDraws* PipelinesState::Draws() {
  if (draws == nullptr) {
    auto made = WarmUpDraws::Create(*device);
    if (!made.ok()) {
      log->Write(LogLevel::kWarning, "pipelines", "there are no warm-up draws",
                 {{"why", ErrorText(made.error())}});
      return nullptr;
    }
    draws = std::move(made).value();
  }
  return draws.get();
}

bool PipelinesState::NeedsFirstUse(const Build& build) const {
  return IsReady(build.State()) && !build.used.load() && config.first_use != FirstUse::kOff &&
         (config.first_use == FirstUse::kOn || laziness.load() != Laziness::kEager);
}

// The first three tell what kind of driver this is.
void PipelinesState::LearnLaziness(const Build& build) {
  if (laziness.load() != Laziness::kUnknown) {
    return;
  }
  const Duration first_use = build.first_use.load();
  lazy_seen += first_use > 4 * build.creation && first_use > kSlowFirstUse ? 1 : 0;
  if (++first_uses_seen == kProbes) {
    laziness = lazy_seen == kProbes ? Laziness::kLazy : Laziness::kEager;
  }
}

// Waits for one warm-up draw; one that does not end is quarantined.
Result<void> PipelinesState::FinishFirstUse(Build& build, uint64_t value) {
  Result<void> done = draws->Wait(value, config.first_use_timeout);
  if (!done.ok() && done.error().code == ErrorCode::kDeadlineExceeded) {
    build.handle.store(VK_NULL_HANDLE, std::memory_order_release);
    build.Fail(PipelineState::kQuarantined,
               {ErrorCode::kFailedPrecondition,
                fmt::format("'{}': the first draw of pipeline {} did not end", build.desc.name,
                            build.key.hex()),
                "QUARANTINED"});
    if (journal != nullptr) {
      journal->Quarantine(build.key);
    }
    return {};
  }
  if (!done.ok()) {
    lost = done.error().reason == "DEVICE_LOST";
    return done;
  }
  return {};
}

// Makes some of the draws that are due. True if there was one.
Result<bool> PipelinesState::RunFirstUses(std::span<const std::shared_ptr<Build>> builds) {
  std::vector<Build*> due;
  const size_t most = laziness.load() == Laziness::kUnknown ? 1 : WarmUpDraws::kBatch;
  for (const std::shared_ptr<Build>& build : builds) {
    if (due.size() < most && NeedsFirstUse(*build)) {
      due.push_back(build.get());
    }
  }
  if (due.empty()) {
    return false;
  }
  WarmUpDraws* const warm = Draws();
  std::vector<std::pair<Build*, uint64_t>> submitted;
  Duration start = Now();
  for (Build* const build : due) {
    build->used = true;
    if (warm == nullptr) {
      continue;
    }
    // The slot after those of the threads is that of the thread that draws.
    const JournalEntry entry(journal.get(), queue.threads(), build->key);
    const Result<uint64_t> value = warm->Submit(*build);
    if (value.ok()) {
      submitted.emplace_back(build, *value);
    } else if (value.error().reason == "DEVICE_LOST") {
      lost = true;
      return value.error();
    }
  }
  for (const auto& [build, value] : submitted) {
    const JournalEntry entry(journal.get(), queue.threads(), build->key);
    KILN_TRY_VOID(FinishFirstUse(*build, value));
    const Duration end = Now();
    build->first_use = end - start;
    start = end;
    LearnLaziness(*build);
  }
  return true;
}

WarmTicket Pipelines::Warm(const WarmRequest& request) {
  PipelinesState& state = *state_;
  Ticket ticket{.builds = {}, .start = Now(), .report = {}};
  std::set<const Build*> seen;
  const MutexLock lock(state.mutex);
  const auto add = [&](PipelineId id) {
    const Slot& slot = state.slots[id];
    const std::shared_ptr<Build>& build = slot.owner->build;
    if (!seen.insert(build.get()).second) {
      return;
    }
    ticket.builds.push_back(build);
    if (build->Wanted() && !request.isolate) {
      state.queue.Push(request.lane.value_or(build->lane), build);
    }
  };
  for (const PipelineId id : request.pipelines) {
    add(id);
  }
  for (uint32_t i = 0; request.pipelines.empty() && i < state.slots.size(); ++i) {
    add({i});
  }
  const WarmTicket id{static_cast<uint32_t>(state.tickets.size())};
  const Isolation isolation{id, request.lane};
  if (request.isolate && state.queue.threads() > 0) {
    state.isolating.emplace_back(
        Thread::Entry{
            .name = "isolation", .after_throw = Thread::AfterThrow::kEnds, .log = state.log},
        [&state, isolation](const std::stop_token&) { state.Isolate(isolation); });
  } else if (request.isolate) {
    ticket.isolation = isolation;
  }
  state.tickets.push_back(std::move(ticket));
  return id;
}

namespace {

WarmProgress ProgressOf(const PipelinesState& state, const Ticket& ticket) {
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
  if (done_bytes < left_bytes / kEnoughToTell) {
    progress.eta = state.last_start.For(left_bytes);
  }
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
  WarmReport report{.progress = ProgressOf(state, ticket)};
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

}  // namespace

// Of a start that has built something, for the time left of the next one.
void PipelinesState::KeepTimes(const WarmReport& report, uint64_t code_bytes) const {
  if (cache != nullptr && report.progress.done == report.progress.total && code_bytes > 0 &&
      report.creation > Duration{}) {
    WriteWarmRecord({config.cache_folder, config.files, log}, identity,
                    {.elapsed = report.progress.elapsed, .code_bytes = code_bytes});
  }
}

Ticket PipelinesState::TicketOf(WarmTicket ticket) const {
  const MutexLock lock(mutex);
  return tickets[ticket.index];
}

bool PipelinesState::IsCancelled(WarmTicket ticket) const {
  const MutexLock lock(mutex);
  return tickets[ticket.index].cancelled;
}

bool PipelinesState::RunSome() {
  uint32_t done = 0;
  while (done < kSome && !lost && queue.RunOne()) {
    ++done;
  }
  return done > 0;
}

WarmProgress Pipelines::Progress(WarmTicket ticket) const {
  const Ticket now = state_->TicketOf(ticket);
  return now.report ? now.report->progress : ProgressOf(*state_, now);
}

void Pipelines::Cancel(WarmTicket ticket) {
  std::vector<std::shared_ptr<Build>> builds;
  {
    const MutexLock lock(state_->mutex);
    state_->tickets[ticket.index].cancelled = true;
    builds = state_->tickets[ticket.index].builds;
  }
  state_->queue.Drop(builds);
}

Result<WarmReport> Pipelines::Wait(WarmTicket ticket, Duration timeout) {
  PipelinesState& state = *state_;
  const Ticket waited = state.TicketOf(ticket);
  if (waited.report) {
    return *waited.report;
  }
  if (waited.isolation && !state.IsCancelled(ticket)) {
    {
      const MutexLock lock(state.mutex);
      state.tickets[ticket.index].isolation.reset();
    }
    state.Isolate(*waited.isolation);
  }
  const Duration deadline = Now() + timeout;
  for (;;) {
    KILN_TRY(const bool drew, state.RunFirstUses(waited.builds));
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
      const WarmProgress progress = ProgressOf(state, waited);
      return Error{ErrorCode::kDeadlineExceeded,
                   fmt::format("{} of {} pipelines are built; at '{}'", progress.done,
                               progress.total, progress.current),
                   ""};
    }
    const bool ran = state.queue.threads() == 0 && state.RunSome();
    if (!drew && !built && !ran && !state.lost) {
      state.queue.WaitForChange(std::min<Duration>(deadline - Now(), kLook));
    }
  }
  if (state.queue.Idle()) {
    state.factory.ReleaseModules();
  }
  if (state.cache != nullptr) {
    state.cache->Confirm();
    state.SaveAndTell();
  }
  WarmReport report = ReportOf(state, waited);
  uint64_t code_bytes = 0;
  for (const std::shared_ptr<Build>& build : waited.builds) {
    code_bytes += build->code_bytes;
  }
  state.KeepTimes(report, code_bytes);
  const MutexLock lock(state.mutex);
  state.tickets[ticket.index].report = report;
  state.tickets[ticket.index].builds.clear();
  return report;
}

}  // namespace kiln::runtime
