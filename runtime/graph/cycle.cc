// SPDX-License-Identifier: MIT
// A shortest cycle among passes that could not be scheduled: a breadth-first search from each.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

// Passes from `start` back to it by fewest edges; empty if there is no way, or none shorter than
// `limit`.
std::vector<uint32_t> CycleThrough(const Planning& planning, uint32_t start, size_t limit,
                                   std::vector<uint32_t>& from) {
  const PlanningScratch& scratch = planning.scratch;
  from.assign(planning.rows.passes.size(), kNone);
  std::vector<uint32_t> queue = {start};
  std::vector<uint32_t> depth = {1};
  for (size_t i = 0; i < queue.size() && depth[i] < limit; ++i) {
    const uint32_t pass = queue[i];
    for (uint32_t e = scratch.successor_begin[pass]; e < scratch.successor_begin[pass + 1]; ++e) {
      const uint32_t next = scratch.successors[e].pass;
      if (next == start) {
        std::vector<uint32_t> cycle = {pass};
        while (cycle.back() != start) {
          cycle.push_back(from[cycle.back()]);
        }
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (scratch.states[next].missing != 0 && from[next] == kNone) {
        from[next] = pass;
        queue.push_back(next);
        depth.push_back(depth[i] + 1);
      }
    }
  }
  return {};
}

uint32_t VersionOfEdge(const Planning& planning, uint32_t from, uint32_t to) {
  for (const Edge& edge : planning.scratch.edges) {
    if (edge.from == from && edge.to == to && edge.version != kNone) {
      return edge.version;
    }
  }
  return kNone;
}

}  // namespace

void ReportCycle(Planning& planning) {
  std::vector<uint32_t> shortest;
  std::vector<uint32_t> from;
  for (uint32_t pass = 0; pass < planning.rows.passes.size(); ++pass) {
    if (planning.plan.live[pass] == 0 || planning.scratch.states[pass].missing == 0) {
      continue;
    }
    const size_t limit = shortest.empty() ? planning.rows.passes.size() + 1 : shortest.size();
    std::vector<uint32_t> cycle = CycleThrough(planning, pass, limit, from);
    if (!cycle.empty()) {
      shortest = std::move(cycle);
    }
    if (shortest.size() == 2) {
      break;
    }
  }
  GraphError error{
      .code = "CYCLE", .message = "CYCLE:", .passes = {}, .resources = {}, .where = {}};
  for (size_t i = 0; i < shortest.size(); ++i) {
    const uint32_t next = shortest[(i + 1) % shortest.size()];
    const uint32_t version = VersionOfEdge(planning, shortest[i], next);
    const std::string through =
        version == kNone ? std::string("a semaphore")
                         : fmt::format("version '{}'", planning.rows.VersionName(version));
    error.passes.emplace_back(planning.rows.PassName(shortest[i]));
    error.resources.emplace_back(version == kNone ? "" : planning.rows.VersionName(version));
    error.message +=
        fmt::format("{} pass '{}' before '{}' for {}", i == 0 ? "" : ",",
                    planning.rows.PassName(shortest[i]), planning.rows.PassName(next), through);
  }
  if (!shortest.empty()) {
    error.where = planning.rows.pass_notes[shortest.front()].where;
  }
  planning.errors.push_back(std::move(error));
}

}  // namespace kiln::graph
