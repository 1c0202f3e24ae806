// SPDX-License-Identifier: MIT
// Which samplers may stand in where a pipeline is drawn with nothing of its own. See
// spec/pso 7.5.1, 10.5
#pragma once

#include "runtime/pipeline/pipeline_desc.h"

namespace kiln::runtime {

// Whether a sampler that is not for comparison may be linear. It may not beside depth images that
// the device does not filter, since metadata does not tell which sampler meets which image.
bool CanFilterAll(const PipelineDesc& desc, const DeviceCaps& caps);

}  // namespace kiln::runtime
