// SPDX-License-Identifier: MIT
// Packs items in the order of their first epochs by best fit: a sweep over time that knows only
// what is free now. About O(n log n), so it is the packer for large frames.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/memory/pack_attempt.h"

namespace kiln::graph {

// Bytes between two borders of the sweep by time, in the order of addresses.
struct SweepPart {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t before = 0;  // neighbours
  uint32_t after = 0;
  uint32_t bin_before = 0;  // free parts of about this size
  uint32_t bin_after = 0;   // of an item: the next that ends in its last epoch
  uint32_t bin = 0;         // that it lies in, if free
};

// Kept from attempt to attempt for its memory.
struct SweepScratch {
  std::vector<SweepPart> parts;
  std::vector<uint32_t> ending;  // by epoch: part
  std::vector<uint32_t> bins;    // first free part of about this size
  std::vector<uint64_t> filled;  // bit set of bins
};

// Writes the addresses by item and returns the top, or the limit if it was reached: the addresses
// are then worth nothing. Requires: the order is by first epoch.
uint64_t PlaceByTime(const PackAttempt& attempt, SweepScratch& scratch,
                     std::vector<uint64_t>& begins);

}  // namespace kiln::graph
