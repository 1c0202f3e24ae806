// SPDX-License-Identifier: MIT
// Which signal a wait follows: inside the frame an edge, else a wait for the outside. Values decide
// which, so this comes before anything else and is part of a frame's structure. O(n log n).
// See spec/graph 6.4
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan/edges.h"

namespace kiln::graph {

struct SemaphoreLinks {
  std::vector<Edge> edges;        // from signals to waits, and to the next signal of a timeline
  std::vector<uint8_t> external;  // by semaphore use: its other end is outside the frame
  std::vector<uint32_t> signals;  // scratch: semaphore uses, by semaphore and value
};

void ResolveSemaphores(const Declarations& rows, SemaphoreLinks& out);

}  // namespace kiln::graph
