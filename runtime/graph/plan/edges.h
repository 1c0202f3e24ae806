// SPDX-License-Identifier: MIT
// What must come before what: who makes a version before who uses it, readers before the pass that
// overwrites it, signals before waits. O(accesses + edges). See spec/graph 6.4
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan/accesses.h"

namespace kiln::graph {

struct Edge {
  uint32_t from = 0;
  uint32_t to = 0;
  uint16_t def = 0;          // from makes what `to` reads or overwrites
  uint16_t weight = 0;       // 1: a barrier must lie between them
  uint32_t version = kNone;  // kNone: a semaphore
};

// A successor, packed: pass, def and weight.
struct Successor {
  uint32_t pass : 30;
  uint32_t def : 1;
  uint32_t weight : 1;
};

// What its predecessors have told a pass so far.
struct PassState {
  uint32_t missing = 0;          // predecessors that are not scheduled
  uint32_t level = 0;            // barriers on the longest way to it
  uint32_t latest = 0;           // 1 + the largest place in the order of a Def
  uint32_t latest_position = 0;  // the same of positions
};

struct EdgeInputs {
  const Declarations& rows;
  const AccessFacts& facts;
  const std::vector<VkImageLayout>& layouts;  // by access
  const std::vector<Edge>& semaphore_edges;
};

struct EdgeGraph {
  std::vector<Edge> edges;
  std::vector<uint32_t> successor_begin;  // by pass, and one more: into successors
  std::vector<Successor> successors;
  std::vector<PassState> states;         // by pass
  std::vector<uint8_t> several_layouts;  // by version: it is read in several layouts
  bool any_several_layouts = false;
  bool declared_order_valid = true;
  std::vector<VkImageLayout> read_layout;  // scratch, by version: of the last read
  std::vector<uint32_t> missing;           // as PlainOrder leaves them
  std::vector<uint32_t> plain_order;
};

// The edges between live passes, and for each pass how many predecessors it has and whether it
// begins with a barrier in every order.
void MakeEdges(const EdgeInputs& in, const std::vector<uint8_t>& live, EdgeGraph& out);

// Leaves the live passes in some valid order in plain_order; it is shorter than they are many if
// there is a cycle, whose passes have `missing` predecessors. Requires: MakeEdges.
void PlainOrder(const std::vector<uint8_t>& live, EdgeGraph& graph);

}  // namespace kiln::graph
