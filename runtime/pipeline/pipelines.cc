// SPDX-License-Identifier: MIT
// Pipelines: registering, looking, reporting. Building is in pipelines_build.cc, frames in
// pipelines_frame.cc, warm starts in pipelines_warm.cc.
#include "runtime/pipeline/pipelines.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/canonical.h"
#include "runtime/pipeline/canonical_state.h"
#include "runtime/pipeline/memory_source.h"
#include "runtime/pipeline/pipelines_state.h"
#include "runtime/pipeline/to_vulkan.h"

namespace kiln::runtime {
namespace {

constexpr std::chrono::seconds kSaveEvery{60};

// The module of every stage of the pipeline, in its order.
template <class Module>
Result<std::vector<const Module*>> ModulesOf(const PipelineDesc& desc,
                                             std::span<const Module> modules) {
  std::vector<const Module*> out;
  for (const StageDesc& stage : desc.stages) {
    const auto found = std::ranges::find_if(modules, [&](const Module& module) {
      return !module.stage || ToVulkan(*module.stage) == stage.stage;
    });
    if (found == modules.end()) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("'{}': there is no SPIR-V for entry point '{}'", desc.name, stage.entry),
          "METADATA_INCOMPLETE"};
    }
    out.push_back(&*found);
  }
  return out;
}

// Copies the words, so that a thread can build with them later.
Result<std::shared_ptr<MemorySource>> KeepWords(const PipelineDesc& desc,
                                                std::span<const ModuleWords> modules,
                                                std::vector<CodeRef>& code) {
  KILN_TRY(const auto of_stages, ModulesOf(desc, modules));
  auto source = std::make_shared<MemorySource>();
  for (size_t i = 0; i < of_stages.size(); ++i) {
    const auto bytes = std::as_bytes(of_stages[i]->words);
    KILN_TRY_VOID(CheckWords(desc, i, of_stages[i]->words));
    code.push_back({of_stages[i]->stage, DigestOf(bytes)});
    KILN_TRY_VOID(source->AddBytes(code.back().digest, Bytes(bytes.begin(), bytes.end())));
  }
  return source;
}

struct Description {
  PipelineDesc desc;
  std::vector<CodeRef> code;  // by stage of desc
};

Result<Description> Describe(const SourceArtifact& artifact, const ArtifactSource& source,
                             const std::optional<PassSignature>& signature,
                             const DeviceCaps& caps) {
  KILN_TRY(const SourceBytes bytes, source.Read(artifact.metadata));
  KILN_TRY(const PipelineMetadata metadata, artifact::DecodeMetadata(bytes.bytes));
  Description out;
  KILN_TRY(out.desc, DescFrom(artifact.program, metadata,
                              signature ? *signature : DefaultSignature(metadata, caps)));
  KILN_TRY(const auto modules, ModulesOf(out.desc, std::span<const CodeRef>(artifact.code)));
  for (const CodeRef* const module : modules) {
    out.code.push_back(*module);
  }
  return out;
}

Hash128 FoundKey(std::string_view program, std::span<const OptionSetting> options,
                 const PassSignature& signature) {
  std::vector<const OptionSetting*> sorted;
  for (const OptionSetting& option : options) {
    sorted.push_back(&option);
  }
  std::ranges::sort(sorted, {}, [](const OptionSetting* option) { return option->name; });
  CanonicalList settings;
  for (const OptionSetting* const option : sorted) {
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

uint32_t ThreadsOf(const PipelinesConfig& config) {
  if (config.threads != PipelinesConfig::kAllCores) {
    return config.threads;
  }
  const uint32_t cores = std::thread::hardware_concurrency();
  return std::max(cores, 2U) - 1;
}

}  // namespace

PipelinesState::PipelinesState(const Device& of, const PipelinesConfig& how, uint32_t threads)
    : device(&of),
      config(how),
      log(how.log == nullptr ? &silence : how.log),
      factory(of),
      clock(how.clock == nullptr ? &system_clock : how.clock),
      queue(threads, how.budget_bytes,
            [this](const std::shared_ptr<Build>& build, uint32_t worker) { Work(build, worker); }) {
  saved_at = clock->Monotonic();
  if (of.identity().driver_id == VK_DRIVER_ID_MESA_LLVMPIPE) {
    laziness = Laziness::kLazy;
  }
}

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
  if (!config.cache_folder.empty()) {
    const CacheFolder folder{config.cache_folder, config.files, state.log};
    state.identity = DriverIdentity(device);
    KILN_TRY(state.cache,
             BinaryCache::Open(device, folder, state.identity, state.queue.threads() + 1));
    state.journal = BuildJournal::Open(folder, state.identity, state.queue.threads() + 1);
    state.last_start = ReadWarmRecord(folder, state.identity);
  }
  return out;
}

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
  if (!state_->lost) {
    state_->SaveAndTell();
  }
}

// One that can be built, or that never will be: it says why.
std::shared_ptr<Build> PipelinesState::NewBuild(PipelineDesc desc, const Hash128& key) {
  auto build = std::make_shared<Build>(std::move(desc));
  build->key = key;
  if (auto fits = CheckDevice(build->desc, device->caps()); !fits.ok()) {
    build->Fail(PipelineState::kUnsupported, std::move(fits).error());
  } else if (auto layouts = factory.Layouts(build->desc); !layouts.ok()) {
    build->Fail(PipelineState::kFailed, std::move(layouts).error());
  } else {
    build->layouts = *layouts;
    if (journal != nullptr && journal->Died(key)) {
      build->Fail(PipelineState::kQuarantined,
                  {ErrorCode::kFailedPrecondition,
                   fmt::format("'{}': an earlier run ended while pipeline {} was made or drawn "
                               "first; remove {} to try it again",
                               build->desc.name, key.hex(), journal->path()),
                   "QUARANTINED"});
    }
  }
  for (const std::string& lint : LintsOf(build->desc)) {
    log->Write(LogLevel::kWarning, "pipelines", "a pipeline is odd", {{"what", lint}});
  }
  return build;
}

Result<std::shared_ptr<Build>> PipelinesState::GetBuild(
    PipelineDesc desc, std::vector<CodeRef> code, std::shared_ptr<const ArtifactSource> source,
    std::span<const ImageHint> hints, Lane lane) {
  std::vector<Digest> digests;
  uint64_t bytes = 0;
  for (const CodeRef& ref : code) {
    digests.push_back(ref.digest);
    bytes += ref.digest.size;
  }
  const Hash128 key = PipelineKey(desc, digests);
  const std::string name = desc.name;
  const Hash128 layout_hash = desc.layout_hash;
  const MutexLock lock(mutex);
  std::weak_ptr<Build>& known = by_key[key];
  std::shared_ptr<Build> build = known.lock();
  if (build != nullptr) {
    ++saved;
  } else {
    known = build = NewBuild(std::move(desc), key);
    build->code = std::move(code);
    build->code_bytes = bytes;
    build->hints.assign(hints.begin(), hints.end());
    build->source = build->State() == PipelineState::kQueued ? std::move(source) : nullptr;
    build->lane = lane;
  }
  if (config.debug_checks == DebugChecks::kOn && build->layouts.layout != VK_NULL_HANDLE) {
    KILN_TRY_VOID(families.Check(name, layout_hash, build->layouts));
  }
  return build;
}

Result<PipelineId> PipelinesState::Register(PipelineDesc desc, std::vector<CodeRef> code,
                                            std::shared_ptr<const ArtifactSource> source,
                                            std::span<const ImageHint> hints, Lane lane) {
  KILN_TRY(std::shared_ptr<Build> build,
           GetBuild(std::move(desc), std::move(code), std::move(source), hints, lane));
  auto version = std::make_unique<Version>(Version{build, build->layouts});
  PipelineId id;
  {
    const MutexLock lock(mutex);
    id = slots.Append(std::move(version));
  }
  if (build_on_add && build->Claim()) {
    Work(build, queue.threads());
  }
  return id;
}

Result<PipelineId> Pipelines::Add(std::string_view name, const PipelineMetadata& metadata,
                                  std::span<const ModuleWords> modules,
                                  const PassSignature& signature) {
  KILN_TRY(PipelineDesc desc, DescFrom(name, metadata, signature));
  std::vector<CodeRef> code;
  KILN_TRY(auto source, KeepWords(desc, modules, code));
  return state_->Register(std::move(desc), std::move(code), std::move(source), {}, Lane::kSoon);
}

Result<PipelineId> Pipelines::Add(const SourceArtifact& artifact,
                                  std::shared_ptr<const ArtifactSource> source,
                                  const std::optional<PassSignature>& signature,
                                  std::span<const ImageHint> hints, Lane lane) {
  KILN_TRY(Description read, Describe(artifact, *source, signature, state_->device->caps()));
  KILN_TRY(const PipelineId id, state_->Register(std::move(read.desc), std::move(read.code),
                                                 std::move(source), hints, lane));
  const MutexLock lock(state_->mutex);
  state_->slots[id].options = artifact.options;
  return id;
}

Result<void> Pipelines::Replace(PipelineId id, const PipelineMetadata& metadata,
                                std::span<const ModuleWords> modules) {
  const PipelineDesc& old = Desc(id);
  KILN_TRY(PipelineDesc desc, DescFrom(old.name, metadata, old.signature));
  std::vector<CodeRef> code;
  KILN_TRY(auto source, KeepWords(desc, modules, code));
  return Replace(id, std::move(desc), std::move(code), std::move(source));
}

Result<void> Pipelines::Replace(PipelineId id, const SourceArtifact& artifact,
                                std::shared_ptr<const ArtifactSource> source) {
  KILN_TRY(Description read,
           Describe(artifact, *source, Desc(id).signature, state_->device->caps()));
  return Replace(id, std::move(read.desc), std::move(read.code), std::move(source));
}

void Pipelines::AddSource(std::shared_ptr<const ArtifactSource> source) {
  const MutexLock lock(state_->mutex);
  state_->sources.push_back(std::move(source));
}

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
    sources = state_->sources;
  }
  Error last{ErrorCode::kNotFound, fmt::format("no source was loaded that has '{}'", program), ""};
  for (auto source = sources.rbegin(); source != sources.rend(); ++source) {
    auto artifact = (*source)->Find(program, options);
    if (!artifact.ok()) {
      last = std::move(artifact).error();
      continue;
    }
    KILN_TRY(const PipelineId id, Add(*artifact, *source, signature));
    const MutexLock lock(state_->mutex);
    return state_->found.emplace(key, id).first->second;
  }
  return last;
}

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
  if (IsFinal(build.State()) && build.error) {
    return &*build.error;
  }
  return state_->slots[id].replace_error.load(std::memory_order_acquire);
}

void Pipelines::ReleaseModules() { state_->factory.ReleaseModules(); }

Result<void> Pipelines::SaveCache() { return state_->SaveCache(); }

Result<void> PipelinesState::SaveCache() {
  if (cache == nullptr) {
    return {};
  }
  const uint64_t known = made.load();
  saved_at = clock->Monotonic();  // also of a save that fails: the next one is not at once
  KILN_TRY_VOID(cache->Save());
  made_saved = known;
  return {};
}

bool PipelinesState::SaveIsDue() {
  return cache != nullptr && made.load() != made_saved.load() &&
         clock->Monotonic() - saved_at.load() >= kSaveEvery && !saving.exchange(true);
}

void PipelinesState::SaveAndTell() {
  if (const Result<void> saved = SaveCache(); !saved.ok()) {
    log->Write(LogLevel::kWarning, "pipelines", "the driver cache was not saved",
               {{"why", ErrorText(saved.error())}});
  }
  saving = false;
}

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
  for (uint32_t i = 0; i < state.slots.size(); ++i) {
    const Build& build = state.BuildOf({i});
    const Slot& slot = state.slots[{i}];
    PipelineTimes times{.name = build.desc.name, .key = build.key, .state = build.State()};
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

}  // namespace kiln::runtime
