// SPDX-License-Identifier: MIT
#include "runtime/graph/memory/placement_memo.h"

#include <algorithm>
#include <utility>

namespace kiln::graph {
namespace {

bool SameItem(const PackItem& a, const PackItem& b) {
  return a.size == b.size && a.alignment == b.alignment && a.first == b.first && a.last == b.last;
}

}  // namespace

// A frame that changed in ways that do not touch memory, or that toggles between a few variants,
// comes back with items that were packed before. The items themselves are the key: comparing them
// costs a fraction of packing, and a digest would have to read them all the same. The least
// recently used placement gives way.
const Placement& PlacementMemo::Find(std::span<const PackItem> items,
                                     const std::vector<uint64_t>& blocks, Effort effort) {
  Placement* oldest = placements_.data();
  for (Placement& known : placements_) {
    if (known.used != 0 && known.effort == effort && known.blocks == blocks &&
        std::equal(known.items.begin(), known.items.end(), items.begin(), items.end(), SameItem)) {
      known.used = ++clock_;
      ++hits_;
      return known;
    }
    oldest = known.used < oldest->used ? &known : oldest;
  }
  oldest->result = Pack(items, blocks, effort, scratch_);
  oldest->items.assign(items.begin(), items.end());
  oldest->blocks = blocks;
  // The addresses change hands instead of being copied.
  std::swap(oldest->begins, scratch_.best);
  oldest->effort = effort;
  oldest->used = ++clock_;
  return *oldest;
}

void PlacementMemo::Forget() {
  for (Placement& placement : placements_) {
    placement.used = 0;
  }
}

}  // namespace kiln::graph
