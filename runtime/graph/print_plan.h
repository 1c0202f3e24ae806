// SPDX-License-Identifier: MIT
// A plan as text for people and goldens; with this header come its other forms, too: JSON for
// programs, Graphviz, and a picture. The graph is the one that was planned, or a later frame of the
// same structure. See spec/graph 9
#pragma once

#include <string>

#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/print/print_dot.h"
#include "runtime/graph/print/print_json.h"
#include "runtime/graph/print/print_svg.h"

namespace kiln::graph {

// Order, barriers with reasons, batches, memory, metrics.
std::string PrintPlan(const Plan& plan, const Graph& graph);

// What one build of a plan cost.
struct BuildCosts {
  bool hit = false;
  double ns_per_pass = 0;
  uint64_t allocations = 0;
};
// One line: "graph f=3 passes=42(-3) …", with the costs if they are given. See spec/graph 11.2
std::string PrintMetricsLine(const Plan& plan, const Graph& graph,
                             const BuildCosts* costs = nullptr);

}  // namespace kiln::graph
