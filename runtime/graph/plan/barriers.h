// SPDX-License-Identifier: MIT
// The points before which barriers are recorded, and the entries at each: every dependency waits
// somewhere in an interval (lo, hi] of positions, and the points are the smallest set that has one
// in every interval. O(entries + passes). See spec/graph 6.7.2, 6.7.3
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct BarrierInputs {
  const Declarations& rows;
  const PlanOptions& options;
  const std::vector<MemoryClass>& classes;  // with what the frames before left in them
};

// What is known of the points, by position.
struct PointChoice {
  std::vector<int32_t>& max_lo;  // from where the dependencies that end here wait, or INT_MIN
  std::vector<uint8_t>& chosen;  // 1: a point
};

// Chooses the points that the dependencies need so far, and returns how many they are.
uint32_t ChoosePoints(const BarrierInputs& in, const std::vector<BarrierEntry>& entries,
                      const PointChoice& points);

// Kept from frame to frame for its memory.
struct EmitScratch {
  std::vector<uint32_t> point_at;     // by position: the last point at or before it
  std::vector<uint32_t> entry_point;  // by entry
};

// Drops entries that wait for nothing after all, chooses the final points and puts every entry at
// the last one in its interval. Writes of the metrics commands, entries and layout_changes, and
// `needed` if entries may have been dropped. Requires: the ledger has given all sources.
void EmitEntries(const BarrierInputs& in, const PointChoice& points, EmitScratch& scratch,
                 PlanBarriers& out, PlanMetrics& metrics);

}  // namespace kiln::graph
