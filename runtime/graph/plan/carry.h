// SPDX-License-Identifier: MIT
// What one frame leaves to the next: images and buffers that are kept, each in a slot, with the
// states of their cells. O(chains * slots); most frames have few. See spec/graph 7.6, 7.7
#pragma once

#include <vector>

#include "compiler/base/bytes.h"
#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct SlotInputs {
  const Declarations& rows;
  const Carried& carried;
  bool follows;   // what is carried was left by the frame before
  bool any_kept;  // some chain lies in an object that outlives the frame
};

// The slots of this frame, those that are carried among them, and the slot of every chain that
// needs one.
void BindSlots(const SlotInputs& in, std::vector<PlanChain>& chains,
               std::vector<TemporalSlot>& slots);

// Writes what the chains leave in the slots of plan.next, sorts the slots and computes the digest
// of all that is carried on. `finals` are by cell. The last argument is scratch.
void LeaveCarried(const std::vector<CellState>& finals, Plan& plan, Bytes& digest_bytes);

}  // namespace kiln::graph
