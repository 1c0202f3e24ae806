// SPDX-License-Identifier: MIT
// The order of the passes: of those whose predecessors are all placed, the one with the smallest
// key goes next. O((passes + edges) log passes). See spec/graph 6.5
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/accesses.h"
#include "runtime/graph/plan/cull.h"
#include "runtime/graph/plan/edges.h"

namespace kiln::graph {

struct ScheduleInputs {
  const Declarations& rows;
  const PlanOptions& options;
  const AccessFacts& facts;
  const PassAccesses& accesses;
  const LivePasses& passes;
  const KeepReasons& reasons;
  const std::vector<uint8_t>& external;  // by semaphore use: its other end is outside the frame
};

// Readers of a version in one layout, linked.
struct LayoutGroup {
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  uint32_t next = kNone;
};

// Kept from frame to frame for its memory.
struct ScheduleScratch {
  std::vector<uint64_t> keys;          // by pass: all fields but k
  std::vector<uint32_t> layout_rank;   // by pass, as the next three: field c of its key
  std::vector<uint32_t> wait_rank;     // field w
  std::vector<uint8_t> waits_outside;  // 1: waits for the outside itself
  std::vector<uint8_t> signal_rank;    // field s
  std::vector<uint64_t> heap;
  std::vector<LayoutGroup> groups;
  std::vector<uint32_t> first_group;  // by version
};

struct ScheduleFacts {
  bool complete = false;      // else there is a cycle: its passes have missing predecessors
  uint64_t def_distance = 0;  // sum over passes of the distance to the latest Def
};

// Places every live pass that no cycle holds back, and leaves in graph.states the barriers on the
// longest way to it. Requires: MakeEdges.
ScheduleFacts Schedule(const ScheduleInputs& in, EdgeGraph& graph, ScheduleScratch& scratch,
                       PassOrder& out);

}  // namespace kiln::graph
