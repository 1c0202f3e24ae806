// SPDX-License-Identifier: MIT
// Pipelines: warm-up draws, on the thread that draws. See spec/pso 7.5
#pragma once

#include <memory>
#include <span>

#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

WarmUpDraws* WarmDraws(PipelinesState& state);  // null if the device has no memory for them
bool NeedsFirstUse(const PipelinesState& state, const Build& build);
// Makes some of the draws that are due. True if there was one. Errors: DEVICE_LOST.
Result<bool> RunFirstUses(PipelinesState& state, std::span<const std::shared_ptr<Build>> builds);

}  // namespace kiln::runtime
