// SPDX-License-Identifier: MIT
// What must come before what. Spec: graph §6.4
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

// Whether a barrier must lie between two accesses of one chain of which one changes it.
bool NeedsBarrier(const Planning& planning, uint32_t first, uint32_t second) {
  const uint8_t bits = planning.scratch.access_bits[first];
  const uint8_t others = planning.scratch.access_bits[second];
  const std::vector<AccessRow>& accesses = planning.rows.accesses;
  if ((bits & kOnHost) != 0 ||
      ((bits & others & kPart) != 0 && !CellsMeet(accesses[first], accesses[second]))) {
    return false;
  }
  return ((bits | others) & kWrites) != 0 || accesses[first].layout != accesses[second].layout;
}

// Passes of the graph's own do not count in the order that was declared.
bool IsOwn(const Planning& planning, uint32_t pass) {
  return planning.rows.passes[pass].origin != Origin::kUser;
}

void AddEdge(Planning& planning, Edge edge) {
  PlanningScratch& scratch = planning.scratch;
  if (edge.from == edge.to || planning.plan.live[edge.from] == 0 ||
      planning.plan.live[edge.to] == 0) {
    return;
  }
  scratch.edges.push_back(edge);
  ++scratch.successor_begin[edge.from + 1];
  ++scratch.missing[edge.to];
  if (edge.from > edge.to && !IsOwn(planning, edge.from) && !IsOwn(planning, edge.to)) {
    scratch.declared_order_valid = false;
  }
}

// Whether the access to an import needs a barrier before it that comes from outside the frame: in
// every order.
bool StartsWithBarrier(const Planning& planning, const AccessRow& access) {
  const ChainRow& chain = planning.rows.ChainOf(access);
  const bool layout = chain.texture() && access.layout != chain.state_layout;
  const bool pending = (chain.state_accesses & kWriteAccesses) != 0;
  return layout || pending || (access.writes() && chain.state_stages != 0);
}

// Barriers on the way to a pass that every order has, as far as they come from outside: so do
// images that begin.
void StartLevel(Planning& planning, uint32_t index) {
  const AccessRow& access = planning.rows.accesses[index];
  const uint8_t chain = planning.rows.versions[access.version].bits;
  const bool starts = access.op == Op::kCreate
                          ? (chain & kOfTexture) != 0
                          : (chain & kOfImport) != 0 && StartsWithBarrier(planning, access);
  if (starts && planning.plan.live[access.pass] != 0 &&
      (planning.scratch.access_bits[index] & kOnHost) == 0) {
    planning.scratch.level[access.pass] = 1;
  }
}

// Marks a version that is read in several layouts.
void CompareLayouts(Planning& planning, uint32_t version, VkImageLayout layout) {
  PlanningScratch& scratch = planning.scratch;
  VkImageLayout& first = scratch.read_layout[version];
  if (first == VK_IMAGE_LAYOUT_UNDEFINED) {
    first = layout;
  } else if (first != layout) {
    scratch.several_layouts[version] = 1;
    scratch.any_several_layouts = true;
  }
}

void AddEdgesOf(Planning& planning, uint32_t index) {
  const AccessRow& access = planning.rows.accesses[index];
  const VersionRow& version = planning.rows.versions[access.version];
  PlanningScratch& scratch = planning.scratch;
  if (version.def != kNone) {
    const bool weight = NeedsBarrier(planning, scratch.def_access[access.version], index);
    AddEdge(planning, {.from = version.def,
                       .to = access.pass,
                       .def = 1,
                       .weight = weight ? uint16_t{1} : uint16_t{0},
                       .version = access.version});
  }
  if (access.op != Op::kRead) {
    return;
  }
  CompareLayouts(planning, access.version, planning.plan.layouts[index]);
  if (version.kill != kNone && version.kill != access.pass) {
    const bool weight = NeedsBarrier(planning, index, scratch.kill_access[access.version]);
    AddEdge(planning, {.from = access.pass,
                       .to = version.kill,
                       .def = 0,
                       .weight = weight ? uint16_t{1} : uint16_t{0},
                       .version = access.version});
  }
}

// Requires: successor_begin counts the edges of the pass before.
void SortSuccessors(PlanningScratch& scratch) {
  for (size_t pass = 0; pass + 1 < scratch.successor_begin.size(); ++pass) {
    scratch.successor_begin[pass + 1] += scratch.successor_begin[pass];
  }
  scratch.marks.assign(scratch.successor_begin.begin(), scratch.successor_begin.end());
  scratch.successors.resize(scratch.edges.size());
  for (const Edge& edge : scratch.edges) {
    scratch.successors[scratch.marks[edge.from]++] = {.pass = edge.to & 0x3FFFFFFF,
                                                      .def = edge.def != 0 ? 1U : 0U,
                                                      .weight = edge.weight != 0 ? 1U : 0U};
  }
}

}  // namespace

void MakeEdges(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  scratch.edges.clear();
  scratch.successor_begin.assign(rows.passes.size() + 1, 0);
  scratch.missing.assign(rows.passes.size(), 0);
  scratch.level.assign(rows.passes.size(), 0);
  scratch.read_layout.assign(rows.versions.size(), VK_IMAGE_LAYOUT_UNDEFINED);
  scratch.several_layouts.assign(rows.versions.size(), 0);
  scratch.any_several_layouts = false;
  scratch.declared_order_valid = true;
  for (uint32_t i = 0; i < rows.accesses.size(); ++i) {
    StartLevel(planning, i);
    if (rows.accesses[i].op != Op::kCreate) {
      AddEdgesOf(planning, i);
    }
  }
  for (const Edge& edge : scratch.semaphore_edges) {
    AddEdge(planning, edge);
  }
  SortSuccessors(scratch);
}

}  // namespace kiln::graph
