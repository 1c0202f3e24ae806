// SPDX-License-Identifier: MIT
// Equal pipelines are one build, found by the key of what the driver sees (canonical_state.h). The
// table holds builds weakly: the ids that stand for one keep it, and so do tickets that wait for
// it.
#include "runtime/pipeline/pipelines/pipelines_register.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/create/canonical_state.h"
#include "runtime/pipeline/create/check_device.h"
#include "runtime/pipeline/create/to_vulkan.h"
#include "runtime/pipeline/memory_source.h"
#include "runtime/pipeline/pipelines/pipelines_build.h"

namespace kiln::runtime {
namespace {

// The module of every stage of the pipeline, in its order.
template <class Module>
Result<std::vector<const Module*>> ModulesOf(const PipelineDesc& desc,
                                             std::span<const Module> modules) {
  std::vector<const Module*> out;
  for (const StageDesc& stage : desc.stages) {
    // The first that fits: a program has one module for each stage, or one for all.
    const auto found = std::ranges::find_if(modules, [&](const Module& module) {
      // A module without a stage serves all stages.
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

// One that can be built, or that never will be: it says why.
std::shared_ptr<Build> NewBuild(PipelinesState& state, PipelineDesc desc, const Hash128& key) {
  auto build = std::make_shared<Build>(std::move(desc));
  build->key = key;
  // What can never be built is a build all the same, in a final state. So an id stands for it, and
  // State and ErrorOf have an answer.
  if (auto fits = CheckDevice(build->desc, state.device->caps()); !fits.ok()) {
    build->Fail(PipelineState::kUnsupported, std::move(fits).error());
  } else if (auto layouts = state.factory.Layouts(build->desc); !layouts.ok()) {
    build->Fail(PipelineState::kFailed, std::move(layouts).error());
  } else {
    build->layouts = *layouts;
    // The key was in a slot of the journal when an earlier run ended.
    if (state.journal != nullptr && state.journal->Died(key)) {
      build->Fail(PipelineState::kQuarantined,
                  {ErrorCode::kFailedPrecondition,
                   fmt::format("'{}': an earlier run ended while pipeline {} was made or drawn "
                               "first; remove {} to try it again",
                               build->desc.name, key.hex(), state.journal->path()),
                   "QUARANTINED"});
    }
  }
  // Told once for each build and not for each id.
  for (const std::string& lint : LintsOf(build->desc)) {
    state.log->Write(LogLevel::kWarning, "pipelines", "a pipeline is odd", {{"what", lint}});
  }
  return build;
}

}  // namespace

// The words are copied into a source, as the caller may drop them, and the build may run later.
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

Result<std::shared_ptr<Build>> GetBuild(PipelinesState& state, PipelineDesc desc,
                                        std::vector<CodeRef> code,
                                        std::shared_ptr<const ArtifactSource> source,
                                        std::span<const ImageHint> hints, Lane lane) {
  std::vector<Digest> digests;
  uint64_t bytes = 0;
  for (const CodeRef& ref : code) {
    digests.push_back(ref.digest);
    bytes += ref.digest.size;
  }
  // The key is computed outside of the lock: it takes longest, and depends on nothing shared.
  const Hash128 key = PipelineKey(desc, digests);
  const std::string name = desc.name;
  const Hash128 layout_hash = desc.layout_hash;
  const MutexLock lock(state.mutex);
  std::weak_ptr<Build>& known = state.by_key[key];
  std::shared_ptr<Build> build = known.lock();
  if (build != nullptr) {
    ++state.saved;
  } else {
    known = build = NewBuild(state, std::move(desc), key);
    build->code = std::move(code);
    build->code_bytes = bytes;
    build->hints.assign(hints.begin(), hints.end());
    // What is never built needs no source.
    build->source = build->State() == PipelineState::kQueued ? std::move(source) : nullptr;
    build->lane = lane;
  }
  if (state.config.debug_checks == DebugChecks::kOn && build->layouts.layout != VK_NULL_HANDLE) {
    KILN_TRY_VOID(state.families.Check(name, layout_hash, build->layouts));
  }
  return build;
}

Result<PipelineId> RegisterPipeline(PipelinesState& state, PipelineDesc desc,
                                    std::vector<CodeRef> code,
                                    std::shared_ptr<const ArtifactSource> source,
                                    std::span<const ImageHint> hints, Lane lane) {
  KILN_TRY(std::shared_ptr<Build> build,
           GetBuild(state, std::move(desc), std::move(code), std::move(source), hints, lane));
  auto version = std::make_unique<Version>(Version{build, build->layouts});
  PipelineId id;
  {
    const MutexLock lock(state.mutex);
    id = state.slots.Append(std::move(version));
  }
  // Behind the registration, so that the id exists even if the build fails.
  if (state.build_on_add && build->Claim()) {
    WorkOn(state, build, state.queue.threads());
  }
  return id;
}

}  // namespace kiln::runtime
