// SPDX-License-Identifier: MIT
// Pipelines: warm starts whose pipelines are made in child processes first. See spec/pso 7.8
#pragma once

#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

// Makes the builds of a ticket in children, then queues them. Ends early if the ticket is
// cancelled.
void Isolate(PipelinesState& state, const Isolation& isolation);

}  // namespace kiln::runtime
