// SPDX-License-Identifier: MIT
// Submissions: a new batch before a pass that waits and after a pass that signals.
// See spec/graph 6.11
#include <algorithm>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

struct PlacedUse {
  int32_t position;
  uint32_t use;
};

void SortUses(std::vector<PlacedUse>& uses) {
  std::stable_sort(uses.begin(), uses.end(),
                   [](const PlacedUse& a, const PlacedUse& b) { return a.position < b.position; });
}

// The chain that an acquire belongs to.
int32_t AcquirePosition(const Planning& planning, uint32_t use) {
  for (uint32_t i = 0; i < planning.rows.chains.size(); ++i) {
    if (planning.rows.chains[i].acquire == use) {
      return planning.plan.chains[i].first;
    }
  }
  return -1;
}

int32_t PositionOf(const Planning& planning, uint32_t use) {
  const SemaphoreRow& row = planning.rows.semaphore_uses[use];
  return row.pass == kNone ? AcquirePosition(planning, use) : planning.plan.positions[row.pass];
}

}  // namespace

void CollectWaits(Planning& planning) {
  PlanningScratch& scratch = planning.scratch;
  scratch.waits.clear();
  for (uint32_t i = 0; i < planning.rows.semaphore_uses.size(); ++i) {
    const int32_t position = PositionOf(planning, i);
    const SemaphoreRow& use = planning.rows.semaphore_uses[i];
    if (use.wait && scratch.external[i] != 0 && position >= 0) {
      scratch.waits.push_back({.position = position, .stages = use.stages});
    }
  }
  std::ranges::sort(scratch.waits, {}, &ExternalWait::position);
  Stages stages = 0;
  for (ExternalWait& wait : scratch.waits) {
    stages |= wait.stages;
    wait.stages = stages;
  }
}

void MakeBatches(Planning& planning) {
  Plan& plan = planning.plan;
  plan.batches.clear();
  plan.waits.clear();
  plan.signals.clear();
  if (plan.device_passes() == 0) {
    return;
  }
  std::vector<PlacedUse> waits;
  std::vector<PlacedUse> signals;
  for (uint32_t i = 0; i < planning.rows.semaphore_uses.size(); ++i) {
    const int32_t position = PositionOf(planning, i);
    if (position >= 0) {
      (planning.rows.semaphore_uses[i].wait ? waits : signals).push_back({position, i});
    }
  }
  SortUses(waits);
  SortUses(signals);
  size_t wait = 0;
  size_t signal = 0;
  const auto end = static_cast<int32_t>(plan.device_passes());
  for (int32_t first = 0; first < end;) {
    Batch batch{.first = static_cast<uint32_t>(first),
                .last = 0,
                .first_wait = static_cast<uint32_t>(plan.waits.size()),
                .waits = 0,
                .first_signal = static_cast<uint32_t>(plan.signals.size()),
                .signals = 0};
    for (; wait < waits.size() && waits[wait].position == first; ++wait) {
      plan.waits.push_back(waits[wait].use);
      ++batch.waits;
    }
    int32_t last = end - 1;
    last = wait < waits.size() ? std::min(last, waits[wait].position - 1) : last;
    last = signal < signals.size() ? std::min(last, signals[signal].position) : last;
    for (; signal < signals.size() && signals[signal].position == last; ++signal) {
      plan.signals.push_back(signals[signal].use);
      ++batch.signals;
    }
    batch.last = static_cast<uint32_t>(last);
    for (int32_t position = first; position <= last; ++position) {
      plan.order[plan.host_passes + static_cast<uint32_t>(position)].batch =
          static_cast<uint32_t>(plan.batches.size());
    }
    plan.batches.push_back(batch);
    first = last + 1;
  }
}

}  // namespace kiln::graph
