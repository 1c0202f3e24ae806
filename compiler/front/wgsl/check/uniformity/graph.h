// SPDX-License-Identifier: MIT
// What depends on what in one function: nodes are values and places of control, edges lead to what
// they depend on. A node from which "not uniform" is reached may differ between invocations. See
// spec/wgsl 5.6; WGSL, "Uniformity".
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/front/wgsl/token.h"

namespace kiln::wgsl::front {

using UniformityNode = uint32_t;

class UniformityGraph {
 public:
  // Nodes that every graph has; those of parameters follow.
  static constexpr UniformityNode kNotUniform = 0;
  static constexpr UniformityNode kUnknown = 1;  // the analysis does not say
  static constexpr UniformityNode kStart = 2;    // control at the beginning of the function
  static UniformityNode ParameterNode(size_t parameter) {
    return static_cast<UniformityNode>(kStart + 1 + parameter);
  }

  explicit UniformityGraph(size_t parameters) : count_(ParameterNode(parameters)) {}

  UniformityNode Add();
  void Edge(UniformityNode from, UniformityNode to);
  // A source of difference: what is written there.
  void NotUniform(UniformityNode from, TokenRange at);

  // --- when all edges are there
  void Finish();
  bool IsNotUniform(UniformityNode node) const { return origin_[node].has; }
  // Requires: IsNotUniform. What it depends on.
  TokenRange OriginOf(UniformityNode node) const { return origin_[node].at; }
  // All nodes that are reached from these.
  std::vector<bool> ReachedFrom(const std::vector<UniformityNode>& nodes) const;

 private:
  struct Row {
    UniformityNode from = 0, to = 0;
    TokenRange at{};  // of an edge to "not uniform"
  };
  struct Origin {
    bool has = false;
    TokenRange at{};
  };
  // Of a list of edges by one of their ends: where those of each node begin.
  std::vector<uint32_t> Begins(UniformityNode Row::*end, std::vector<uint32_t>& order) const;

  uint32_t count_;
  std::vector<Row> edges_;
  std::vector<uint32_t> forward_, forward_begin_;
  std::vector<Origin> origin_;
};

}  // namespace kiln::wgsl::front
