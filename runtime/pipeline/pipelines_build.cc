// SPDX-License-Identifier: MIT
// Pipelines: what a thread does with one that it has claimed.
#include <cstring>

#include <fmt/format.h>

#include "runtime/pipeline/pipelines_state.h"

namespace kiln::runtime {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr size_t kSpirvHeaderWords = 5;

}  // namespace

Result<HeldWords> ReadWords(const Build& build) {
  HeldWords out;
  for (size_t i = 0; i < build.code.size(); ++i) {
    KILN_TRY(SourceBytes bytes, build.source->Read(build.code[i].digest));
    const size_t count = bytes.bytes.size() / sizeof(uint32_t);
    std::span<const uint32_t> words;
    if (reinterpret_cast<uintptr_t>(bytes.bytes.data()) % alignof(uint32_t) == 0) {
      words = {reinterpret_cast<const uint32_t*>(bytes.bytes.data()), count};
    } else {
      std::vector<uint32_t>& copy = out.aligned.emplace_back(count);
      std::memcpy(copy.data(), bytes.bytes.data(), count * sizeof(uint32_t));
      words = copy;
    }
    KILN_TRY_VOID(CheckWords(build.desc, i, words));
    out.words.push_back(words);
    out.bytes.push_back(std::move(bytes));
  }
  return out;
}

Result<void> CheckWords(const PipelineDesc& desc, size_t stage, std::span<const uint32_t> words) {
  if (words.size() < kSpirvHeaderWords || words[0] != kSpirvMagic) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}': the words for entry point '{}' are not SPIR-V", desc.name,
                             desc.stages[stage].entry),
                 "METADATA_INVALID"};
  }
  return {};
}

void PipelinesState::Failed(Build& build, const Error& error) {
  if (error.reason == "DEVICE_LOST") {
    lost = true;
  }
  build.Fail(PipelineState::kFailed, error);
}

void PipelinesState::Publish(Build& build, PipelineState result) {
  const VkPipeline handle =
      result == PipelineState::kReadyFast ? build.fast.get() : build.pipeline.get();
  build.handle.store(handle, std::memory_order_release);
  cache_hits += build.from_cache ? 1 : 0;
  ++made;
  if (result == PipelineState::kReadyFast) {
    build.state.store(result, std::memory_order_release);
  } else {
    build.Finish(result);
  }
}

bool PipelinesState::UsesFastLinks(const Build& build) const {
  return config.link_fast && CanLinkFast(device->caps()) &&
         build.desc.bind_point == VK_PIPELINE_BIND_POINT_GRAPHICS;
}

// Once per run: what was just built must be had from the caches.
void PipelinesState::ProbeCacheControl(Build& build, const StageWords& words, uint32_t worker) {
  if (cache == nullptr || !device->caps().HasFeature("pipeline_creation_cache_control") ||
      cache_control.load() != CacheControl::kUnknown) {
    return;
  }
  Build again(build.desc);
  again.key = build.key;
  again.code = build.code;
  again.layouts = build.layouts;
  const Result<void> made =
      factory.Create(again, words, cache->ForWorker(worker), PipelineFactory::Mode::kCachedOnly);
  cache_control = made.ok() ? CacheControl::kWorks : CacheControl::kBroken;
}

Result<void> PipelinesState::Create(Build& build, uint32_t worker, PipelineFactory::Mode mode) {
  KILN_TRY(const HeldWords held, ReadChecked(build));
  const VkPipelineCache handle = cache == nullptr ? VK_NULL_HANDLE : cache->ForWorker(worker);
  const JournalEntry entry(journal.get(), worker, build.key);
  KILN_TRY_VOID(factory.Create(build, held.words, handle, mode));
  if (mode == PipelineFactory::Mode::kFull) {
    ProbeCacheControl(build, held.words, worker);
  }
  return {};
}

Result<HeldWords> PipelinesState::ReadChecked(const Build& build) const {
  KILN_TRY(HeldWords held, ReadWords(build));
  if (config.debug_checks == DebugChecks::kOn) {
    KILN_TRY_VOID(CheckLocations(build.desc, held.words));
  }
  return held;
}

// Linked now; the optimised one waits in the last lane.
Result<void> PipelinesState::LinkFast(const std::shared_ptr<Build>& build, uint32_t worker) {
  KILN_TRY(const HeldWords held, ReadChecked(*build));
  const VkPipelineCache handle = cache == nullptr ? VK_NULL_HANDLE : cache->ForWorker(worker);
  {
    const JournalEntry entry(journal.get(), worker, build->key);
    KILN_TRY_VOID(factory.CreateFast(*build, held.words, handle));
  }
  Publish(*build, PipelineState::kReadyFast);
  queue.Push(Lane::kBackground, build);
  return {};
}

void PipelinesState::Work(const std::shared_ptr<Build>& build, uint32_t worker) {
  Make(build, worker);
  if (worker < queue.threads() && SaveIsDue()) {  // long starts, frames that nobody ends
    SaveAndTell();
  }
}

void PipelinesState::Make(const std::shared_ptr<Build>& build, uint32_t worker) {
  const bool optimise = build->State() == PipelineState::kReadyFast;
  {
    const MutexLock lock(mutex);
    current = build->desc.name;
  }
  if (lost) {
    Failed(*build,
           {ErrorCode::kUnavailable,
            fmt::format("'{}' was not made: the device is lost", build->desc.name), "DEVICE_LOST"});
    return;
  }
  if (!optimise && UsesFastLinks(*build)) {
    if (LinkFast(build, worker).ok()) {
      return;
    }  // what cannot be linked is made as a whole
  }
  const Result<void> made = Create(*build, worker, PipelineFactory::Mode::kFull);
  if (made.ok()) {
    Publish(*build, PipelineState::kReady);
  } else if (optimise) {  // the fast one stays
    log->Write(LogLevel::kWarning, "pipelines", "the optimised pipeline was refused",
               {{"name", build->desc.name}, {"why", ErrorText(made.error())}});
  } else {
    Failed(*build, made.error());
  }
}

}  // namespace kiln::runtime
