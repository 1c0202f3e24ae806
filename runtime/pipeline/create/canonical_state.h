// SPDX-License-Identifier: MIT
// The part of a pipeline that can matter, and the key that names it: equal keys, equal pipelines.
// See spec/pso 6.10
#pragma once

#include <array>
#include <span>

#include "compiler/base/digest.h"
#include "runtime/pipeline/create/create_info.h"
#include "runtime/pipeline/pipeline_desc.h"

namespace kiln::runtime {

// Drops what cannot matter: blend state without blending, stencil state without the test, values of
// dynamic states, and so on. Idempotent.
PipelineDesc CanonicalState(PipelineDesc desc);

// Digests over the canonical state, the signature, specialization values and the code of each
// stage (in the order of desc.stages). Names that only serve messages are left out.
Hash128 PipelineKey(const PipelineDesc& desc, std::span<const Digest> code);

// What each part of a graphics pipeline depends on: pipelines that differ in blend state share
// three of four. Requires: a graphics pipeline. See spec/pso 7.9
std::array<Hash128, kLibraryParts> PartKeys(const PipelineDesc& desc, std::span<const Digest> code);

}  // namespace kiln::runtime
