// SPDX-License-Identifier: MIT
// A plan for Graphviz. See spec/graph 9
#pragma once

#include <string>

#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

// Passes in plan order, one cluster per batch, edges labelled RAW, WAR, WAW or SEM.
std::string PrintPlanDot(const Plan& plan, const Graph& graph);

}  // namespace kiln::graph
