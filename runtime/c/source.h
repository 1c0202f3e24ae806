// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "compiler/artifact/metadata.h"
#include "runtime/c/context.h"
#include "runtime/pipeline/artifact_source.h"
#include "runtime/pipeline/memory_source.h"

// What variants are found in.
struct kiln_source : kiln::c::Object {
  std::shared_ptr<const kiln::runtime::ArtifactSource> source;
  std::shared_ptr<kiln::runtime::MemorySource> memory;  // the same; null: a pack
};

namespace kiln::c {

// Of a variant that the caller names.
Result<runtime::SourceArtifact> FindArtifact(const kiln_source& source,
                                             const kiln_variant& variant);
Result<artifact::PipelineMetadata> ReadMetadata(const kiln_source& source,
                                                const runtime::SourceArtifact& artifact);

}  // namespace kiln::c
