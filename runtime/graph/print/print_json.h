// SPDX-License-Identifier: MIT
// A plan as JSON for programs, and its errors. See spec/graph 9
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

// One object; the members are described in docs/RENDER_GRAPH.md. Ends with a newline.
std::string PrintPlanJson(const Plan& plan, const Graph& graph);
// The members of it that programs check (`check_plan`), and no others, in one line.
std::string PrintPlanRows(const Plan& plan, const Graph& graph);
// Several frames: the last one's object, with all of them in order under "frames".
std::string PrintFramesJson(const std::vector<std::string>& frames);
// {"error": CODE, …} for a frame that breaks a rule.
std::string PrintErrorsJson(const std::vector<GraphError>& errors);

}  // namespace kiln::graph
