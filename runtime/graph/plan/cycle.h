// SPDX-License-Identifier: MIT
// Cycles among passes, as errors: the passes of a shortest one, in order, and the version or
// semaphore by which each must come before the next. Off the fast path: a breadth-first search from
// every pass that is left, O(passes * edges).
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan/edges.h"

namespace kiln::graph {

// Reports a shortest cycle among the live passes with missing predecessors. Requires: there is one.
void ReportCycle(const Declarations& rows, const std::vector<uint8_t>& live, const EdgeGraph& graph,
                 std::vector<GraphError>& errors);

// Whether there is a cycle, which is then reported. Requires: all passes are live, MakeEdges.
bool AnyCycle(const Declarations& rows, const std::vector<uint8_t>& live, EdgeGraph& graph,
              std::vector<GraphError>& errors);

}  // namespace kiln::graph
