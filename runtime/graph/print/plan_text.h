// SPDX-License-Identifier: MIT
// What the printers share: words for the enumerations of a plan, why a pass is kept, and where the
// sources of a barrier lie. Words are part of the formats that are printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

std::string_view ReasonName(BarrierReason reason);
std::string_view PassKindName(PassKind kind);
std::string WhyText(const PlanPass& pass, const Graph& graph);

// Positions of the accesses that an entry's source is made of, ascending, without repeats.
std::vector<int32_t> SourcePositions(const Plan& plan, const Declarations& rows,
                                     const BarrierEntry& entry);

}  // namespace kiln::graph
