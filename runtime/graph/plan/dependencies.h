// SPDX-License-Identifier: MIT
// What every use of a cell waits for: each cell is taken through its uses, and its state tells
// which dependency the next use needs. O(uses * cells of a chain). The sources of the first uses of
// packed chains are not known yet: the ledger adds them. See spec/graph 6.7.1, 6.9
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/batches.h"
#include "runtime/graph/plan/chain_uses.h"

namespace kiln::graph {

struct WalkInputs {
  const Declarations& rows;
  const ChainUses& uses;
  const std::vector<ExternalWait>& waits;
  const std::vector<TemporalSlot>& carried;  // of the frame before
  const std::vector<TemporalSlot>& slots;    // of this frame
  uint32_t positions;
};

struct Dependencies {
  std::vector<BarrierEntry>& entries;  // by chain and cell
  std::vector<int32_t>& max_lo;        // by position: from where its dependencies wait
  std::vector<uint32_t>& entry_begin;  // by chain, and one more: into entries
  std::vector<CellState>& finals;      // by cell, of chains that outlive the frame
  uint32_t merged_reads = 0;           // that need no barrier of their own
};

// Writes cells and initial states, and of every chain what its uses leave behind.
void WalkCells(const WalkInputs& in, PlanChains& chains, Dependencies& out);

}  // namespace kiln::graph
