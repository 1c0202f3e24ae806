// SPDX-License-Identifier: MIT
// Pipelines: what happens while frames are drawn: binding, replacing, swapping.
#include <chrono>
#include <utility>

#include "runtime/pipeline/pipelines_state.h"
#include "runtime/pipeline/print_desc.h"

namespace kiln::runtime {
namespace {

Duration Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

void PipelinesState::Record(HitchKind kind, const Build& build, Duration duration) {
  const MutexLock lock(mutex);
  hitches.push_back({.kind = kind,
                     .name = build.desc.name,
                     .key = build.key,
                     .duration = duration,
                     .frame = frame.load()});
}

BindResult Pipelines::Bind(VkCommandBuffer commands, PipelineId id, OnMissing missing,
                           const PassSignature& pass) {
  const PassSignature& own = Desc(id).signature;
  if (own == pass) {
    return Bind(commands, id, missing);
  }
  state_->log->Write(
      LogLevel::kError, "pipelines", "a pipeline is bound in a pass of other formats",
      {{"name", Desc(id).name}, {"pipeline", PrintSignature(own)}, {"pass", PrintSignature(pass)}});
  state_->refused.fetch_add(1, std::memory_order_relaxed);
  return {};
}

BindResult Pipelines::Bind(VkCommandBuffer commands, PipelineId id, OnMissing missing) {
  PipelinesState& state = *state_;
  Slot& slot = state.slots[id];
  Build& build = *slot.version.load(std::memory_order_acquire)->build;
  const VkPipeline handle = build.handle.load(std::memory_order_acquire);
  if (handle == VK_NULL_HANDLE) {
    return BindMissing(commands, id, missing);
  }
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

// See spec/pso 7.2
BindResult Pipelines::BindMissing(VkCommandBuffer commands, PipelineId id, OnMissing missing) {
  PipelinesState& state = *state_;
  const std::shared_ptr<Build> build =
      state.slots[id].version.load(std::memory_order_acquire)->build;
  const uint32_t here = state.queue.threads();
  const Duration start = Now();
  if (build->State() == PipelineState::kQueued) {
    build->asked_by = BuildSource::kDemand;
  }
  if (state.cache_control.load() == CacheControl::kWorks && build->Claim()) {
    if (state.Create(*build, here, PipelineFactory::Mode::kCachedOnly).ok()) {
      state.Publish(*build, PipelineState::kReady);
    } else {
      build->GiveUp();
    }
  }
  if (build->State() == PipelineState::kQueued && state.UsesFastLinks(*build) && build->Claim() &&
      !state.LinkFast(build, here).ok()) {
    build->GiveUp();
  }
  if (missing.what == OnMissing::MissingAction::kBlock) {
    if (build->Wanted() && !IsReady(build->State()) && build->Claim()) {
      state.Work(build, here);
    }
    while (!IsFinal(build->State())) {
      state.queue.WaitForChange(std::chrono::milliseconds(1));
    }
  }
  if (IsReady(build->State())) {
    if (const Duration taken = Now() - start; taken > state.config.hitch) {
      state.Record(HitchKind::kCreation, *build, taken);
    }
    return Bind(commands, id, missing);
  }
  if (build->State() == PipelineState::kQueued) {
    state.queue.Push(Lane::kCritical, build);
  }
  state.Record(HitchKind::kMissing, *build, {});
  if (missing.what == OnMissing::MissingAction::kFallback &&
      Get(missing.fallback) != VK_NULL_HANDLE) {
    return Bind(commands, missing.fallback, OnMissing::Skip());
  }
  return {};
}

Result<void> Pipelines::Replace(PipelineId id, PipelineDesc desc, std::vector<CodeRef> code,
                                std::shared_ptr<const ArtifactSource> source) {
  PipelinesState& state = *state_;
  KILN_TRY(const std::shared_ptr<Build> build,
           state.GetBuild(std::move(desc), std::move(code), std::move(source), {}, Lane::kSoon));
  if (build->State() == PipelineState::kQueued) {
    build->asked_by = BuildSource::kReload;
  }
  {
    const MutexLock lock(state.mutex);
    Slot& slot = state.slots[id];
    if (slot.next == nullptr) {
      state.replacing.push_back(id);
    }
    slot.next = build;  // the latest one wins
  }
  if (state.queue.threads() > 0) {
    state.queue.Push(Lane::kSoon, build);
  } else if (build->Claim()) {
    state.Work(build, 0);
  }
  return {};
}

// What `next` needs before it can be drawn with: false while it is not there yet.
bool PipelinesState::CanSwap(Build& next) {
  if (!IsFinal(next.State())) {
    return false;
  }
  if (!IsReady(next.State()) || !NeedsFirstUse(next)) {
    return true;
  }
  // The warm-up draw goes before the draws of the next frame; nobody waits for it.
  WarmUpDraws* const warm = Draws();
  if (warm == nullptr) {
    return true;
  }
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
  const Result<uint64_t> completed = warm->Completed();
  if (completed.ok() && *completed < next.first_use_value) {
    return false;
  }
  next.first_use = Now() - next.first_use.load();
  next.used = true;
  return true;
}

void PipelinesState::Swap(PipelineId id, uint64_t frame_value) {
  Slot& slot = slots[id];
  const std::shared_ptr<Build> next = std::exchange(slot.next, nullptr);
  if (!IsReady(next->State())) {
    slot.failed = next;
    slot.replace_error.store(&*next->error, std::memory_order_release);
    log->Write(LogLevel::kWarning, "pipelines", "a replacement was refused, the old one stays",
               {{"name", next->desc.name}, {"why", ErrorText(*next->error)}});
    return;
  }
  const LayoutSet& old = slot.owner->layouts;
  auto version = std::make_unique<Version>(Version{next, next->layouts});
  version->layouts.generation =
      old.generation +
      (old.layout == next->layouts.layout && old.sets == next->layouts.sets ? 0 : 1);
  slot.replace_error.store(nullptr, std::memory_order_release);
  slot.failed = nullptr;
  slot.version.store(version.get(), std::memory_order_release);
  retire.Add(frame_value, std::exchange(slot.owner, std::move(version)));
  ++replaced;
}

void Pipelines::EndFrame(uint64_t frame_value) {
  PipelinesState& state = *state_;
  const MutexLock lock(state.mutex);
  std::vector<PipelineId> later;
  for (const PipelineId id : state.replacing) {
    const std::shared_ptr<Build> next = state.slots[id].next;
    if (state.CanSwap(*next)) {
      state.Swap(id, frame_value);
    } else {
      later.push_back(id);
    }
  }
  state.replacing = std::move(later);
  if (state.frame.fetch_add(1) == 0 && state.cache != nullptr) {
    state.cache->Confirm();
  }
  if (state.queue.threads() > 0 && state.SaveIsDue()) {
    state.queue.Post([&state] { state.SaveAndTell(); });
  }
}

void Pipelines::Collect(uint64_t completed_value) { state_->retire.Collect(completed_value); }

void SetViewportFor(const vk::Table& table, VkCommandBuffer commands, const PipelineDesc& desc,
                    VkExtent2D area) {
  const auto width = static_cast<float>(area.width);
  const auto height = static_cast<float>(area.height);
  VkViewport viewport{0.0F, 0.0F, width, height, 0.0F, 1.0F};
  if (desc.viewport_y == artifact::ViewportY::kUp) {
    viewport.y = height;
    viewport.height = -height;
  }
  table.CmdSetViewport(commands, 0, 1, &viewport);
  const VkRect2D scissor{{0, 0}, area};
  table.CmdSetScissor(commands, 0, 1, &scissor);
}

}  // namespace kiln::runtime
