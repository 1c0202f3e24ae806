// SPDX-License-Identifier: MIT
// Whether a device can have a pipeline: everything that is missing, in one message. Pure: no call
// of the driver. See spec/pso 6.9
#pragma once

#include "runtime/pipeline/pipeline_desc.h"

namespace kiln::runtime {

// Errors: UNSUPPORTED with everything that is missing, or LIMIT with both numbers.
Result<void> CheckDevice(const PipelineDesc& desc, const DeviceCaps& caps);

}  // namespace kiln::runtime
