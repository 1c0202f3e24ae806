// SPDX-License-Identifier: MIT
// The plan for Graphviz: passes in plan order, one cluster per batch, bars for barrier commands.
#include "runtime/graph/print/print_dot.h"

#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "compiler/base/printable.h"

namespace kiln::graph {
namespace {

// Inside quotes a DOT text takes everything but quotes and backslashes. Whoever reads the file in a
// terminal must not meet controls of a name.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

// Light fills, so that black names stay readable on them.
std::string_view ColorOf(PassKind kind) {
  switch (kind) {
    case PassKind::kGraphics:
      return "#d5e8f7";
    case PassKind::kCompute:
      return "#e3f3d3";
    case PassKind::kTransfer:
      return "#f8e6c8";
    case PassKind::kHost:
      return "#eadcf4";
    case PassKind::kTransition:
      return "#eeeeee";
  }
  return "#ffffff";
}

using Line = std::tuple<uint32_t, uint32_t, std::string>;  // from, to, label

// A set, so that several accesses with the same meaning give one line, and the lines have one
// order.
std::set<Line> EdgesOf(const Plan& plan, const Declarations& rows) {
  std::set<Line> edges;
  const auto add = [&](uint32_t from, uint32_t to, std::string_view kind, uint32_t version) {
    // Edges to passes that were culled would make nodes without a frame.
    if (from != kNone && from != to && plan.live[from] != 0 && plan.live[to] != 0) {
      edges.emplace(from, to, fmt::format("{} {}", kind, rows.VersionName(version)));
    }
  };
  for (const AccessRow& access : rows.accesses) {
    const VersionRow& version = rows.versions[access.version];
    if (access.op == Op::kRead) {
      add(version.def, access.pass, "RAW", access.version);
      // A version that nobody overwrites has no such edge; from a pass to itself none is drawn.
      add(access.pass, version.kill == kNone ? access.pass : version.kill, "WAR", access.version);
    } else if (access.op == Op::kWrite) {
      add(version.def, access.pass, "WAW", access.version);
    }
  }
  // Every signal that may satisfy a wait, as the declaration leaves open which one does.
  for (const SemaphoreRow& wait : rows.semaphore_uses) {
    for (const SemaphoreRow& signal : rows.semaphore_uses) {
      const bool follows = wait.wait && !signal.wait && wait.semaphore == signal.semaphore &&
                           signal.value >= wait.value && wait.pass != kNone;
      // These edges go between passes that are never culled, because a semaphore keeps its pass.
      if (follows && wait.pass != signal.pass) {
        edges.emplace(signal.pass, wait.pass, "SEM");
      }
    }
  }
  return edges;
}

}  // namespace

std::string PrintPlanDot(const Plan& plan, const Graph& graph) {
  const Declarations& rows = graph.rows();
  std::string out =
      "digraph frame {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n";
  const auto node = [&](const PlanPass& pass) {
    // Nodes are named by the number of the pass, since names may be equal.
    return fmt::format("    p{} [label={}, fillcolor={}];\n", pass.pass,
                       Quoted(rows.PassName(pass.pass)),
                       Quoted(ColorOf(rows.passes[pass.pass].kind)));
  };
  // Host passes come before all batches and belong to none.
  for (uint32_t i = 0; i < plan.host_passes; ++i) {
    out += node(plan.order[i]);
  }
  // A cluster holds what is submitted at once.
  for (size_t batch = 0; batch < plan.batches.size(); ++batch) {
    out += fmt::format("  subgraph cluster_{} {{\n    label=\"batch {}\";\n", batch, batch);
    for (uint32_t p = plan.batches[batch].first; p <= plan.batches[batch].last; ++p) {
      out += node(plan.order[plan.host_passes + p]);
    }
    out += "  }\n";
  }
  for (size_t i = 0; i < plan.points.size(); ++i) {
    // A bar stands before the pass that its barriers protect.
    out += fmt::format(
        "  b{} [label=\"{}\", shape=rect, width=0.1, fillcolor=\"#d04040\", fontcolor=white];\n"
        "  b{} -> p{} [style=bold, color=\"#d04040\"];\n",
        i, plan.points[i].entries, i, plan.PassAt(plan.points[i].before));
  }
  // Invisible edges keep the passes in the order of the plan, which Graphviz would not know
  // otherwise.
  for (uint32_t p = 1; p < plan.device_passes(); ++p) {
    out += fmt::format("  p{} -> p{} [style=invis];\n", plan.PassAt(p - 1), plan.PassAt(p));
  }
  for (const auto& [from, to, label] : EdgesOf(plan, rows)) {
    out += fmt::format("  p{} -> p{} [label={}];\n", from, to, Quoted(label));
  }
  return out + "}\n";
}

}  // namespace kiln::graph
