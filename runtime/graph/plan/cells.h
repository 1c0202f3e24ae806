// SPDX-License-Identifier: MIT
// Cells of a chain: the boxes that the borders of all used ranges cut out of it, so that every
// access touches a cell wholly or not at all. See spec/graph 2, 6.6
#pragma once

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

// Whether two accesses to one chain have a texel or byte in common.
bool CellsMeet(const AccessRow& a, const AccessRow& b);
// Whether an access touches the cell.
bool Covers(const AccessRow& access, const Box& cell);

// Appends the cells of the chain to out.cells. `before` is what a history continues, whose cells
// are cut, too; null for all others. Requires: the chain's accesses are known.
void AddCells(const Declarations& rows, uint32_t index, const TemporalSlot* before,
              PlanChains& out);

}  // namespace kiln::graph
