// SPDX-License-Identifier: MIT
// Placement of the items of one memory class: several orders are tried, and the lowest top wins.
// With kFast one order in about O(n log n), with kNormal up to six of them, with kSearch small
// changes of the best one, too. Depends on nothing but its arguments. Private to runtime/graph. See
// spec/graph 6.8.2
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/memory/bin_packing_by_time.h"
#include "runtime/graph/memory/bin_packing_in_order.h"
#include "runtime/graph/memory/pack_attempt.h"
#include "runtime/graph/memory/sort_keys.h"

namespace kiln::graph {

enum class Effort : uint8_t;

// Kept from frame to frame for its memory.
struct PackScratch {
  std::vector<uint32_t> order;
  std::vector<uint64_t> begins;  // by item, of the attempt
  std::vector<uint64_t> best;    // by item, of the best one
  std::vector<uint64_t> load;    // by epoch: bytes
  std::vector<KeyedIndex> keys;
  std::vector<KeyedIndex> spare_keys;
  std::vector<uint32_t> by_epoch;
  InOrderScratch in_order;
  SweepScratch sweep;
};

struct PackResult {
  uint64_t top = 0;
  const char* packer = "none";
};

// Packs items of one class into an address space whose first blocks have the given sizes; returns
// the top. Offsets are left in scratch.best, by item.
PackResult Pack(std::span<const PackItem> items, std::span<const uint64_t> blocks, Effort effort,
                PackScratch& scratch);

}  // namespace kiln::graph
