// SPDX-License-Identifier: MIT
// What must come before what. Spec: graph §6.4
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

// Whether a barrier must lie between two accesses of one chain of which one changes it.
bool NeedsBarrier(const Planning& planning, const AccessRow& first, const AccessRow& second) {
  if (planning.rows.passes[first.pass].kind == PassKind::kHost || !CellsMeet(first, second)) {
    return false;
  }
  return first.writes() || second.writes() || first.layout != second.layout;
}

void IndexVersions(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  scratch.def_access.assign(rows.versions.size(), kNone);
  scratch.kill_access.assign(rows.versions.size(), kNone);
  for (uint32_t i = 0; i < rows.accesses.size(); ++i) {
    const AccessRow& access = rows.accesses[i];
    if (access.result != kNone) {
      scratch.def_access[access.result] = i;
    }
    const bool exports = access.op == Op::kRead && rows.versions[access.version].exported != 0 &&
                         rows.versions[access.version].kill == access.pass;
    if (access.op == Op::kWrite || exports) {
      scratch.kill_access[access.version] = i;
    }
  }
}

void AddEdge(Planning& planning, uint32_t from, uint32_t to, bool def, bool weight,
             uint32_t version) {
  if (from != to && planning.plan.live[from] != 0 && planning.plan.live[to] != 0) {
    planning.scratch.edges.push_back({.from = from,
                                      .to = to,
                                      .def = def ? uint8_t{1} : uint8_t{0},
                                      .weight = weight ? uint8_t{1} : uint8_t{0},
                                      .version = version});
  }
}

void SortSuccessors(Planning& planning) {
  PlanningScratch& scratch = planning.scratch;
  const size_t passes = planning.rows.passes.size();
  scratch.successor_begin.assign(passes + 1, 0);
  scratch.missing.assign(passes, 0);
  for (const Edge& edge : scratch.edges) {
    ++scratch.successor_begin[edge.from + 1];
    ++scratch.missing[edge.to];
  }
  for (size_t pass = 0; pass < passes; ++pass) {
    scratch.successor_begin[pass + 1] += scratch.successor_begin[pass];
  }
  scratch.marks.assign(scratch.successor_begin.begin(), scratch.successor_begin.end());
  scratch.successors.resize(scratch.edges.size());
  for (const Edge& edge : scratch.edges) {
    scratch.successors[scratch.marks[edge.from]++] = {
        .pass = edge.to & 0x3FFFFFFF, .def = edge.def, .weight = edge.weight};
  }
}

}  // namespace

void MakeEdges(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  IndexVersions(planning);
  scratch.edges.clear();
  for (const AccessRow& access : rows.accesses) {
    if (access.op == Op::kCreate) {
      continue;
    }
    const VersionRow& version = rows.versions[access.version];
    if (version.def != kNone) {
      const AccessRow& def = rows.accesses[scratch.def_access[access.version]];
      AddEdge(planning, version.def, access.pass, true, NeedsBarrier(planning, def, access),
              access.version);
    }
    if (access.op == Op::kRead && version.kill != kNone && version.kill != access.pass) {
      const AccessRow& kill = rows.accesses[scratch.kill_access[access.version]];
      AddEdge(planning, access.pass, version.kill, false, NeedsBarrier(planning, access, kill),
              access.version);
    }
  }
  for (const Edge& edge : scratch.semaphore_edges) {
    AddEdge(planning, edge.from, edge.to, false, false, kNone);
  }
  SortSuccessors(planning);
}

}  // namespace kiln::graph
