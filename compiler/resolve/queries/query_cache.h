// SPDX-License-Identifier: MIT
// What is remembered of one unit: a node is a query, an edge an answer, a leaf a result. Looking
// up asks the queries that computing would ask, in the same order, so read sets and effects are
// those of computing. Exact: equal answers so far lead to the same next query. Fixed queries
// have no node. See spec/architecture 10.2
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/resolve/queries/queries.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

template <class T>
class QueryCache {
 public:
  // Null: nobody has learned what these answers lead to. The result is valid as long as the tree.
  const T* Find(VariantEvaluator& answers) const {
    if (nodes_.empty()) {
      return nullptr;
    }
    const Node* node = &nodes_[0];
    while (node->leaf == kNone) {
      const QueryResult answer = answers.Ask(node->query);
      uint32_t edge = node->first_edge;
      while (edge != kNone && edges_[edge].answer != answer) {
        edge = edges_[edge].next;
      }
      if (edge == kNone) {
        return nullptr;
      }
      node = &nodes_[edges_[edge].node];
    }
    return &leaves_[node->leaf];
  }

  // Requires: Find found nothing for the results of this trace.
  const T& Learn(const QueryTrace& trace, T result) {
    if (nodes_.empty()) {
      nodes_.emplace_back();
    }
    uint32_t at = 0;
    for (const QueryRecord& asked : trace.asked()) {
      if (!asked.fixed) {
        at = Follow(at, asked);
      }
    }
    KILN_CHECK(nodes_[at].leaf == kNone && nodes_[at].first_edge == kNone,
               "a trace ends where another one goes on");
    nodes_[at].leaf = static_cast<uint32_t>(leaves_.size());
    return leaves_.emplace_back(std::move(result));
  }

  size_t size() const { return leaves_.size(); }
  size_t bytes_used() const {
    return nodes_.capacity() * sizeof(Node) + edges_.capacity() * sizeof(Edge) +
           leaves_.size() * sizeof(T);
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Node {
    VariantQuery query;
    uint32_t first_edge = kNone;  // none yet: not a query either
    uint32_t leaf = kNone;
  };
  struct Edge {
    QueryResult answer;
    uint32_t node = kNone;
    uint32_t next = kNone;
  };

  uint32_t Follow(uint32_t at, const QueryRecord& asked) {
    KILN_CHECK(nodes_[at].leaf == kNone, "equal answers led to another query");
    if (nodes_[at].first_edge == kNone) {
      nodes_[at].query = asked.query;
    }
    KILN_CHECK(nodes_[at].query == asked.query, "equal answers led to another query");
    for (uint32_t edge = nodes_[at].first_edge; edge != kNone; edge = edges_[edge].next) {
      if (edges_[edge].answer == asked.answer) {
        return edges_[edge].node;
      }
    }
    const auto node = static_cast<uint32_t>(nodes_.size());
    edges_.push_back({.answer = asked.answer, .node = node, .next = nodes_[at].first_edge});
    nodes_[at].first_edge = static_cast<uint32_t>(edges_.size() - 1);
    nodes_.emplace_back();
    return node;
  }

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::deque<T> leaves_;
};

// What the tree knows for these answers; else what `compute()` makes of them, which it knows from
// then on. A message may show values that no answer tells apart, so what has messages is remembered
// by the values of all options that were read.
template <class T, class Compute>
const Diagnosed<T>& Recall(QueryCache<Diagnosed<T>>& tree, VariantEvaluator& answers,
                           Compute compute) {
  if (const Diagnosed<T>* known = tree.Find(answers)) {
    return *known;
  }
  QueryTrace trace;
  answers.BeginReads();
  answers.BeginTrace(&trace);
  Diagnosed<T> specialised = compute();
  answers.EndTrace();
  const Bitset reads = answers.EndReads();
  if (!specialised.diagnostics.empty()) {
    answers.BeginTrace(&trace);
    reads.ForEach(
        [&](size_t option) { answers.Option(ir::OptionId{static_cast<uint32_t>(option)}); });
    answers.EndTrace();
  }
  return tree.Learn(trace, std::move(specialised));
}

}  // namespace kiln::resolve
