// SPDX-License-Identifier: MIT
// The points before which barriers are recorded, and the entries at each.
// See spec/graph 6.7.2, 6.7.3
#include <algorithm>
#include <climits>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

// Smallest set of positions that has one in every (lo, hi]. Writes `chosen`, returns its size.
uint32_t Stab(const std::vector<int32_t>& max_lo, std::vector<uint8_t>& chosen) {
  uint32_t count = 0;
  int32_t point = -1;
  chosen.resize(max_lo.size());
  for (size_t hi = 0; hi < max_lo.size(); ++hi) {
    // Never where nothing ends, which is INT_MIN. A factor, not a branch: points are unpredictable.
    const int32_t choose = point <= max_lo[hi] ? 1 : 0;
    point += choose * (static_cast<int32_t>(hi) - point);
    chosen[hi] = static_cast<uint8_t>(choose);
    count += static_cast<uint32_t>(choose);
  }
  return count;
}

// Whether an entry is needed even if nothing shares memory.
bool IsData(const Planning& planning, const BarrierEntry& entry) {
  return !entry.create || planning.rows.chains[entry.chain].texture() || entry.outside;
}

uint32_t StabEntries(Planning& planning, bool data_only) {
  PlanningScratch& scratch = planning.scratch;
  scratch.max_lo.assign(planning.plan.device_passes(), INT_MIN);
  for (const BarrierEntry& entry : planning.plan.entries) {
    if (data_only && !IsData(planning, entry)) {
      continue;
    }
    int32_t& lo = scratch.max_lo[static_cast<size_t>(entry.hi)];
    lo = std::max(lo, data_only && entry.create ? -1 : entry.lo);
  }
  return Stab(scratch.max_lo, scratch.chosen);
}

// Where every epoch begins, now that all sources are known.
void ChooseFinalPoints(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  // Only buffers may have taken over nothing after all.
  if (std::any_of(plan.next.classes.begin(), plan.next.classes.end(),
                  [](const MemoryClass& c) { return c.kind == ResourceKind::kBuffer; })) {
    std::erase_if(planning.plan.entries, [&](const BarrierEntry& entry) {
      return entry.create && entry.src_stages == 0 && !planning.rows.chains[entry.chain].texture();
    });
    plan.metrics.needed = StabEntries(planning, true);
    StabEntries(planning, false);
  } else {
    Stab(scratch.max_lo, scratch.chosen);
  }
  if (planning.options.barriers == BarrierPlaces::kAtUse) {
    for (const BarrierEntry& entry : planning.plan.entries) {
      scratch.chosen[static_cast<size_t>(entry.hi)] = 1;
    }
  }
}

}  // namespace

void ChoosePoints(Planning& planning) {
  // Which buffers take over bytes of earlier frames is not known yet; with nothing carried, none
  // do.
  const bool carried = std::any_of(
      planning.carried.classes.begin(), planning.carried.classes.end(),
      [](const MemoryClass& c) { return c.kind == ResourceKind::kBuffer && !c.ledger.empty(); });
  PlanningScratch& scratch = planning.scratch;
  for (size_t i = 0; carried && i < planning.plan.entries.size(); ++i) {
    const BarrierEntry& entry = planning.plan.entries[i];
    if (entry.create && !planning.rows.chains[entry.chain].texture()) {
      int32_t& lo = scratch.max_lo[static_cast<size_t>(entry.hi)];
      lo = std::max(lo, -1);
    }
  }
  planning.plan.metrics.needed = Stab(scratch.max_lo, scratch.chosen);
}

void EmitEntries(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  ChooseFinalPoints(planning);
  // epochs: index of the greatest chosen point at or before a position
  plan.points.clear();
  scratch.epochs.resize(scratch.chosen.size());
  for (uint32_t position = 0; position < scratch.chosen.size(); ++position) {
    if (scratch.chosen[position] != 0) {
      plan.points.push_back({.before = position, .first_entry = 0, .entries = 0});
    }
    scratch.epochs[position] = static_cast<uint32_t>(plan.points.size()) - 1;
  }
  scratch.entry_point.resize(plan.entries.size());
  uint32_t layout_changes = 0;
  uint32_t* entry_point = scratch.entry_point.data();
  for (const BarrierEntry& entry : plan.entries) {
    const uint32_t point = scratch.epochs[static_cast<size_t>(entry.hi)];
    *entry_point++ = point;
    ++plan.points[point].entries;
    layout_changes += entry.old_layout != entry.new_layout ? 1 : 0;
  }
  uint32_t next = 0;
  for (BarrierPoint& point : plan.points) {
    point.first_entry = next;
    next += point.entries;
    point.entries = 0;
  }
  plan.point_entries.resize(next);
  for (uint32_t entry = 0; entry < next; ++entry) {
    BarrierPoint& point = plan.points[scratch.entry_point[entry]];
    plan.point_entries[point.first_entry + point.entries++] = entry;
  }
  plan.metrics.commands = static_cast<uint32_t>(plan.points.size());
  plan.metrics.entries = next;
  plan.metrics.layout_changes = layout_changes;
}

}  // namespace kiln::graph
