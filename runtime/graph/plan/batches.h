// SPDX-License-Identifier: MIT
// Submissions: a new batch before a pass that waits and after a pass that signals. O(passes), and a
// sort of the semaphore uses. See spec/graph 6.11
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

// A wait for the outside, in the order of positions.
struct ExternalWait {
  int32_t position = 0;
  Stages stages = 0;  // of this wait and all before it
};

struct WaitInputs {
  const Declarations& rows;
  const std::vector<uint8_t>& external;  // by semaphore use: its other end is outside the frame
  const PassOrder& order;
  const std::vector<PlanChain>& chains;
};

void CollectWaits(const WaitInputs& in, std::vector<ExternalWait>& waits);

// Cuts the order into batches, and writes the batch of every pass.
void MakeBatches(const Declarations& rows, const std::vector<PlanChain>& chains, PassOrder& order,
                 PlanBatches& out);

}  // namespace kiln::graph
