// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/barriers.h"

#include <algorithm>
#include <climits>

namespace kiln::graph {
namespace {

// Smallest set of positions that has one in every (lo, hi]. Writes `chosen`, returns its size.
//
// The classic greedy: intervals by their ends; one that no point stabs yet gets a point at its end,
// which is the best for all that follow. Intervals with one end are one, with their largest lo.
uint32_t Stab(const PointChoice& points) {
  uint32_t count = 0;
  int32_t point = -1;
  const std::vector<int32_t>& max_lo = points.max_lo;
  points.chosen.resize(max_lo.size());
  uint8_t* const chosen = points.chosen.data();
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
// A create of a buffer waits only for whoever had its bytes before, and that is decided by the
// placement. Everything else depends on declarations alone.
bool IsData(const Declarations& rows, const BarrierEntry& entry) {
  return !entry.create || rows.chains[entry.chain].texture() || entry.outside;
}

enum class Entries : uint8_t { kAll, kData };

// `max_lo` anew from the entries: of all that end at one position only the latest beginning counts,
// since a point that satisfies it satisfies the others. One pass over the entries, so that Stab has
// one over the positions.
uint32_t StabEntries(const Declarations& rows, const std::vector<BarrierEntry>& entries,
                     Entries which, const PointChoice& points) {
  const bool data_only = which == Entries::kData;
  std::fill(points.max_lo.begin(), points.max_lo.end(), INT_MIN);
  for (const BarrierEntry& entry : entries) {
    if (data_only && !IsData(rows, entry)) {
      continue;
    }
    int32_t& lo = points.max_lo[static_cast<size_t>(entry.hi)];
    // For the figure `needed` a create counts from the beginning of the frame: where its bytes come
    // from is a choice of the placement and not a need of the frame.
    lo = std::max(lo, data_only && entry.create ? -1 : entry.lo);
  }
  return Stab(points);
}

// Where every epoch begins, now that all sources are known. Points were chosen before the placement
// without knowing which buffers would take over bytes. Where that may matter the entries that came
// to nothing are dropped and the points are chosen again, twice: for data alone, which is the
// figure that says what aliasing costs, and for everything. Images always need their change of
// layout, so a frame without buffers in shared memory keeps the points that it has.
void ChooseFinalPoints(const BarrierInputs& in, const PointChoice& points,
                       std::vector<BarrierEntry>& entries, PlanMetrics& metrics) {
  // Only buffers may have taken over nothing after all.
  if (std::any_of(in.classes.begin(), in.classes.end(),
                  [](const MemoryClass& c) { return c.kind == ResourceKind::kBuffer; })) {
    std::erase_if(entries, [&](const BarrierEntry& entry) {
      return entry.create && entry.src_stages == 0 && !in.rows.chains[entry.chain].texture();
    });
    metrics.needed = StabEntries(in.rows, entries, Entries::kData, points);
    StabEntries(in.rows, entries, Entries::kAll, points);
  } else {
    Stab(points);
  }
  if (in.options.barriers == BarrierPlaces::kAtUse) {
    for (const BarrierEntry& entry : entries) {
      points.chosen[static_cast<size_t>(entry.hi)] = 1;
    }
  }
}

}  // namespace

uint32_t ChoosePoints(const BarrierInputs& in, const std::vector<BarrierEntry>& entries,
                      const PointChoice& points) {
  // Which buffers take over bytes of earlier frames is not known yet; with nothing carried, none
  // do.
  const bool carried = std::any_of(in.classes.begin(), in.classes.end(), [](const MemoryClass& c) {
    return c.kind == ResourceKind::kBuffer && !c.ledger.empty();
  });
  // Buffers that take over bytes of an earlier frame may need a point anywhere before their first
  // use; that is the weakest demand, since the ledger gives the real one.
  for (size_t i = 0; carried && i < entries.size(); ++i) {
    const BarrierEntry& entry = entries[i];
    if (entry.create && !in.rows.chains[entry.chain].texture()) {
      int32_t& lo = points.max_lo[static_cast<size_t>(entry.hi)];
      lo = std::max(lo, -1);
    }
  }
  return Stab(points);
}

// Any point in an entry's interval would do. The last one is taken: the later a barrier stands, the
// more work of other passes the device can do before it has to wait.
void EmitEntries(const BarrierInputs& in, const PointChoice& points, EmitScratch& scratch,
                 PlanBarriers& out, PlanMetrics& metrics) {
  ChooseFinalPoints(in, points, out.entries, metrics);
  const std::vector<uint8_t>& chosen = points.chosen;
  out.points.clear();
  scratch.point_at.resize(chosen.size());
  // Positions before the first point have none; nothing ends there, so the wrapped value is never
  // used.
  for (uint32_t position = 0; position < chosen.size(); ++position) {
    if (chosen[position] != 0) {
      out.points.push_back({.before = position, .first_entry = 0, .entries = 0});
    }
    scratch.point_at[position] = static_cast<uint32_t>(out.points.size()) - 1;
  }
  // A counting sort of the entries by point: count, sum up, place.
  scratch.entry_point.resize(out.entries.size());
  uint32_t layout_changes = 0;
  uint32_t* entry_point = scratch.entry_point.data();
  for (const BarrierEntry& entry : out.entries) {
    const uint32_t point = scratch.point_at[static_cast<size_t>(entry.hi)];
    *entry_point++ = point;
    ++out.points[point].entries;
    layout_changes += entry.old_layout != entry.new_layout ? 1 : 0;
  }
  uint32_t next = 0;
  for (BarrierPoint& point : out.points) {
    point.first_entry = next;
    next += point.entries;
    point.entries = 0;
  }
  out.point_entries.resize(next);
  for (uint32_t entry = 0; entry < next; ++entry) {
    BarrierPoint& point = out.points[scratch.entry_point[entry]];
    out.point_entries[point.first_entry + point.entries++] = entry;
  }
  metrics.commands = static_cast<uint32_t>(out.points.size());
  metrics.entries = next;
  metrics.layout_changes = layout_changes;
}

}  // namespace kiln::graph
