// SPDX-License-Identifier: MIT
// The last few packings that were found, with everything that they depend on. Another order or
// other barriers often leave memory as it was, and packing is the dearest step. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/memory/bin_packing.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct Placement {
  std::vector<PackItem> items;
  std::vector<uint64_t> blocks;
  std::vector<uint64_t> begins;  // by item
  PackResult result;
  Effort effort = Effort::kNormal;
  uint64_t used = 0;  // 0: empty
};

class PlacementMemo {
 public:
  // The placement for equal sizes, epochs and blocks, else a new one in the place of the one that
  // was not used for longest. Valid until the next call.
  const Placement& Find(std::span<const PackItem> items, const std::vector<uint64_t>& blocks,
                        Effort effort);
  void Forget();
  uint64_t hits() const { return hits_; }

 private:
  std::array<Placement, 8> placements_;
  PackScratch scratch_;
  uint64_t clock_ = 0;
  uint64_t hits_ = 0;
};

}  // namespace kiln::graph
