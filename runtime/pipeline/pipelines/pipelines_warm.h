// SPDX-License-Identifier: MIT
// Pipelines: warm starts. As the functions of Pipelines that call them. See spec/pso 7.4
#pragma once

#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

WarmTicket WarmPipelines(PipelinesState& state, const WarmRequest& request);
WarmProgress ProgressOf(const PipelinesState& state, WarmTicket ticket);
void CancelWarm(PipelinesState& state, WarmTicket ticket);
Result<WarmReport> WaitForWarm(PipelinesState& state, WarmTicket ticket, Duration timeout);

}  // namespace kiln::runtime
