// SPDX-License-Identifier: MIT
// What must come before what. See spec/graph 6.4
#include <algorithm>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

class EdgeMaker {
 public:
  explicit EdgeMaker(Planning& planning)
      : planning_(planning),
        scratch_(planning.scratch),
        passes_(planning.rows.passes.data()),
        accesses_(planning.rows.accesses.data()),
        versions_(planning.rows.versions.data()),
        layouts_(planning.plan.layouts.data()),
        live_(planning.plan.live.data()),
        bits_(planning.scratch.access_bits.data()),
        def_access_(planning.scratch.def_access.data()),
        read_layout_(planning.scratch.read_layout.data()),
        successor_begin_(planning.scratch.successor_begin.data()),
        states_(planning.scratch.states.data()) {}

  // Requires: the access is not a create, which follows nothing.
  void AddAccess(uint32_t index) {
    const AccessRow& access = accesses_[index];
    const VersionRow& version = versions_[access.version];
    if ((version.bits & kOfImport) != 0 && (bits_[index] & kOnHost) == 0 &&
        StartsWithBarrier(access)) {
      states_[access.pass].level = 1;
    }
    if (version.def != kNone) {
      AddEdge({.from = version.def,
               .to = access.pass,
               .def = 1,
               .weight = WeightOf(def_access_[access.version], index),
               .version = access.version});
    }
    if (access.op != Op::kRead) {
      return;
    }
    CompareLayouts(access.version, layouts_[index]);
    if (version.kill != kNone && version.kill != access.pass) {
      AddEdge({.from = access.pass,
               .to = version.kill,
               .def = 0,
               .weight = WeightOf(index, scratch_.kill_access[access.version]),
               .version = access.version});
    }
  }

  void AddEdge(const Edge& edge) {
    if (edge.from == edge.to || live_[edge.from] == 0 || live_[edge.to] == 0) {
      return;
    }
    scratch_.edges.push_back(edge);
    ++successor_begin_[edge.from + 1];
    ++states_[edge.to].missing;
    if (edge.from > edge.to && !IsOwn(edge.from) && !IsOwn(edge.to)) {
      scratch_.declared_order_valid = false;
    }
  }

 private:
  // Whether a barrier must lie between two accesses of one chain of which one changes it.
  uint16_t WeightOf(uint32_t first, uint32_t second) const {
    const uint8_t bits = bits_[first];
    const uint8_t others = bits_[second];
    if ((bits & kOnHost) != 0 ||
        ((bits & others & kPart) != 0 && !CellsMeet(accesses_[first], accesses_[second]))) {
      return 0;
    }
    const bool needs =
        ((bits | others) & kWrites) != 0 || accesses_[first].layout != accesses_[second].layout;
    return needs ? 1 : 0;
  }

  // Passes that the graph itself adds do not count in the declared order.
  bool IsOwn(uint32_t pass) const { return passes_[pass].origin != Origin::kUser; }

  // Whether the access to an import needs a barrier before it that comes from outside the frame: in
  // every order.
  bool StartsWithBarrier(const AccessRow& access) const {
    const ChainRow& chain = planning_.rows.ChainOf(access);
    const bool layout = chain.texture() && access.layout != chain.state_layout;
    const bool pending = (chain.state_accesses & kWriteAccesses) != 0;
    return layout || pending || (access.writes() && chain.state_stages != 0);
  }

  // Marks a version that is read in several layouts.
  void CompareLayouts(uint32_t version, VkImageLayout layout) {
    static_assert(VK_IMAGE_LAYOUT_UNDEFINED == 0);
    VkImageLayout& last = read_layout_[version];
    // Neither the first nor the same: one test, since which read is first is unpredictable.
    const uint64_t differs = uint64_t{last} * static_cast<uint32_t>(last ^ layout);
    last = layout;
    if (differs != 0) {
      scratch_.several_layouts[version] = 1;
      scratch_.any_several_layouts = true;
    }
  }

  Planning& planning_;
  PlanningScratch& scratch_;
  const PassRow* passes_;
  const AccessRow* accesses_;
  const VersionRow* versions_;
  const VkImageLayout* layouts_;
  const uint8_t* live_;
  const uint8_t* bits_;
  const uint32_t* def_access_;
  VkImageLayout* read_layout_;  // by version: of the last read
  uint32_t* successor_begin_;
  PassState* states_;
};

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
  // A barrier before a pass that every order has, since its cause is outside the frame. So has the
  // first use of an image.
  scratch.states.resize(rows.passes.size());
  std::transform(scratch.pass_bits.begin(), scratch.pass_bits.end(), scratch.states.begin(),
                 [](uint8_t bits) {
                   const bool begins = (bits & (kBegins | kOnHost)) == kBegins;
                   return PassState{.level = begins ? 1U : 0U};
                 });
  scratch.read_layout.assign(rows.versions.size(), VK_IMAGE_LAYOUT_UNDEFINED);
  scratch.several_layouts.assign(rows.versions.size(), 0);
  scratch.any_several_layouts = false;
  scratch.declared_order_valid = true;
  EdgeMaker maker(planning);
  for (const uint32_t access : scratch.followers) {
    maker.AddAccess(access);
  }
  for (const Edge& edge : scratch.semaphore_edges) {
    maker.AddEdge(edge);
  }
  SortSuccessors(scratch);
}

}  // namespace kiln::graph
