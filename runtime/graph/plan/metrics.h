// SPDX-License-Identifier: MIT
// The figures of a plan, each with the bound that it is measured against. O(passes + chains).
// See spec/graph 11
#pragma once

#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/memory/epochs.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/batches.h"
#include "runtime/graph/plan/edges.h"

namespace kiln::graph {

struct MetricsInputs {
  const Declarations& rows;
  const std::vector<PassState>& states;  // as the schedule left them
  const std::vector<ExternalWait>& waits;
  bool any_kept;  // some chain lies in an object that outlives the frame
};

// Adds to the plan's metrics what no step has written. `load` is that of SplitEpochs; its memory is
// used.
void Measure(const MetricsInputs& in, EpochLoad& load, Plan& plan);

}  // namespace kiln::graph
