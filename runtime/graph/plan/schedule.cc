// SPDX-License-Identifier: MIT
// A list schedule over a heap of keys. The fields of a key, the most important first:
//   key = h (1) | w (22) | s (1) | k (17) | c (7) | declaration index (16)
// h: host passes come first; w: passes behind more waits for the outside later; s: passes that lead
// to a signal for the outside early; k: close behind what they use (or by the option's order); c:
// readers in one layout side by side. All but k are known before the first pass is placed.
#include "runtime/graph/plan/schedule.h"

#include <algorithm>
#include <functional>

namespace kiln::graph {
namespace {

// The lowest bit of each field.
constexpr uint32_t kFieldH = 63;
constexpr uint32_t kFieldW = 41;
constexpr uint32_t kFieldS = 40;
constexpr uint32_t kFieldK = 23;
constexpr uint32_t kFieldC = 16;
constexpr uint32_t kLastLayoutRank = (1U << (kFieldK - kFieldC)) - 1;

// Fields w and s of the keys: external waits come late, external signals early, presentation last.
// A pass inherits the waits of all that it depends on, so one sweep along the edges sums them up,
// and one against the edges tells passes that somebody outside waits for their successors. Both
// sweeps need some valid order to go by; PlainOrder gives one. O(passes + edges).
void OrderSemaphores(const ScheduleInputs& in, EdgeGraph& graph, ScheduleScratch& scratch) {
  const Declarations& rows = in.rows;
  scratch.wait_rank.assign(rows.passes.size(), 0);
  scratch.waits_outside.assign(rows.passes.size(), 0);
  scratch.signal_rank.assign(rows.passes.size(), 1);
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& use = rows.semaphore_uses[i];
    if (use.pass == kNone || in.external[i] == 0) {
      continue;
    }
    if (use.wait) {
      scratch.waits_outside[use.pass] = 1;
    } else if (rows.passes[use.pass].origin != Origin::kPresent) {
      scratch.signal_rank[use.pass] = 0;
    }
  }
  for (const AccessRow& access : rows.accesses) {
    if (rows.ChainOf(access).acquire != kNone) {
      scratch.waits_outside[access.pass] = 1;
    }
  }
  PlainOrder(in.passes.live, graph);
  const std::vector<uint32_t>& order = graph.plain_order;
  uint32_t largest = 0;
  for (const uint32_t pass : order) {
    scratch.wait_rank[pass] += scratch.waits_outside[pass];
    const bool present = rows.passes[pass].origin == Origin::kPresent ||
                         rows.passes[pass].origin == Origin::kPresentCopy;
    largest = present ? largest : std::max(largest, scratch.wait_rank[pass]);
    for (uint32_t e = graph.successor_begin[pass]; e < graph.successor_begin[pass + 1]; ++e) {
      uint32_t& next = scratch.wait_rank[graph.successors[e].pass];
      next = std::max(next, scratch.wait_rank[pass]);
    }
  }
  for (auto pass = order.rbegin(); pass != order.rend(); ++pass) {
    for (uint32_t e = graph.successor_begin[*pass]; e < graph.successor_begin[*pass + 1]; ++e) {
      scratch.signal_rank[*pass] =
          std::min(scratch.signal_rank[*pass], scratch.signal_rank[graph.successors[e].pass]);
    }
  }
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    const Origin origin = rows.passes[pass].origin;
    if (origin == Origin::kPresent || origin == Origin::kPresentCopy) {
      // Presentation comes behind everything else that waits: what shows the frame needs all of it
      // (spec/graph 6.5.1).
      scratch.wait_rank[pass] = largest + 1;
    }
    scratch.keys[pass] |= uint64_t{scratch.wait_rank[pass]} << kFieldW;
    // The field was set to one for all; it is cleared where a signal for the outside depends on it.
    scratch.keys[pass] ^= uint64_t{scratch.signal_rank[pass] ^ 1U} << kFieldS;
  }
}

// The layout in which a version comes to its readers.
VkImageLayout LayoutOfVersion(const ScheduleInputs& in, uint32_t version) {
  const uint32_t def = in.facts.def_access[version];
  return def != kNone ? in.accesses.layouts[def]
                      : in.rows.chains[in.rows.versions[version].chain].state_layout;
}

// Adds the layout to the version's groups, which stand in the order of their first readers, and
// returns its rank: first the layout that the version is in, last that of the overwriting pass.
uint32_t RankOfLayout(const ScheduleInputs& in, uint32_t version, VkImageLayout layout,
                      ScheduleScratch& scratch) {
  if (layout == LayoutOfVersion(in, version)) {
    return 0;
  }
  const uint32_t kill = in.facts.kill_access[version];
  if (kill != kNone && in.accesses.layouts[kill] == layout) {
    return kLastLayoutRank;
  }
  uint32_t rank = 1;
  uint32_t* link = &scratch.first_group[version];
  while (*link != kNone && scratch.groups[*link].layout != layout) {
    link = &scratch.groups[*link].next;
    ++rank;
  }
  if (*link == kNone) {
    *link = static_cast<uint32_t>(scratch.groups.size());
    scratch.groups.push_back({.layout = layout, .next = kNone});
  }
  return rank;
}

// Field c: passes that read a version in the same layout come together, since each change of layout
// between readers is a barrier of its own. A version that is read in one layout only, which is the
// usual case, was recognised when the edges were made and costs nothing here.
void RankReadLayouts(const ScheduleInputs& in, const EdgeGraph& graph, ScheduleScratch& scratch) {
  const Declarations& rows = in.rows;
  scratch.layout_rank.assign(rows.passes.size(), 0);
  scratch.first_group.assign(rows.versions.size(), kNone);  // head of the version's groups
  scratch.groups.clear();
  scratch.groups.reserve(rows.accesses.size());  // links point into it
  for (const uint32_t i : in.accesses.pass_accesses) {
    const AccessRow& access = rows.accesses[i];
    if (access.op == Op::kRead && graph.several_layouts[access.version] != 0) {
      // The sum over all reads of the pass, cut off at what the field holds.
      uint32_t& rank = scratch.layout_rank[access.pass];
      const VkImageLayout layout = in.accesses.layouts[i];
      rank = std::min(rank + RankOfLayout(in, access.version, layout, scratch), kLastLayoutRank);
    }
  }
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    scratch.keys[pass] |= uint64_t{scratch.layout_rank[pass]} << kFieldC;
  }
}

// splitmix64: every bit of the result depends on every bit of the value.
uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ value >> 27) * 0x94D049BB133111EBULL;
  return value ^ value >> 31;
}

// All fields of the keys but k.
void PrepareKeys(const ScheduleInputs& in, EdgeGraph& graph, ScheduleScratch& scratch) {
  const Declarations& rows = in.rows;
  const auto count = static_cast<uint32_t>(rows.passes.size());
  scratch.keys.resize(count);
  for (uint32_t pass = 0; pass < count; ++pass) {
    const uint64_t h = rows.passes[pass].kind == PassKind::kHost ? 0 : 1;
    scratch.keys[pass] = h << kFieldH | uint64_t{1} << kFieldS | pass;
  }
  const Order order = in.options.order;
  // The other orders leave w, s and c out, so that they are what they say: the declared order, or a
  // random one.
  if (order != Order::kPriority && order != Order::kLevels) {
    return;
  }
  if (graph.any_several_layouts) {
    RankReadLayouts(in, graph, scratch);
  }
  if (!rows.semaphore_uses.empty() || !rows.presents.empty()) {
    OrderSemaphores(in, graph, scratch);
  }
}

// Places passes and tells their successors. The key of a pass is complete when its last predecessor
// is placed, and does not change afterwards, so every pass goes into the heap exactly once. Field k
// is the reason why the heap is needed at all: how late a pass's inputs were made is not known
// before.
class Scheduler {
 public:
  Scheduler(const ScheduleInputs& in, EdgeGraph& graph, ScheduleScratch& scratch, PassOrder& out)
      : in_(in), graph_(graph), keys_(scratch.keys), heap_(scratch.heap), out_(out) {}

  void AddReady(uint32_t pass) { heap_.push_back(KeyOf(pass)); }

  // Places all that can be placed. Requires: every pass that is ready at the beginning was added.
  void Run() {
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto pass = static_cast<uint32_t>(heap_.back() & 0xFFFF);
      heap_.pop_back();
      const auto place = static_cast<uint32_t>(out_.order.size());
      Append(pass);
      Release(pass, place);
    }
  }

  uint64_t def_distance() const { return def_distance_; }

 private:
  // The key of a pass that is ready.
  uint64_t KeyOf(uint32_t pass) const {
    uint64_t k = 0;
    switch (in_.options.order) {
      case Order::kPriority:
        k = graph_.states[pass].latest;
        break;
      case Order::kLevels:
        k = graph_.states[pass].level;
        break;
      case Order::kDeclared:
        break;
      case Order::kRandom:
        k = Mix(in_.options.seed * 65'537 + pass) >> 47;
        break;
    }
    return keys_[pass] | k << kFieldK;
  }

  void Append(uint32_t pass) {
    const bool host = in_.rows.passes[pass].kind == PassKind::kHost;
    out_.positions[pass] = host ? -1 : static_cast<int32_t>(out_.device_passes());
    out_.order.push_back({.pass = pass,
                          .batch = kNone,
                          .why = in_.reasons.why[pass],
                          .needed_by = in_.reasons.needed_by[pass]});
    out_.host_passes += host ? 1 : 0;
    const uint32_t latest = graph_.states[pass].latest_position;
    def_distance_ += latest == 0 ? 0 : static_cast<uint64_t>(out_.positions[pass]) + 1 - latest;
  }

  // Tells the successors; those that have become ready are added to the heap.
  void Release(uint32_t pass, uint32_t place) {
    const auto position = static_cast<uint32_t>(out_.positions[pass] + 1);
    const uint32_t level = graph_.states[pass].level;
    const uint32_t end = graph_.successor_begin[pass + 1];
    for (uint32_t e = graph_.successor_begin[pass]; e < end; ++e) {
      const Successor next = graph_.successors[e];
      PassState& state = graph_.states[next.pass];
      state.level = std::max(state.level, level + next.weight);
      // Passes are placed one after the other, so the last Def that releases its user is the
      // latest.
      if (next.def != 0) {
        state.latest = place + 1;
        state.latest_position = std::max(state.latest_position, position);
      }
      if (--state.missing == 0) {
        AddReady(next.pass);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      }
    }
  }

  const ScheduleInputs& in_;
  EdgeGraph& graph_;
  const std::vector<uint64_t>& keys_;
  std::vector<uint64_t>& heap_;
  PassOrder& out_;
  uint64_t def_distance_ = 0;
};

}  // namespace

ScheduleFacts Schedule(const ScheduleInputs& in, EdgeGraph& graph, ScheduleScratch& scratch,
                       PassOrder& out) {
  const size_t count = in.rows.passes.size();
  out.order.clear();
  out.host_passes = 0;
  out.positions.assign(count, -1);
  PrepareKeys(in, graph, scratch);
  scratch.heap.clear();
  Scheduler scheduler(in, graph, scratch, out);
  for (uint32_t pass = 0; pass < count; ++pass) {
    if (in.passes.live[pass] != 0 && graph.states[pass].missing == 0) {
      scheduler.AddReady(pass);
    }
  }
  scheduler.Run();
  // A pass on a cycle is never released, so what is missing in the order is the cycle and what
  // follows it.
  return {.complete = out.order.size() + in.passes.culled.size() == count,
          .def_distance = scheduler.def_distance()};
}

}  // namespace kiln::graph
