// SPDX-License-Identifier: MIT
// A plan as text for people and goldens, as JSON for programs, as Graphviz, and as a picture.
// The graph is the one that was planned, or a later frame of the same structure. See spec/graph 9
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

// Order, barriers with reasons, batches, memory, metrics.
std::string PrintPlan(const Plan& plan, const Graph& graph);

// One object; the members are described in docs/RENDER_GRAPH.md. Ends with a newline.
std::string PrintPlanJson(const Plan& plan, const Graph& graph);
// The members of it that programs check (`check_plan`), and no others, in one line.
std::string PrintPlanRows(const Plan& plan, const Graph& graph);
// Several frames: the last one's object, with all of them in order under "frames".
std::string PrintFramesJson(const std::vector<std::string>& frames);
// {"error": CODE, …} for a frame that breaks a rule.
std::string PrintErrorsJson(const std::vector<GraphError>& errors);

// Passes in plan order, one cluster per batch, edges labelled RAW, WAR, WAW or SEM.
std::string PrintPlanDot(const Plan& plan, const Graph& graph);

// Passes × resources with barriers, and the placement of memory below. Self-contained.
std::string PrintPlanSvg(const Plan& plan, const Graph& graph);
// The same as a page, with the text of the plan.
std::string PrintPlanTimeline(const Plan& plan, const Graph& graph);

// What one build of a plan cost.
struct BuildCosts {
  bool hit = false;
  double ns_per_pass = 0;
  uint64_t allocations = 0;
};
// One line: "graph f=3 passes=42(-3) …", with the costs if they are given. See spec/graph 11.2
std::string PrintMetricsLine(const Plan& plan, const Graph& graph,
                             const BuildCosts* costs = nullptr);

std::string_view ReasonName(BarrierReason reason);
std::string_view PassKindName(PassKind kind);
std::string WhyText(const PlanPass& pass, const Graph& graph);

// Positions of the accesses that an entry's source is made of, ascending, without repeats.
std::vector<int32_t> SourcePositions(const Plan& plan, const Declarations& rows,
                                     const BarrierEntry& entry);

}  // namespace kiln::graph
