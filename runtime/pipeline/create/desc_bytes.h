// SPDX-License-Identifier: MIT
// A pipeline description as bytes, for a process of the same build that makes it in the stead of
// this one. See spec/pso 7.8, 11.5
#pragma once

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"
#include "runtime/pipeline/pipeline_desc.h"

namespace kiln::runtime {

Bytes EncodeDesc(const PipelineDesc& desc);

// Errors: kCorrupt if it is not what EncodeDesc gave.
Result<PipelineDesc> DecodeDesc(ByteView bytes);

}  // namespace kiln::runtime
