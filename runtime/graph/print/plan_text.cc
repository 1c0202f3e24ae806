// SPDX-License-Identifier: MIT
#include "runtime/graph/print/plan_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/plan/cells.h"

namespace kiln::graph {
namespace {

// Positions of the accesses [begin, end) of chain_accesses that touch the cell before the entry.
void AppendSources(const Plan& plan, const Declarations& rows, const BarrierEntry& entry,
                   uint32_t begin, uint32_t end, const Box& cell, std::vector<int32_t>& out) {
  // Only the accesses of the chain are looked at, which the plan has as a range.
  for (uint32_t i = begin; i < end; ++i) {
    const AccessRow& access = rows.accesses[plan.chain_accesses[i]];
    const int32_t position = plan.positions[access.pass];
    // Passes that were culled have no position; what lies behind the point is not waited for.
    if (position >= 0 && position < entry.hi && Covers(access, cell)) {
      out.push_back(position);
    }
  }
}

}  // namespace

// Words of the schema, which other programs compare; a change of one is a change of the schema.
// No default: a new reason must get its word here.
std::string_view ReasonName(BarrierReason reason) {
  switch (reason) {
    case BarrierReason::kFirstUse:
      return "first_use";
    case BarrierReason::kRaw:
      return "raw";
    case BarrierReason::kWar:
      return "war";
    case BarrierReason::kWaw:
      return "waw";
    case BarrierReason::kLayout:
      return "layout";
    case BarrierReason::kVisibility:
      return "visibility";
    case BarrierReason::kAlias:
      return "alias";
    case BarrierReason::kImport:
      return "import";
    case BarrierReason::kHistory:
      return "history";
    case BarrierReason::kPresent:
      return "present";
    case BarrierReason::kExport:
      return "export";
  }
  return "";
}

std::string_view PassKindName(PassKind kind) {
  switch (kind) {
    case PassKind::kGraphics:
      return "graphics";
    case PassKind::kCompute:
      return "compute";
    case PassKind::kTransfer:
      return "transfer";
    case PassKind::kHost:
      return "host";
    case PassKind::kTransition:
      return "transition";
  }
  return "";
}

std::string WhyText(const PlanPass& pass, const Graph& graph) {
  switch (pass.why) {
    case KeepReason::kNotCulled:
      return "not culled";
    case KeepReason::kOutput:
      return "output";
    case KeepReason::kTemporal:
      return "temporal";
    case KeepReason::kImport:
      return "import";
    case KeepReason::kSignal:
      return "signal";
    case KeepReason::kWait:
      return "wait";
    case KeepReason::kPresent:
      return "present";
    case KeepReason::kSideEffect:
      return "side_effect";
    case KeepReason::kNeeded:
      return fmt::format("needed by {}", graph.rows().PassName(pass.needed_by));
  }
  return "";
}

// For dumps and checks. The plan keeps ranges of accesses and no positions, which are found here by
// walking those ranges.
std::vector<int32_t> SourcePositions(const Plan& plan, const Declarations& rows,
                                     const BarrierEntry& entry) {
  std::vector<int32_t> out;
  AppendSources(plan, rows, entry, entry.source_begin, entry.source_end, plan.cells[entry.cell],
                out);
  // What had the bytes before counts as a source too, in all of its cells: its last users must be
  // done before the bytes are used anew.
  for (uint32_t i = entry.alias_begin; i < entry.alias_end; ++i) {
    const PlanChain& chain = plan.chains[plan.alias_sources[i]];
    for (uint32_t cell = chain.first_cell; cell < chain.first_cell + chain.cells; ++cell) {
      AppendSources(plan, rows, entry, chain.final_begin, chain.final_end, plan.cells[cell], out);
    }
  }
  // A pass may touch the cell more than once, and by both ways.
  // Sorted and single, so that equal plans print equally.
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace kiln::graph
