// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/cycle.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace kiln::graph {
namespace {

// Passes from `start` back to it by fewest edges; empty if there is no way, or none shorter than
// `limit`.
std::vector<uint32_t> CycleThrough(const EdgeGraph& graph, uint32_t start, size_t limit,
                                   std::vector<uint32_t>& from) {
  from.assign(graph.states.size(), kNone);
  std::vector<uint32_t> queue = {start};
  std::vector<uint32_t> depth = {1};
  // Breadth first, so the first way back to the start is a shortest one. A search that is as deep
  // as the best cycle so far cannot improve it.
  for (size_t i = 0; i < queue.size() && depth[i] < limit; ++i) {
    const uint32_t pass = queue[i];
    for (uint32_t e = graph.successor_begin[pass]; e < graph.successor_begin[pass + 1]; ++e) {
      const uint32_t next = graph.successors[e].pass;
      if (next == start) {
        std::vector<uint32_t> cycle = {pass};
        while (cycle.back() != start) {
          cycle.push_back(from[cycle.back()]);
        }
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      // Passes without missing predecessors were placed, so they are on no cycle.
      if (graph.states[next].missing != 0 && from[next] == kNone) {
        from[next] = pass;
        queue.push_back(next);
        depth.push_back(depth[i] + 1);
      }
    }
  }
  return {};
}

uint32_t VersionOfEdge(const EdgeGraph& graph, uint32_t from, uint32_t to) {
  for (const Edge& edge : graph.edges) {
    if (edge.from == from && edge.to == to && edge.version != kNone) {
      return edge.version;
    }
  }
  return kNone;
}

}  // namespace

// Of all cycles the shortest is reported, because it is the one a person can follow. A
// breadth-first search from each pass that could not be placed finds the shortest through it;
// searches stop at the length of the best one so far. O(passes * edges) at worst, and only in a
// frame that is wrong.
void ReportCycle(const Declarations& rows, const std::vector<uint8_t>& live, const EdgeGraph& graph,
                 std::vector<GraphError>& errors) {
  std::vector<uint32_t> shortest;
  std::vector<uint32_t> from;
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    if (live[pass] == 0 || graph.states[pass].missing == 0) {
      continue;
    }
    const size_t limit = shortest.empty() ? rows.passes.size() + 1 : shortest.size();
    std::vector<uint32_t> cycle = CycleThrough(graph, pass, limit, from);
    if (!cycle.empty()) {
      shortest = std::move(cycle);
    }
    // Two passes are the least: no pass depends on itself.
    if (shortest.size() == 2) {
      break;
    }
  }
  GraphError error{
      .code = "CYCLE", .message = "CYCLE:", .passes = {}, .resources = {}, .where = {}};
  for (size_t i = 0; i < shortest.size(); ++i) {
    const uint32_t next = shortest[(i + 1) % shortest.size()];
    const uint32_t version = VersionOfEdge(graph, shortest[i], next);
    const std::string through = version == kNone
                                    ? std::string("a semaphore")
                                    : fmt::format("version '{}'", rows.VersionName(version));
    error.passes.emplace_back(rows.PassName(shortest[i]));
    error.resources.emplace_back(version == kNone ? "" : rows.VersionName(version));
    error.message += fmt::format("{} pass '{}' before '{}' for {}", i == 0 ? "" : ",",
                                 rows.PassName(shortest[i]), rows.PassName(next), through);
  }
  if (!shortest.empty()) {
    error.where = rows.pass_notes[shortest.front()].where;
  }
  errors.push_back(std::move(error));
}

bool AnyCycle(const Declarations& rows, const std::vector<uint8_t>& live, EdgeGraph& graph,
              std::vector<GraphError>& errors) {
  PlainOrder(live, graph);
  const bool cycle = graph.plain_order.size() < rows.passes.size();
  if (cycle) {
    for (size_t pass = 0; pass < graph.states.size(); ++pass) {
      graph.states[pass].missing = graph.missing[pass];
    }
    ReportCycle(rows, live, graph, errors);
  }
  return cycle;
}

}  // namespace kiln::graph
