// SPDX-License-Identifier: MIT
// Some drivers compile at the first draw, not at creation. Which kind this one is, the first draws
// tell: they are made one by one and timed. A draw that never ends quarantines its pipeline; the
// journal names it for the next run, should this one end there.
#include "runtime/pipeline/pipelines/pipelines_first_use.h"

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kiln::runtime {
namespace {

// Three draws decide, and all three have to be slow: one may be slow because of something else on
// the machine.
constexpr uint32_t kProbes = 3;
// What is faster than this cannot be felt in a frame.
constexpr Duration kSlowFirstUse = std::chrono::milliseconds(2);

Duration Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

// Made at the first need, as it takes memory and a command pool that an eager driver never needs.
// Without it, pipelines are used unwarmed.
WarmUpDraws* WarmDraws(PipelinesState& state) {
  if (state.draws == nullptr) {
    auto made = WarmUpDraws::Create(*state.device);
    if (!made.ok()) {
      state.log->Write(LogLevel::kWarning, "pipelines", "there are no warm-up draws",
                       {{"why", ErrorText(made.error())}});
      return nullptr;
    }
    state.draws = std::move(made).value();
  }
  return state.draws.get();
}

bool NeedsFirstUse(const PipelinesState& state, const Build& build) {
  return IsReady(build.State()) && !build.used.load() && state.config.first_use != FirstUse::kOff &&
         (state.config.first_use == FirstUse::kOn || state.laziness.load() != Laziness::kEager);
}

namespace {

// The first three tell what kind of driver this is.
void LearnLaziness(PipelinesState& state, const Build& build) {
  if (state.laziness.load() != Laziness::kUnknown) {
    return;
  }
  const Duration first_use = build.first_use.load();
  // Slow means slow in relation to the creation, which shows how fast the machine is.
  state.lazy_seen += first_use > 4 * build.creation && first_use > kSlowFirstUse ? 1 : 0;
  if (++state.first_uses_seen == kProbes) {
    state.laziness = state.lazy_seen == kProbes ? Laziness::kLazy : Laziness::kEager;
  }
}

// Waits for one warm-up draw; one that does not end is quarantined.
Result<void> FinishFirstUse(PipelinesState& state, Build& build, uint64_t value) {
  Result<void> done = state.draws->Wait(value, state.config.first_use_timeout);
  if (!done.ok() && done.error().code == ErrorCode::kDeadlineExceeded) {
    // The handle goes first. So nobody binds a pipeline that hangs, even before its state is final.
    build.handle.store(VK_NULL_HANDLE, std::memory_order_release);
    build.Fail(PipelineState::kQuarantined,
               {ErrorCode::kFailedPrecondition,
                fmt::format("'{}': the first draw of pipeline {} did not end", build.desc.name,
                            build.key.hex()),
                "QUARANTINED"});
    if (state.journal != nullptr) {
      state.journal->Quarantine(build.key);
    }
    return {};
  }
  if (!done.ok()) {
    state.lost = done.error().reason == "DEVICE_LOST";
    return done;
  }
  return {};
}

}  // namespace

// Makes some of the draws that are due. True if there was one.
Result<bool> RunFirstUses(PipelinesState& state, std::span<const std::shared_ptr<Build>> builds) {
  std::vector<Build*> due;
  // While the kind of driver is not known, draws are timed one by one; later they are submitted in
  // batches.
  const size_t most = state.laziness.load() == Laziness::kUnknown ? 1 : WarmUpDraws::kBatch;
  for (const std::shared_ptr<Build>& build : builds) {
    if (due.size() < most && NeedsFirstUse(state, *build)) {
      due.push_back(build.get());
    }
  }
  if (due.empty()) {
    return false;
  }
  WarmUpDraws* const warm = WarmDraws(state);
  std::vector<std::pair<Build*, uint64_t>> submitted;
  Duration start = Now();
  for (Build* const build : due) {
    // Marked even if the draw cannot be submitted, or it would be tried for ever.
    build->used = true;
    if (warm == nullptr) {
      continue;
    }
    // The slot after those of the threads is that of the thread that draws.
    const JournalEntry entry(state.journal.get(), state.queue.threads(), build->key);
    const Result<uint64_t> value = warm->Submit(*build);
    if (value.ok()) {
      submitted.emplace_back(build, *value);
    } else if (value.error().reason == "DEVICE_LOST") {
      // Other refusals leave the pipeline to its first real draw, which may be slow but is right.
      state.lost = true;
      return value.error();
    }
  }
  // Waited for in the order of submission, so the time between two of them is that of the later
  // one.
  for (const auto& [build, value] : submitted) {
    const JournalEntry entry(state.journal.get(), state.queue.threads(), build->key);
    KILN_TRY_VOID(FinishFirstUse(state, *build, value));
    const Duration end = Now();
    build->first_use = end - start;
    start = end;
    LearnLaziness(state, *build);
  }
  return true;
}

}  // namespace kiln::runtime
