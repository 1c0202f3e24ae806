// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/batches.h"

#include <algorithm>

namespace kiln::graph {
namespace {

struct PlacedUse {
  int32_t position;
  uint32_t use;
};

// Stable, so uses at one position keep the order of their declarations.
void SortUses(std::vector<PlacedUse>& uses) {
  std::stable_sort(uses.begin(), uses.end(),
                   [](const PlacedUse& a, const PlacedUse& b) { return a.position < b.position; });
}

// The first use of the chain that an acquire belongs to.
// Few frames acquire more than one image, so this looks through the chains.
int32_t AcquirePosition(const Declarations& rows, const std::vector<PlanChain>& chains,
                        uint32_t use) {
  for (uint32_t i = 0; i < rows.chains.size(); ++i) {
    if (rows.chains[i].acquire == use) {
      return chains[i].first;
    }
  }
  return -1;
}

int32_t PositionOf(const Declarations& rows, const std::vector<PlanChain>& chains,
                   const PassOrder& order, uint32_t use) {
  const SemaphoreRow& row = rows.semaphore_uses[use];
  return row.pass == kNone ? AcquirePosition(rows, chains, use) : order.positions[row.pass];
}

}  // namespace

// Waits of the frame for the outside, by position, each with the stages of all waits before it:
// behind the last one a dependency has to chain to all of them.
void CollectWaits(const WaitInputs& in, std::vector<ExternalWait>& waits) {
  waits.clear();
  for (uint32_t i = 0; i < in.rows.semaphore_uses.size(); ++i) {
    const int32_t position = PositionOf(in.rows, in.chains, in.order, i);
    const SemaphoreRow& use = in.rows.semaphore_uses[i];
    // A wait inside the frame became an edge; one of a pass that was culled has no position.
    if (use.wait && in.external[i] != 0 && position >= 0) {
      waits.push_back({.position = position, .stages = use.stages});
    }
  }
  std::ranges::sort(waits, {}, &ExternalWait::position);
  Stages stages = 0;
  for (ExternalWait& wait : waits) {
    stages |= wait.stages;
    wait.stages = stages;
  }
}

// Waits and signals of semaphores apply to whole submissions, so the order of passes is cut
// wherever one stands: before a pass that waits, and behind a pass that signals. Everything between
// two cuts is one batch, which is the fewest submissions that keep every semaphore where it was
// declared.
void MakeBatches(const Declarations& rows, const std::vector<PlanChain>& chains, PassOrder& order,
                 PlanBatches& out) {
  out.batches.clear();
  out.waits.clear();
  out.signals.clear();
  if (order.device_passes() == 0) {
    return;
  }
  std::vector<PlacedUse> waits;
  std::vector<PlacedUse> signals;
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const int32_t position = PositionOf(rows, chains, order, i);
    if (position >= 0) {
      (rows.semaphore_uses[i].wait ? waits : signals).push_back({position, i});
    }
  }
  SortUses(waits);
  SortUses(signals);
  // Both lists are walked once, beside the positions: a batch takes the waits of its first
  // position, ends before the next wait and at the first signal, and takes the signals of its last
  // position.
  size_t wait = 0;
  size_t signal = 0;
  const auto end = static_cast<int32_t>(order.device_passes());
  for (int32_t first = 0; first < end;) {
    Batch batch{.first = static_cast<uint32_t>(first),
                .last = 0,
                .first_wait = static_cast<uint32_t>(out.waits.size()),
                .waits = 0,
                .first_signal = static_cast<uint32_t>(out.signals.size()),
                .signals = 0};
    for (; wait < waits.size() && waits[wait].position == first; ++wait) {
      out.waits.push_back(waits[wait].use);
      ++batch.waits;
    }
    // The batch ends before the next pass that waits, and with the next pass that signals,
    // whichever comes first.
    int32_t last = end - 1;
    last = wait < waits.size() ? std::min(last, waits[wait].position - 1) : last;
    last = signal < signals.size() ? std::min(last, signals[signal].position) : last;
    for (; signal < signals.size() && signals[signal].position == last; ++signal) {
      out.signals.push_back(signals[signal].use);
      ++batch.signals;
    }
    batch.last = static_cast<uint32_t>(last);
    for (int32_t position = first; position <= last; ++position) {
      order.order[order.host_passes + static_cast<uint32_t>(position)].batch =
          static_cast<uint32_t>(out.batches.size());
    }
    out.batches.push_back(batch);
    first = last + 1;
  }
}

}  // namespace kiln::graph
