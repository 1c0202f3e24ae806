// SPDX-License-Identifier: MIT
// Whoever has claimed a build makes it, a thread or the one that draws; nobody else touches it
// until its state is final. The handle is published before the state, so who sees a state that can
// be drawn with sees its handle. A fast link is published at once, and its build goes into the last
// lane again.
#include "runtime/pipeline/pipelines/pipelines_build.h"

#include <cstring>

#include <fmt/format.h>

#include "runtime/pipeline/pipelines/pipelines_save.h"

namespace kiln::runtime {
namespace {

// Five words of header: magic, version, generator, bound and a zero.
constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr size_t kSpirvHeaderWords = 5;

}  // namespace

// The bytes are held with the words, since a pack may be mapped and its owner must live as long as
// the driver reads.
Result<HeldWords> ReadWords(const Build& build) {
  HeldWords out;
  for (size_t i = 0; i < build.code.size(); ++i) {
    KILN_TRY(SourceBytes bytes, build.source->Read(build.code[i].digest));
    const size_t count = bytes.bytes.size() / sizeof(uint32_t);
    std::span<const uint32_t> words;
    // Packs align their content, but other sources need not; Vulkan wants whole words at their
    // alignment.
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

// Only enough to keep the driver from reading something that is no SPIR-V at all. The content was
// checked by its digest.
Result<void> CheckWords(const PipelineDesc& desc, size_t stage, std::span<const uint32_t> words) {
  if (words.size() < kSpirvHeaderWords || words[0] != kSpirvMagic) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}': the words for entry point '{}' are not SPIR-V", desc.name,
                             desc.stages[stage].entry),
                 "METADATA_INVALID"};
  }
  return {};
}

namespace {

void FailBuild(PipelinesState& state, Build& build, const Error& error) {
  // Remembered for all builds: whoever finds the device lost first tells the others.
  if (error.reason == "DEVICE_LOST") {
    state.lost = true;
  }
  build.Fail(PipelineState::kFailed, error);
}

}  // namespace

void PublishBuild(PipelinesState& state, Build& build, PipelineState result) {
  const VkPipeline handle =
      result == PipelineState::kReadyFast ? build.fast.get() : build.pipeline.get();
  build.handle.store(handle, std::memory_order_release);
  state.cache_hits += build.from_cache ? 1 : 0;
  ++state.made;
  if (result == PipelineState::kReadyFast) {
    // A fast link is no final state: the optimised pipeline still follows, and the build keeps what
    // is needed to make it.
    build.state.store(result, std::memory_order_release);
  } else {
    build.Finish(result);
  }
}

bool UsesFastLinks(const PipelinesState& state, const Build& build) {
  return state.config.link_fast && CanLinkFast(state.device->caps()) &&
         build.desc.bind_point == VK_PIPELINE_BIND_POINT_GRAPHICS;
}

namespace {

// Once per run: what was just built must be had from the caches.
void ProbeCacheControl(PipelinesState& state, Build& build, const StageWords& words,
                       uint32_t worker) {
  if (state.cache == nullptr ||
      !state.device->caps().HasFeature("pipeline_creation_cache_control") ||
      state.cache_control.load() != CacheControl::kUnknown) {
    return;
  }
  // A build of its own is made and dropped again, because the real one is in use.
  Build again(build.desc);
  again.key = build.key;
  again.code = build.code;
  again.layouts = build.layouts;
  const Result<void> made = state.factory.Create(again, words, state.cache->ForWorker(worker),
                                                 PipelineFactory::Mode::kCachedOnly);
  state.cache_control = made.ok() ? CacheControl::kWorks : CacheControl::kBroken;
}

Result<HeldWords> ReadChecked(const PipelinesState& state, const Build& build) {
  // Read anew for each try. Words are not kept, because those of all pipelines together take too
  // much memory.
  KILN_TRY(HeldWords held, ReadWords(build));
  if (state.config.debug_checks == DebugChecks::kOn) {
    KILN_TRY_VOID(CheckLocations(build.desc, held.words));
  }
  return held;
}

}  // namespace

Result<void> CreatePipeline(PipelinesState& state, Build& build, uint32_t worker,
                            PipelineFactory::Mode mode) {
  KILN_TRY(const HeldWords held, ReadChecked(state, build));
  const VkPipelineCache handle =
      state.cache == nullptr ? VK_NULL_HANDLE : state.cache->ForWorker(worker);
  // The journal names the pipeline from here to the end of the function, whichever way it is left.
  const JournalEntry entry(state.journal.get(), worker, build.key);
  KILN_TRY_VOID(state.factory.Create(build, held.words, handle, mode));
  if (mode == PipelineFactory::Mode::kFull) {
    ProbeCacheControl(state, build, held.words, worker);
  }
  return {};
}

// Linked now; the optimised one waits in the last lane.
Result<void> LinkFast(PipelinesState& state, const std::shared_ptr<Build>& build, uint32_t worker) {
  KILN_TRY(const HeldWords held, ReadChecked(state, *build));
  const VkPipelineCache handle =
      state.cache == nullptr ? VK_NULL_HANDLE : state.cache->ForWorker(worker);
  // The entry ends before the build is published: whoever sees it may bind it, and then a crash is
  // no longer that of the driver's compiler.
  {
    const JournalEntry entry(state.journal.get(), worker, build->key);
    KILN_TRY_VOID(state.factory.CreateFast(*build, held.words, handle));
  }
  PublishBuild(state, *build, PipelineState::kReadyFast);
  state.queue.Push(Lane::kBackground, build);
  return {};
}

namespace {

void MakePipeline(PipelinesState& state, const std::shared_ptr<Build>& build, uint32_t worker) {
  // A build that is ready already comes a second time, for its optimised pipeline.
  const bool optimise = build->State() == PipelineState::kReadyFast;
  {
    const MutexLock lock(state.mutex);
    state.current = build->desc.name;
  }
  // Nothing can be made on a lost device. Each build says so, since somebody may wait for it.
  if (state.lost) {
    FailBuild(
        state, *build,
        {ErrorCode::kUnavailable,
         fmt::format("'{}' was not made: the device is lost", build->desc.name), "DEVICE_LOST"});
    return;
  }
  if (!optimise && UsesFastLinks(state, *build)) {
    if (LinkFast(state, build, worker).ok()) {
      return;
    }  // what cannot be linked is made as a whole
  }
  const Result<void> made = CreatePipeline(state, *build, worker, PipelineFactory::Mode::kFull);
  if (made.ok()) {
    PublishBuild(state, *build, PipelineState::kReady);
  } else if (optimise) {  // the fast one stays
    state.log->Write(LogLevel::kWarning, "pipelines", "the optimised pipeline was refused",
                     {{"name", build->desc.name}, {"why", ErrorText(made.error())}});
  } else {
    FailBuild(state, *build, made.error());
  }
}

}  // namespace

void WorkOn(PipelinesState& state, const std::shared_ptr<Build>& build, uint32_t worker) {
  MakePipeline(state, build, worker);
  // Only workers save between builds: the thread that draws must not wait for a disk.
  if (worker < state.queue.threads() && SaveIsDue(state)) {  // long starts, frames that nobody ends
    SaveAndTell(state);
  }
}

}  // namespace kiln::runtime
