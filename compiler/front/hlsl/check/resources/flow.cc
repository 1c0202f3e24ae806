// SPDX-License-Identifier: MIT
// A list of the nodes that are new and not passes over the edges: a chain of n calls would take n
// passes, as calls stand in the order of the source and facts flow against it.
#include "compiler/front/hlsl/check/resources/flow.h"

#include <algorithm>

#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {

void Flow::Settle() {
  std::ranges::sort(edges_);
  while (!pending_.empty()) {
    CheckStop();
    const uint32_t node = pending_.back();
    pending_.pop_back();
    const std::pair<uint32_t, uint32_t> first{node, 0};
    for (auto edge = std::ranges::lower_bound(edges_, first);
         edge != edges_.end() && edge->first == node; ++edge) {
      CheckStop();
      Set(edge->second);
    }
  }
}

}  // namespace kiln::hlsl
