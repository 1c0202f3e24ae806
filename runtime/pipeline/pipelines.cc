// SPDX-License-Identifier: MIT
// The face of a folder of functions over one shared state (pipelines_state.h): what is not said
// here in a few lines is called by name in the file of its part.
#include "runtime/pipeline/pipelines.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/hash/canonical.h"
#include "runtime/pipeline/driver/driver_identity.h"
#include "runtime/pipeline/pipelines/pipelines_frame.h"
#include "runtime/pipeline/pipelines/pipelines_metrics.h"
#include "runtime/pipeline/pipelines/pipelines_register.h"
#include "runtime/pipeline/pipelines/pipelines_save.h"
#include "runtime/pipeline/pipelines/pipelines_state.h"
#include "runtime/pipeline/pipelines/pipelines_warm.h"
#include "runtime/pipeline/print_desc.h"

namespace kiln::runtime {
namespace {

// The key of a question, not that of a pipeline: it remembers what Find gave for it. Settings are
// sorted, because their order makes no difference.
Hash128 FoundKey(std::string_view program, std::span<const OptionSetting> options,
                 const PassSignature& signature) {
  std::vector<const OptionSetting*> sorted;
  for (const OptionSetting& option : options) {
    sorted.push_back(&option);
  }
  std::ranges::sort(sorted, {}, [](const OptionSetting* option) { return option->name; });
  CanonicalList settings;
  for (const OptionSetting* const option : sorted) {
    // The type is part of the key, since 1 and 1.0 may be different settings.
    settings.Text(option->name).U32(static_cast<uint32_t>(option->value.index()));
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
            settings.Text(value);
          } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, float>) {
            settings.U32(std::bit_cast<uint32_t>(value));
          } else {
            settings.U32(static_cast<uint32_t>(value));
          }
        },
        option->value);
  }
  CanonicalList formats;
  for (const VkFormat format : signature.color) {
    // The signature is part of the question: the same program is another pipeline in another pass.
    formats.U32(static_cast<uint32_t>(format));
  }
  formats.U32(static_cast<uint32_t>(signature.depth_stencil))
      .U32(static_cast<uint32_t>(signature.samples))
      .U32(signature.view_mask);
  return CanonicalWriter("kiln.pso.found.1")
      .Text(1, program)
      .List(2, settings)
      .List(3, formats)
      .Key();
}

// 0 is allowed and means that the calling thread builds everything itself.
uint32_t ThreadsOf(const PipelinesConfig& config) {
  if (config.threads != PipelinesConfig::kAllCores) {
    return config.threads;
  }
  const uint32_t cores = std::thread::hardware_concurrency();
  // One core is left to the thread that draws.
  return std::max(cores, 2U) - 1;
}

}  // namespace

// Without a configuration each pipeline is built when it is added, on the calling thread.
Pipelines::Pipelines(const Device& device, DebugChecks checks)
    : state_(std::make_unique<PipelinesState>(
          device, PipelinesConfig{.first_use = FirstUse::kOff, .debug_checks = checks}, 0)) {
  state_->build_on_add = true;
}

Pipelines::Pipelines(const Device& device, const PipelinesConfig& config)
    : state_(std::make_unique<PipelinesState>(device, config, ThreadsOf(config))) {}

Result<std::unique_ptr<Pipelines>> Pipelines::Create(const Device& device,
                                                     const PipelinesConfig& config) {
  std::unique_ptr<Pipelines> out(new Pipelines(device, config));
  PipelinesState& state = *out->state_;
  // The identity of device and driver is in the names of all files, so a new driver begins with an
  // empty cache rather than with one that it refuses.
  if (!config.cache_folder.empty()) {
    const CacheFolder folder{config.cache_folder, config.files, state.log};
    state.identity = DriverIdentity(device);
    // One more cache and slot than threads: the calling thread builds as well.
    auto cache = BinaryCache::Open(device, folder, state.identity, state.queue.threads() + 1);
    if (!cache.ok()) {
      return std::move(cache).error();
    }
    state.cache = std::move(cache).value();
    state.journal = BuildJournal::Open(folder, state.identity, state.queue.threads() + 1);
    state.last_start = ReadWarmRecord(folder, state.identity);
  }
  return out;
}

// Threads that isolate are joined before anything is destroyed that they use. They are taken out
// under the lock and joined without it, as they take it themselves.
Pipelines::~Pipelines() {
  state_->closing = true;
  std::vector<Thread> isolating;
  {
    const MutexLock lock(state_->mutex);
    isolating = std::move(state_->isolating);
  }
  for (Thread& thread : isolating) {
    thread.join();
  }
  // After the loss of the device nothing is saved, and the file stays as it was.
  if (!state_->lost) {
    SaveAndTell(*state_);
  }
}

Result<PipelineId> Pipelines::Add(std::string_view name, const PipelineMetadata& metadata,
                                  std::span<const ModuleWords> modules,
                                  const PassSignature& signature) {
  KILN_TRY(PipelineDesc desc, DescFrom(name, metadata, signature));
  std::vector<CodeRef> code;
  KILN_TRY(auto source, KeepWords(desc, modules, code));
  return RegisterPipeline(*state_, std::move(desc), std::move(code), std::move(source), {},
                          Lane::kSoon);
}

Result<PipelineId> Pipelines::Add(const SourceArtifact& artifact,
                                  std::shared_ptr<const ArtifactSource> source,
                                  const std::optional<PassSignature>& signature,
                                  std::span<const ImageHint> hints, Lane lane) {
  KILN_TRY(Description read, Describe(artifact, *source, signature, state_->device->caps()));
  KILN_TRY(const PipelineId id,
           RegisterPipeline(*state_, std::move(read.desc), std::move(read.code), std::move(source),
                            hints, lane));
  const MutexLock lock(state_->mutex);
  // Options are kept for reloads, which ask for the same variant again.
  state_->slots[id].options = artifact.options;
  return id;
}

Result<void> Pipelines::Replace(PipelineId id, const PipelineMetadata& metadata,
                                std::span<const ModuleWords> modules) {
  const PipelineDesc& old = Desc(id);
  KILN_TRY(PipelineDesc desc, DescFrom(old.name, metadata, old.signature));
  std::vector<CodeRef> code;
  KILN_TRY(auto source, KeepWords(desc, modules, code));
  return ReplacePipeline(*state_, id, std::move(desc), std::move(code), std::move(source));
}

Result<void> Pipelines::Replace(PipelineId id, const SourceArtifact& artifact,
                                std::shared_ptr<const ArtifactSource> source) {
  // The pass of a pipeline stays; only its program is replaced.
  KILN_TRY(Description read,
           Describe(artifact, *source, Desc(id).signature, state_->device->caps()));
  return ReplacePipeline(*state_, id, std::move(read.desc), std::move(read.code),
                         std::move(source));
}

// Later sources come first in Find. A source stays loaded as long as the object lives.
void Pipelines::AddSource(std::shared_ptr<const ArtifactSource> source) {
  const MutexLock lock(state_->mutex);
  state_->sources.push_back(std::move(source));
}

// One pipeline that is refused does not keep the others from loading; the report has the reason of
// each.
LoadReport Pipelines::Load(std::shared_ptr<const ArtifactSource> source) {
  LoadReport report;
  for (const WarmItem& item : source->WarmList()) {
    ++report.listed;
    const auto id = Add(item.artifact, source, item.signature, item.hints, item.lane);
    if (!id.ok()) {
      report.refused.push_back({.name = item.artifact.program,
                                .key = item.artifact.metadata.id,
                                .error = ErrorText(id.error())});
      continue;
    }
    ++report.registered;
    report.unsupported += State(*id) == PipelineState::kUnsupported ? 1 : 0;
  }
  AddSource(std::move(source));
  return report;
}

Result<PipelineId> Pipelines::Find(std::string_view program, std::span<const OptionSetting> options,
                                   const PassSignature& signature) {
  const Hash128 key = FoundKey(program, options, signature);
  std::vector<std::shared_ptr<const ArtifactSource>> sources;
  {
    const MutexLock lock(state_->mutex);
    if (const auto known = state_->found.find(key); known != state_->found.end()) {
      return known->second;
    }
    // The list is copied, because reading a source takes long and must not hold the lock.
    sources = state_->sources;
  }
  Error last{ErrorCode::kNotFound, fmt::format("no source was loaded that has '{}'", program), ""};
  // The latest source comes first, so a reload takes the place of the pack behind it. If none has
  // the program, the error of the oldest one is told, which is mostly the pack.
  for (auto source = sources.rbegin(); source != sources.rend(); ++source) {
    auto artifact = (*source)->Find(program, options);
    if (!artifact.ok()) {
      last = std::move(artifact).error();
      continue;
    }
    KILN_TRY(const PipelineId id, Add(*artifact, *source, signature));
    const MutexLock lock(state_->mutex);
    // Another thread may have found it meanwhile; then its id stays.
    return state_->found.emplace(key, id).first->second;
  }
  return last;
}

// One load, since it is asked for each draw. Acquire makes what the worker wrote before visible
// along with the handle.
VkPipeline Pipelines::Get(PipelineId id) const noexcept {
  return state_->BuildOf(id).handle.load(std::memory_order_acquire);
}

PipelineState Pipelines::State(PipelineId id) const noexcept { return state_->BuildOf(id).State(); }

const LayoutSet& Pipelines::Layouts(PipelineId id) const noexcept {
  return state_->slots[id].version.load(std::memory_order_acquire)->layouts;
}

const PipelineDesc& Pipelines::Desc(PipelineId id) const noexcept {
  return state_->BuildOf(id).desc;
}

const Error* Pipelines::ErrorOf(PipelineId id) const noexcept {
  const Build& build = state_->BuildOf(id);
  // A pipeline that works may still have an error: that of the last replacement, which did not.
  if (IsFinal(build.State()) && build.error) {
    return &*build.error;
  }
  return state_->slots[id].replace_error.load(std::memory_order_acquire);
}

void Pipelines::ReleaseModules() { state_->factory.ReleaseModules(); }

Result<void> Pipelines::SaveCache() { return runtime::SaveCache(*state_); }

// A snapshot under the lock, while builds go on: the numbers fit each other, but for those that are
// counted without a lock.
PipelineStats Pipelines::Stats() const {
  PipelinesState& state = *state_;
  PipelineStats stats{.added = state.slots.size(),
                      .modules = state.factory.modules_made(),
                      .set_layouts = state.factory.set_layout_count(),
                      .pipeline_layouts = state.factory.pipeline_layout_count(),
                      .libraries = state.factory.library_count(),
                      .cache_hits = state.cache_hits.load(),
                      .retired = state.retire.size(),
                      .refused = state.refused.load()};
  const MutexLock lock(state.mutex);
  stats.saved = state.saved;
  stats.replaced = state.replaced;
  for (const Hitch& hitch : state.hitches) {
    ++(hitch.kind == HitchKind::kMissing ? stats.missing : stats.hitches);
  }
  // Entries are weak: builds that no id has any more are gone and no longer count.
  // Pipelines with one key are one build, which counts once however many ids it has.
  for (const auto& [key, weak] : state.by_key) {
    const std::shared_ptr<Build> build = weak.lock();
    if (build == nullptr) {
      continue;
    }
    const PipelineState now = build->State();
    switch (now) {
      case PipelineState::kQueued:
      case PipelineState::kBuilding:
        ++stats.queued;
        continue;
      case PipelineState::kReady:
        ++stats.ready;
        break;
      case PipelineState::kReadyFast:
        ++stats.ready_fast;
        continue;
      case PipelineState::kFailed:
        ++stats.failed;
        continue;
      case PipelineState::kUnsupported:
        ++stats.unsupported;
        continue;
      case PipelineState::kQuarantined:
        ++stats.quarantined;
        continue;
    }
    // Only a pipeline that is ready comes here, as the times of others are not final.
    stats.creation += build->creation;
    stats.longest_creation = std::max(stats.longest_creation, build->creation);
    const Duration first_use = build->first_use.load();
    stats.first_use += first_use;
    stats.longest_first_use = std::max(stats.longest_first_use, first_use);
  }
  return stats;
}

std::vector<Hitch> Pipelines::Hitches() const {
  const MutexLock lock(state_->mutex);
  return state_->hitches;
}

void Pipelines::ForgetHitches() {
  const MutexLock lock(state_->mutex);
  state_->hitches.clear();
}

std::vector<PipelineTimes> Pipelines::Times() const {
  const PipelinesState& state = *state_;
  std::vector<PipelineTimes> out;
  // In the order in which pipelines were added, so that two reports can be compared line by line.
  for (uint32_t i = 0; i < state.slots.size(); ++i) {
    const Build& build = state.BuildOf({i});
    const PipelineSlot& slot = state.slots[{i}];
    PipelineTimes times{.name = build.desc.name, .key = build.key, .state = build.State()};
    // Before this state the times belong to the thread that builds and must not be read.
    if (times.state == PipelineState::kReady) {
      times.creation = build.creation;
      times.first_use = build.first_use;
      times.from_cache = build.from_cache;
      times.feedback = build.feedback;
    }
    times.source = build.asked_by.load(std::memory_order_relaxed);
    times.bound = slot.bound.load(std::memory_order_relaxed);
    times.first_frame = slot.first_frame.load(std::memory_order_relaxed);
    out.push_back(std::move(times));
  }
  return out;
}

BindResult Pipelines::Bind(VkCommandBuffer commands, PipelineId id, OnMissing missing) {
  return BindPipeline(*state_, commands, id, missing);
}

// A pipeline in a pass of other formats is undefined in Vulkan; it is refused here, where a name
// can be told.
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

WarmTicket Pipelines::Warm(const WarmRequest& request) { return WarmPipelines(*state_, request); }

WarmProgress Pipelines::Progress(WarmTicket ticket) const { return ProgressOf(*state_, ticket); }

void Pipelines::Cancel(WarmTicket ticket) { CancelWarm(*state_, ticket); }

Result<WarmReport> Pipelines::Wait(WarmTicket ticket, Duration timeout) {
  return WaitForWarm(*state_, ticket, timeout);
}

// Must be called once for each frame, on the thread that records, after the last use of a pipeline
// in it.
void Pipelines::EndFrame(uint64_t frame_value) { runtime::EndFrame(*state_, frame_value); }

void Pipelines::Collect(uint64_t completed_value) { state_->retire.Collect(completed_value); }

std::string Pipelines::WriteWarmList() const { return runtime::WriteWarmList(*state_); }

std::string Pipelines::PrintMetrics() const {
  return runtime::PrintMetrics(*state_, Stats(), Times(), Hitches());
}

void SetViewportFor(const vk::Table& table, VkCommandBuffer commands, const PipelineDesc& desc,
                    VkExtent2D area) {
  const auto width = static_cast<float>(area.width);
  const auto height = static_cast<float>(area.height);
  VkViewport viewport{0.0F, 0.0F, width, height, 0.0F, 1.0F};
  // A negative height turns the y axis around, and the origin moves to the other edge along with
  // it.
  if (desc.viewport_y == artifact::ViewportY::kUp) {
    viewport.y = height;
    viewport.height = -height;
  }
  table.CmdSetViewport(commands, 0, 1, &viewport);
  const VkRect2D scissor{{0, 0}, area};
  table.CmdSetScissor(commands, 0, 1, &scissor);
}

}  // namespace kiln::runtime
