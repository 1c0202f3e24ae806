// SPDX-License-Identifier: MIT
// Pipelines: what is done with a build that the caller has claimed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

// Words of every stage; what holds them outlives their use.
struct HeldWords {
  StageWords words;
  std::vector<SourceBytes> bytes;
  std::vector<std::vector<uint32_t>> aligned;  // of bytes that lie at odd addresses
};
// Requires: the caller has claimed the build. Errors: those of its source; METADATA_INVALID.
Result<HeldWords> ReadWords(const Build& build);

// Errors: METADATA_INVALID if the words are no SPIR-V. `stage`: index into desc.stages.
Result<void> CheckWords(const PipelineDesc& desc, size_t stage, std::span<const uint32_t> words);

// Makes it, and saves the driver's cache if that is due.
void WorkOn(PipelinesState& state, const std::shared_ptr<Build>& build, uint32_t worker);
Result<void> CreatePipeline(PipelinesState& state, Build& build, uint32_t worker,
                            PipelineFactory::Mode mode);
// Linked now; the optimised one waits in the last lane.
Result<void> LinkFast(PipelinesState& state, const std::shared_ptr<Build>& build, uint32_t worker);
void PublishBuild(PipelinesState& state, Build& build, PipelineState result);
bool UsesFastLinks(const PipelinesState& state, const Build& build);

}  // namespace kiln::runtime
