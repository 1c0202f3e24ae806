// SPDX-License-Identifier: MIT
// Binding reads atomics alone: an id's version is swapped only in EndFrame, when nobody binds. What
// is not ready is tried from the caches, then as a fast link, and only then left out, waited for or
// replaced by another. A replacement waits for its warm-up draw, too, which goes before the next
// frame.
#include "runtime/pipeline/pipelines/pipelines_frame.h"

#include <chrono>
#include <utility>

#include "runtime/pipeline/pipelines/pipelines_build.h"
#include "runtime/pipeline/pipelines/pipelines_first_use.h"
#include "runtime/pipeline/pipelines/pipelines_register.h"
#include "runtime/pipeline/pipelines/pipelines_save.h"

namespace kiln::runtime {
namespace {

Duration Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// See spec/pso 7.2
BindResult BindMissing(PipelinesState& state, VkCommandBuffer commands, PipelineId id,
                       OnMissing missing) {
  const std::shared_ptr<Build> build =
      state.slots[id].version.load(std::memory_order_acquire)->build;
  const uint32_t here = state.queue.threads();
  const Duration start = Now();
  if (build->State() == PipelineState::kQueued) {
    // Noted before the build is made, since it tells why the build was made at all.
    build->asked_by = BuildSource::kDemand;
  }
  // The caches first: a pipeline that is in them costs less than a frame. Claim keeps workers away
  // meanwhile.
  if (state.cache_control.load() == CacheControl::kWorks && build->Claim()) {
    if (CreatePipeline(state, *build, here, PipelineFactory::Mode::kCachedOnly).ok()) {
      PublishBuild(state, *build, PipelineState::kReady);
    } else {
      build->GiveUp();
    }
  }
  // Then a link of parts, which is slower than a cache and much faster than a compilation.
  if (build->State() == PipelineState::kQueued && UsesFastLinks(state, *build) && build->Claim() &&
      !LinkFast(state, build, here).ok()) {
    build->GiveUp();
  }
  // Waiting is what the engine has asked for. Another thread may have the build already, and then
  // only waiting is left.
  if (missing.what == OnMissing::MissingAction::kBlock) {
    if (build->Wanted() && !IsReady(build->State()) && build->Claim()) {
      WorkOn(state, build, here);
    }
    // The time is short, so that a wake-up which came before the wait costs a millisecond at most.
    while (!IsFinal(build->State())) {
      state.queue.WaitForChange(std::chrono::milliseconds(1));
    }
  }
  if (IsReady(build->State())) {
    if (const Duration taken = Now() - start; taken > state.config.hitch) {
      state.Record(HitchKind::kCreation, *build, taken);
    }
    return BindPipeline(state, commands, id, missing);
  }
  // Somebody needs it now, so it goes before everything else in the queue.
  if (build->State() == PipelineState::kQueued) {
    state.queue.Push(Lane::kCritical, build);
  }
  state.Record(HitchKind::kMissing, *build, {});
  // The fallback is bound with Skip: a fallback that is missing, too, must not lead to a third
  // pipeline.
  if (missing.what == OnMissing::MissingAction::kFallback &&
      state.BuildOf(missing.fallback).handle.load(std::memory_order_acquire) != VK_NULL_HANDLE) {
    return BindPipeline(state, commands, missing.fallback, OnMissing::Skip());
  }
  return {};
}

}  // namespace

BindResult BindPipeline(PipelinesState& state, VkCommandBuffer commands, PipelineId id,
                        OnMissing missing) {
  PipelineSlot& slot = state.slots[id];
  Build& build = *slot.version.load(std::memory_order_acquire)->build;
  const VkPipeline handle = build.handle.load(std::memory_order_acquire);
  if (handle == VK_NULL_HANDLE) {
    return BindMissing(state, commands, id, missing);
  }
  // Counters only, in no order with anything else, so relaxed operations do. They must not slow
  // down a bind that finds its pipeline.
  if (slot.bound.fetch_add(1, std::memory_order_relaxed) == 0) {
    slot.first_frame.store(state.frame.load(std::memory_order_relaxed), std::memory_order_relaxed);
    slot.order.store(state.binds.fetch_add(1, std::memory_order_relaxed) + 1,
                     std::memory_order_relaxed);
  }
  if (!build.used.load(std::memory_order_relaxed) && !build.used.exchange(true) &&
      state.laziness.load(std::memory_order_relaxed) == Laziness::kLazy) {
    state.Record(HitchKind::kFirstUse, build, {});  // the driver compiles at this draw
  }
  state.device->table().CmdBindPipeline(commands, build.desc.bind_point, handle);
  return {.drawable = true, .id = id};
}

Result<void> ReplacePipeline(PipelinesState& state, PipelineId id, PipelineDesc desc,
                             std::vector<CodeRef> code,
                             std::shared_ptr<const ArtifactSource> source) {
  // The replacement is built like any other, and the old pipeline is drawn with until it is ready.
  KILN_TRY(const std::shared_ptr<Build> build,
           GetBuild(state, std::move(desc), std::move(code), std::move(source), {}, Lane::kSoon));
  if (build->State() == PipelineState::kQueued) {
    build->asked_by = BuildSource::kReload;
  }
  {
    const MutexLock lock(state.mutex);
    PipelineSlot& slot = state.slots[id];
    // An id is in the list once, however often it is replaced before the next frame ends.
    if (slot.next == nullptr) {
      state.replacing.push_back(id);
    }
    slot.next = build;  // the latest one wins
  }
  if (state.queue.threads() > 0) {
    state.queue.Push(Lane::kSoon, build);
  } else if (build->Claim()) {
    // Without threads the caller builds it, and the frame waits.
    WorkOn(state, build, 0);
  }
  return {};
}

namespace {

// What `next` needs before it can be drawn with: false while it is not there yet.
bool CanSwap(PipelinesState& state, Build& next) {
  if (!IsFinal(next.State())) {
    return false;
  }
  if (!IsReady(next.State()) || !NeedsFirstUse(state, next)) {
    return true;
  }
  // The warm-up draw goes before the draws of the next frame; nobody waits for it.
  WarmUpDraws* const warm = WarmDraws(state);
  if (warm == nullptr) {
    return true;
  }
  // Submitted in one frame and asked about in the next ones; the frame never waits for it.
  if (next.first_use_value == 0) {
    const Result<uint64_t> value = warm->Submit(next);
    if (!value.ok()) {
      next.used = true;
      return true;
    }
    next.first_use_value = *value;
    next.first_use = Now();  // until it is known when it was done
    return false;
  }
  // An error counts as done: the device is then lost, and nothing is gained by waiting.
  const Result<uint64_t> completed = warm->Completed();
  if (completed.ok() && *completed < next.first_use_value) {
    return false;
  }
  next.first_use = Now() - next.first_use.load();
  next.used = true;
  return true;
}

void Swap(PipelinesState& state, PipelineId id, uint64_t frame_value) KILN_REQUIRES(state.mutex) {
  PipelineSlot& slot = state.slots[id];
  const std::shared_ptr<Build> next = std::exchange(slot.next, nullptr);
  // The old pipeline stays if the new one cannot be built: a mistake in a shader must not take the
  // picture away.
  if (!IsReady(next->State())) {
    slot.failed = next;
    slot.replace_error.store(&*next->error, std::memory_order_release);
    state.log->Write(LogLevel::kWarning, "pipelines",
                     "a replacement was refused, the old one stays",
                     {{"name", next->desc.name}, {"why", ErrorText(*next->error)}});
    return;
  }
  const LayoutSet& old = slot.owner->layouts;
  auto version = std::make_unique<Version>(Version{next, next->layouts});
  // The generation tells callers that descriptor sets of the old layouts no longer fit.
  version->layouts.generation =
      old.generation +
      (old.layout == next->layouts.layout && old.sets == next->layouts.sets ? 0 : 1);
  slot.replace_error.store(nullptr, std::memory_order_release);
  slot.failed = nullptr;
  slot.version.store(version.get(), std::memory_order_release);
  // Frames in flight still use the old version, so it is freed when this frame is done.
  state.retire.Add(frame_value, std::exchange(slot.owner, std::move(version)));
  ++state.replaced;
}

}  // namespace

void EndFrame(PipelinesState& state, uint64_t frame_value) {
  const MutexLock lock(state.mutex);
  std::vector<PipelineId> later;
  for (const PipelineId id : state.replacing) {
    // In the order in which replacements were asked for.
    const std::shared_ptr<Build> next = state.slots[id].next;
    if (CanSwap(state, *next)) {
      Swap(state, id, frame_value);
    } else {
      later.push_back(id);
    }
  }
  state.replacing = std::move(later);
  // The first frame that ends proves that the cache file has not killed the run.
  if (state.frame.fetch_add(1) == 0 && state.cache != nullptr) {
    state.cache->Confirm();
  }
  if (state.queue.threads() > 0 && SaveIsDue(state)) {
    state.queue.Post([&state] { SaveAndTell(state); });
  }
}

}  // namespace kiln::runtime
