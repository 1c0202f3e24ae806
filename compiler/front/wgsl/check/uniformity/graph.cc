// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/check/uniformity/graph.h"

#include "compiler/base/threads/stop.h"

namespace kiln::wgsl::front {

UniformityNode UniformityGraph::Add() {
  ChargeMemory(sizeof(Origin) + sizeof(uint32_t));
  return count_++;
}

void UniformityGraph::Edge(UniformityNode from, UniformityNode to) {
  ChargeMemory(sizeof(Row));
  edges_.push_back({.from = from, .to = to});
}

void UniformityGraph::NotUniform(UniformityNode from, TokenRange at) {
  ChargeMemory(sizeof(Row));
  edges_.push_back({.from = from, .to = kNotUniform, .at = at});
}

// Edges sorted by counting, in the order in which they were added. Linear.
std::vector<uint32_t> UniformityGraph::Begins(UniformityNode Row::*end,
                                              std::vector<uint32_t>& order) const {
  std::vector<uint32_t> begin(size_t{count_} + 1);
  for (const Row& row : edges_) {
    ++begin[row.*end + 1];
  }
  for (size_t i = 1; i < begin.size(); ++i) {
    begin[i] += begin[i - 1];
  }
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  order.resize(edges_.size());
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    order[next[edges_[i].*end]++] = i;
  }
  return begin;
}

// One walk against the edges from "not uniform": each node keeps the source that it is reached from
// first, which depends on the order of the source alone.
void UniformityGraph::Finish() {
  forward_begin_ = Begins(&Row::from, forward_);
  std::vector<uint32_t> backward;
  const std::vector<uint32_t> begin = Begins(&Row::to, backward);
  origin_.assign(count_, {});
  std::vector<UniformityNode> open{kNotUniform};
  for (size_t i = 0; i < open.size(); ++i) {
    CheckStop();
    const UniformityNode to = open[i];
    for (uint32_t row = begin[to]; row < begin[to + 1]; ++row) {
      const Row& edge = edges_[backward[row]];
      if (!origin_[edge.from].has) {
        origin_[edge.from] = {.has = true, .at = to == kNotUniform ? edge.at : origin_[to].at};
        open.push_back(edge.from);
      }
    }
  }
}

std::vector<bool> UniformityGraph::ReachedFrom(const std::vector<UniformityNode>& nodes) const {
  std::vector<bool> reached(count_);
  std::vector<UniformityNode> open = nodes;
  for (const UniformityNode node : nodes) {
    reached[node] = true;
  }
  while (!open.empty()) {
    CheckStop();
    const UniformityNode from = open.back();
    open.pop_back();
    for (uint32_t row = forward_begin_[from]; row < forward_begin_[from + 1]; ++row) {
      const UniformityNode to = edges_[forward_[row]].to;
      if (!reached[to]) {
        reached[to] = true;
        open.push_back(to);
      }
    }
  }
  return reached;
}

}  // namespace kiln::wgsl::front
