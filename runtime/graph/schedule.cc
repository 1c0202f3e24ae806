// SPDX-License-Identifier: MIT
// The order of the passes: the ready one with the smallest key goes next. See spec/graph 6.5
//   key = h (1) | w (22) | s (1) | k (17) | c (7) | declaration index (16)
#include <algorithm>
#include <functional>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kFieldH = 63;
constexpr uint32_t kFieldW = 41;
constexpr uint32_t kFieldS = 40;
constexpr uint32_t kFieldK = 23;
constexpr uint32_t kFieldC = 16;
constexpr uint32_t kLastLayoutRank = (1U << (kFieldK - kFieldC)) - 1;

// The passes in some valid order; shorter if there is a cycle.
void PlainOrder(Planning& planning, std::vector<uint32_t>& order) {
  PlanningScratch& scratch = planning.scratch;
  scratch.marks.resize(scratch.states.size());
  std::transform(scratch.states.begin(), scratch.states.end(), scratch.marks.begin(),
                 [](const PassState& state) { return state.missing; });
  order.clear();
  for (uint32_t pass = 0; pass < planning.rows.passes.size(); ++pass) {
    if (planning.plan.live[pass] != 0 && scratch.marks[pass] == 0) {
      order.push_back(pass);
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t pass = order[i];
    for (uint32_t e = scratch.successor_begin[pass]; e < scratch.successor_begin[pass + 1]; ++e) {
      if (--scratch.marks[scratch.successors[e].pass] == 0) {
        order.push_back(scratch.successors[e].pass);
      }
    }
  }
}

// w: external waits come late, s: external signals early, present last.
void OrderSemaphores(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  scratch.wait_rank.assign(rows.passes.size(), 0);
  scratch.waits_outside.assign(rows.passes.size(), 0);
  scratch.signal_rank.assign(rows.passes.size(), 1);
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& use = rows.semaphore_uses[i];
    if (use.pass == kNone || scratch.external[i] == 0) {
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
  std::vector<uint32_t>& order = scratch.stack;
  PlainOrder(planning, order);
  uint32_t largest = 0;
  for (const uint32_t pass : order) {
    scratch.wait_rank[pass] += scratch.waits_outside[pass];
    const bool present = rows.passes[pass].origin == Origin::kPresent ||
                         rows.passes[pass].origin == Origin::kPresentCopy;
    largest = present ? largest : std::max(largest, scratch.wait_rank[pass]);
    for (uint32_t e = scratch.successor_begin[pass]; e < scratch.successor_begin[pass + 1]; ++e) {
      uint32_t& next = scratch.wait_rank[scratch.successors[e].pass];
      next = std::max(next, scratch.wait_rank[pass]);
    }
  }
  for (auto pass = order.rbegin(); pass != order.rend(); ++pass) {
    for (uint32_t e = scratch.successor_begin[*pass]; e < scratch.successor_begin[*pass + 1]; ++e) {
      scratch.signal_rank[*pass] =
          std::min(scratch.signal_rank[*pass], scratch.signal_rank[scratch.successors[e].pass]);
    }
  }
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    const Origin origin = rows.passes[pass].origin;
    if (origin == Origin::kPresent || origin == Origin::kPresentCopy) {
      scratch.wait_rank[pass] = largest + 1;
    }
    scratch.keys[pass] |= uint64_t{scratch.wait_rank[pass]} << kFieldW;
    scratch.keys[pass] ^= uint64_t{scratch.signal_rank[pass] ^ 1U} << kFieldS;
  }
}

// The layout in which a version comes to its readers.
VkImageLayout LayoutOfVersion(const Planning& planning, uint32_t version) {
  const uint32_t def = planning.scratch.def_access[version];
  return def != kNone ? planning.plan.layouts[def]
                      : planning.rows.chains[planning.rows.versions[version].chain].state_layout;
}

// Adds the layout to the version's groups, which stand in the order of their first readers, and
// returns its rank: first the layout that the version is in, last that of the overwriting pass.
uint32_t RankOfLayout(Planning& planning, uint32_t version, VkImageLayout layout) {
  PlanningScratch& scratch = planning.scratch;
  if (layout == LayoutOfVersion(planning, version)) {
    return 0;
  }
  const uint32_t kill = scratch.kill_access[version];
  if (kill != kNone && planning.plan.layouts[kill] == layout) {
    return kLastLayoutRank;
  }
  uint32_t rank = 1;
  uint32_t* link = &scratch.marks[version];
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

// c: passes that read a version in the same layout come together.
void RankReadLayouts(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  scratch.layout_rank.assign(rows.passes.size(), 0);
  scratch.marks.assign(rows.versions.size(), kNone);  // head of the version's groups
  scratch.groups.clear();
  scratch.groups.reserve(rows.accesses.size());  // links point into it
  for (const uint32_t i : planning.plan.pass_accesses) {
    const AccessRow& access = rows.accesses[i];
    if (access.op == Op::kRead && scratch.several_layouts[access.version] != 0) {
      uint32_t& rank = scratch.layout_rank[access.pass];
      rank = std::min(rank + RankOfLayout(planning, access.version, planning.plan.layouts[i]),
                      kLastLayoutRank);
    }
  }
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    scratch.keys[pass] |= uint64_t{scratch.layout_rank[pass]} << kFieldC;
  }
}

uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ value >> 27) * 0x94D049BB133111EBULL;
  return value ^ value >> 31;
}

// All fields of the keys but k.
void PrepareKeys(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  const auto count = static_cast<uint32_t>(rows.passes.size());
  scratch.keys.resize(count);
  for (uint32_t pass = 0; pass < count; ++pass) {
    const uint64_t h = rows.passes[pass].kind == PassKind::kHost ? 0 : 1;
    scratch.keys[pass] = h << kFieldH | uint64_t{1} << kFieldS | pass;
  }
  const Order order = planning.options.order;
  if (order != Order::kPriority && order != Order::kLevels) {
    return;
  }
  if (scratch.any_several_layouts) {
    RankReadLayouts(planning);
  }
  if (!rows.semaphore_uses.empty() || !rows.presents.empty()) {
    OrderSemaphores(planning);
  }
}

// The key of a pass that is ready.
uint64_t KeyOf(const Planning& planning, uint32_t pass) {
  const PlanningScratch& scratch = planning.scratch;
  uint64_t k = 0;
  switch (planning.options.order) {
    case Order::kPriority:
      k = scratch.states[pass].latest;
      break;
    case Order::kLevels:
      k = scratch.states[pass].level;
      break;
    case Order::kDeclared:
      break;
    case Order::kRandom:
      k = Mix(planning.options.seed * 65'537 + pass) >> 47;
      break;
  }
  return scratch.keys[pass] | k << kFieldK;
}

void Append(Planning& planning, uint32_t pass) {
  Plan& plan = planning.plan;
  const PlanningScratch& scratch = planning.scratch;
  const bool host = planning.rows.passes[pass].kind == PassKind::kHost;
  plan.positions[pass] = host ? -1 : static_cast<int32_t>(plan.device_passes());
  plan.order.push_back({.pass = pass,
                        .batch = kNone,
                        .why = scratch.why[pass],
                        .needed_by = scratch.needed_by[pass]});
  plan.host_passes += host ? 1 : 0;
  const uint32_t latest = scratch.states[pass].latest_position;
  plan.metrics.def_distance +=
      latest == 0 ? 0 : static_cast<uint64_t>(plan.positions[pass]) + 1 - latest;
}

// Tells the successors; those that have become ready are added to the heap.
void Release(Planning& planning, uint32_t pass, uint32_t place) {
  PlanningScratch& scratch = planning.scratch;
  const auto position = static_cast<uint32_t>(planning.plan.positions[pass] + 1);
  const uint32_t level = scratch.states[pass].level;
  const uint32_t end = scratch.successor_begin[pass + 1];
  for (uint32_t e = scratch.successor_begin[pass]; e < end; ++e) {
    const Successor next = scratch.successors[e];
    PassState& state = scratch.states[next.pass];
    state.level = std::max(state.level, level + next.weight);
    if (next.def != 0) {
      state.latest = place + 1;
      state.latest_position = std::max(state.latest_position, position);
    }
    if (--state.missing == 0) {
      scratch.heap.push_back(KeyOf(planning, next.pass));
      std::push_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
    }
  }
}

}  // namespace

bool AnyCycle(Planning& planning) {
  PlainOrder(planning, planning.scratch.stack);
  const bool cycle = planning.scratch.stack.size() < planning.rows.passes.size();
  if (cycle) {
    for (size_t pass = 0; pass < planning.scratch.states.size(); ++pass) {
      planning.scratch.states[pass].missing = planning.scratch.marks[pass];
    }
    ReportCycle(planning);
  }
  return cycle;
}

bool Schedule(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  const size_t count = planning.rows.passes.size();
  plan.order.clear();
  plan.host_passes = 0;
  plan.positions.assign(count, -1);
  plan.metrics.def_distance = 0;
  PrepareKeys(planning);
  scratch.heap.clear();
  for (uint32_t pass = 0; pass < count; ++pass) {
    if (plan.live[pass] != 0 && scratch.states[pass].missing == 0) {
      scratch.heap.push_back(KeyOf(planning, pass));
    }
  }
  std::make_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
    const auto pass = static_cast<uint32_t>(scratch.heap.back() & 0xFFFF);
    scratch.heap.pop_back();
    const auto place = static_cast<uint32_t>(plan.order.size());
    Append(planning, pass);
    Release(planning, pass, place);
  }
  plan.metrics.declared_order_valid = scratch.declared_order_valid;
  if (plan.order.size() + plan.culled.size() < count) {
    ReportCycle(planning);
    return false;
  }
  return true;
}

}  // namespace kiln::graph
