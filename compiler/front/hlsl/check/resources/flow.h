// SPDX-License-Identifier: MIT
// A fact of numbered nodes that flows along edges: nodes that have it at first, and edges -> all
// nodes that have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kiln::hlsl {

class Flow {
 public:
  explicit Flow(size_t nodes) : has_(nodes, false) {}

  void Add(uint32_t from, uint32_t to) { edges_.emplace_back(from, to); }
  void Set(uint32_t node) {
    if (!has_[node]) {
      has_[node] = true;
      pending_.push_back(node);
    }
  }
  // From all nodes that were set. Cost: that of sorting the edges, each of which is walked once.
  void Settle();
  bool Has(uint32_t node) const { return has_[node]; }

 private:
  std::vector<std::pair<uint32_t, uint32_t>> edges_;
  std::vector<bool> has_;
  std::vector<uint32_t> pending_;  // that have it, and whose edges were not walked
};

}  // namespace kiln::hlsl
