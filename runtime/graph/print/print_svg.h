// SPDX-License-Identifier: MIT
// A plan as a picture, and as a page with the picture. See spec/graph 9
#pragma once

#include <string>

#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

// Passes × resources with barriers, and the placement of memory below. Self-contained.
std::string PrintPlanSvg(const Plan& plan, const Graph& graph);
// The same as a page, with the text of the plan.
std::string PrintPlanTimeline(const Plan& plan, const Graph& graph);

}  // namespace kiln::graph
