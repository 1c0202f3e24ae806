// SPDX-License-Identifier: MIT
// Pipelines: what happens while frames are drawn: binding, replacing, swapping.
#pragma once

#include <memory>
#include <vector>

#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

BindResult BindPipeline(PipelinesState& state, VkCommandBuffer commands, PipelineId id,
                        OnMissing missing);
// The replacement is swapped in by a later EndFrame. Errors: METADATA_INVALID, of debug checks.
Result<void> ReplacePipeline(PipelinesState& state, PipelineId id, PipelineDesc desc,
                             std::vector<CodeRef> code,
                             std::shared_ptr<const ArtifactSource> source);
void EndFrame(PipelinesState& state, uint64_t frame_value);

}  // namespace kiln::runtime
