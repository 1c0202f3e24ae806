// SPDX-License-Identifier: MIT
// Pipelines: from metadata and words to builds and ids.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/pipeline/memory_source.h"
#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

// Copies the words, so that a thread can build with them later; appends to `code` by stage of
// `desc`. Errors: METADATA_INVALID, METADATA_INCOMPLETE.
Result<std::shared_ptr<MemorySource>> KeepWords(const PipelineDesc& desc,
                                                std::span<const ModuleWords> modules,
                                                std::vector<CodeRef>& code);

struct Description {
  PipelineDesc desc;
  std::vector<CodeRef> code;  // by stage of desc
};
// Errors: those of the source; METADATA_INVALID, METADATA_INCOMPLETE, SIGNATURE_MISMATCH.
Result<Description> Describe(const SourceArtifact& artifact, const ArtifactSource& source,
                             const std::optional<PassSignature>& signature, const DeviceCaps& caps);

// Errors: METADATA_INVALID, of debug checks.
Result<std::shared_ptr<Build>> GetBuild(PipelinesState& state, PipelineDesc desc,
                                        std::vector<CodeRef> code,
                                        std::shared_ptr<const ArtifactSource> source,
                                        std::span<const ImageHint> hints, Lane lane);
Result<PipelineId> RegisterPipeline(PipelinesState& state, PipelineDesc desc,
                                    std::vector<CodeRef> code,
                                    std::shared_ptr<const ArtifactSource> source,
                                    std::span<const ImageHint> hints, Lane lane);

}  // namespace kiln::runtime
