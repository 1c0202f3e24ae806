// SPDX-License-Identifier: MIT
// Pipelines: when the driver's cache is written. See spec/pso 8.4
#pragma once

#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

Result<void> SaveCache(PipelinesState& state);
bool SaveIsDue(PipelinesState& state);    // true for one caller, who then saves
void SaveAndTell(PipelinesState& state);  // trouble is a line of the log

}  // namespace kiln::runtime
