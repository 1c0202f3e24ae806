// SPDX-License-Identifier: MIT
// Which kind of memory every chain lies in, and how many bytes it needs there. O(chains) questions
// to the memory model. See spec/graph 6.6
#pragma once

#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/memory/pack_attempt.h"
#include "runtime/graph/memory_model.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/chain_uses.h"

namespace kiln::graph {

struct MeasuredChains {
  std::vector<PlanChain>& chains;     // places, needs, lifetimes, accesses
  std::vector<MemoryClass>& classes;  // those that are carried; new ones are added
  std::vector<PackItem>& packed;      // chains that share memory, with positions for epochs
  bool any_kept = false;              // some chain lies in an object that outlives the frame
};

// False, with an error: a description that the model refuses.
bool MeasureChains(const Declarations& rows, const ChainUses& uses, MemoryModel& model,
                   MeasuredChains& out, std::vector<GraphError>& errors);

}  // namespace kiln::graph
