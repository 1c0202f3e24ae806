// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/edges.h"

#include <algorithm>

#include "runtime/graph/plan/cells.h"

namespace kiln::graph {
namespace {

// Edges follow from versions: whoever makes a version is before all who use it, and all who read it
// are before the one that overwrites it. That is every ordering a frame needs, so edges number at
// most two per access. The weight says whether the two would need a barrier between them; Schedule
// uses it to find the longest chain of barriers. Members are raw pointers because the loop over
// accesses is the hottest of planning, and vectors behind references would be loaded anew after
// every store.
class EdgeMaker {
 public:
  EdgeMaker(const EdgeInputs& in, const std::vector<uint8_t>& live, EdgeGraph& out)
      : rows_(in.rows),
        out_(out),
        passes_(in.rows.passes.data()),
        accesses_(in.rows.accesses.data()),
        versions_(in.rows.versions.data()),
        layouts_(in.layouts.data()),
        live_(live.data()),
        bits_(in.facts.bits.data()),
        def_access_(in.facts.def_access.data()),
        kill_access_(in.facts.kill_access.data()),
        read_layout_(out.read_layout.data()),
        successor_begin_(out.successor_begin.data()),
        states_(out.states.data()) {}

  // Requires: the access is not a create, which follows nothing.
  // The two rules of spec/graph 6.4 for one access, in the order in which the rows are read.
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
               .weight = WeightOf(index, kill_access_[access.version]),
               .version = access.version});
    }
  }

  // A culled pass orders nothing. Edges are counted here by their beginning, so that sorting them
  // is one pass.
  void AddEdge(const Edge& edge) {
    if (edge.from == edge.to || live_[edge.from] == 0 || live_[edge.to] == 0) {
      return;
    }
    out_.edges.push_back(edge);
    ++successor_begin_[edge.from + 1];
    ++states_[edge.to].missing;
    // An edge against the order of declaration: then the option `declared` gives the nearest valid
    // order and says so.
    if (edge.from > edge.to && !IsOwn(edge.from) && !IsOwn(edge.to)) {
      out_.declared_order_valid = false;
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
    // Two reads in one layout are the only accesses that need nothing between them.
    const bool needs =
        ((bits | others) & kWrites) != 0 || accesses_[first].layout != accesses_[second].layout;
    return needs ? 1 : 0;
  }

  // Passes that the graph itself adds do not count in the declared order.
  bool IsOwn(uint32_t pass) const { return passes_[pass].origin != Origin::kUser; }

  // Whether the access to an import needs a barrier before it that comes from outside the frame: in
  // every order.
  bool StartsWithBarrier(const AccessRow& access) const {
    const ChainRow& chain = rows_.ChainOf(access);
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
      out_.several_layouts[version] = 1;
      out_.any_several_layouts = true;
    }
  }

  const Declarations& rows_;
  EdgeGraph& out_;
  const PassRow* passes_;
  const AccessRow* accesses_;
  const VersionRow* versions_;
  const VkImageLayout* layouts_;
  const uint8_t* live_;
  const uint8_t* bits_;
  const uint32_t* def_access_;
  const uint32_t* kill_access_;
  VkImageLayout* read_layout_;  // by version: of the last read
  uint32_t* successor_begin_;
  PassState* states_;
};

// Requires: successor_begin counts the edges of the pass before.
void SortSuccessors(EdgeGraph& graph) {
  for (size_t pass = 0; pass + 1 < graph.successor_begin.size(); ++pass) {
    graph.successor_begin[pass + 1] += graph.successor_begin[pass];
  }
  std::vector<uint32_t>& next = graph.missing;  // not needed yet
  next.assign(graph.successor_begin.begin(), graph.successor_begin.end());
  graph.successors.resize(graph.edges.size());
  for (const Edge& edge : graph.edges) {
    graph.successors[next[edge.from]++] = {.pass = edge.to & 0x3FFFFFFF,
                                           .def = edge.def != 0 ? 1U : 0U,
                                           .weight = edge.weight != 0 ? 1U : 0U};
  }
}

}  // namespace

void MakeEdges(const EdgeInputs& in, const std::vector<uint8_t>& live, EdgeGraph& out) {
  const Declarations& rows = in.rows;
  out.edges.clear();
  out.successor_begin.assign(rows.passes.size() + 1, 0);
  // A barrier before a pass that every order has, since its cause is outside the frame. So has the
  // first use of an image.
  out.states.resize(rows.passes.size());
  std::transform(in.facts.pass_bits.begin(), in.facts.pass_bits.end(), out.states.begin(),
                 [](uint8_t bits) {
                   const bool begins = (bits & (kBegins | kOnHost)) == kBegins;
                   return PassState{.level = begins ? 1U : 0U};
                 });
  out.read_layout.assign(rows.versions.size(), VK_IMAGE_LAYOUT_UNDEFINED);
  out.several_layouts.assign(rows.versions.size(), 0);
  out.any_several_layouts = false;
  out.declared_order_valid = true;
  EdgeMaker maker(in, live, out);
  for (const uint32_t access : in.facts.followers) {
    maker.AddAccess(access);
  }
  for (const Edge& edge : in.semaphore_edges) {
    maker.AddEdge(edge);
  }
  SortSuccessors(out);
}

// Kahn's algorithm with a queue: an order that respects the edges and nothing else. Passes on a
// cycle never become ready, so an order that lacks a live pass is also the proof that there is one.
void PlainOrder(const std::vector<uint8_t>& live, EdgeGraph& graph) {
  std::vector<uint32_t>& missing = graph.missing;
  std::vector<uint32_t>& order = graph.plain_order;
  missing.resize(graph.states.size());
  std::transform(graph.states.begin(), graph.states.end(), missing.begin(),
                 [](const PassState& state) { return state.missing; });
  order.clear();
  for (uint32_t pass = 0; pass < missing.size(); ++pass) {
    if (live[pass] != 0 && missing[pass] == 0) {
      order.push_back(pass);
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t pass = order[i];
    for (uint32_t e = graph.successor_begin[pass]; e < graph.successor_begin[pass + 1]; ++e) {
      if (--missing[graph.successors[e].pass] == 0) {
        order.push_back(graph.successors[e].pass);
      }
    }
  }
}

}  // namespace kiln::graph
