// SPDX-License-Identifier: MIT
// The bytes of every chain: packed ones by class in blocks, those of the host one after the other
// in rings. The cost is that of Pack, unless the placement is known. See spec/graph 6.8.2
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/memory/pack_attempt.h"
#include "runtime/graph/memory/placement_memo.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct PlaceInputs {
  const Declarations& rows;
  const PlanOptions& options;
  const std::vector<uint32_t>& epochs;  // by position
};

// What was packed of a memory class.
struct PackedClass {
  uint32_t chains = 0;
  uint64_t top = 0;
};

// Kept from frame to frame for its memory and for what was found.
struct PlaceMemory {
  std::vector<PackItem> items;
  PlacementMemo memo;
};

struct PlacedChains {
  std::vector<PackItem>& packed;  // positions become epochs
  std::vector<PlanChain>& chains;
  std::vector<MemoryClass>& classes;  // blocks are added
  std::vector<PackedClass>& tops;     // by class
  PlanMetrics& metrics;               // packer, upload_bytes, readback_bytes, and what is allocated
};

void PlaceChains(const PlaceInputs& in, PlaceMemory& memory, const PlacedChains& out);

}  // namespace kiln::graph
