// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/metrics.h"

#include <algorithm>
#include <numeric>

namespace kiln::graph {
namespace {

// Requires: the load is that of SplitEpochs unless both kinds exist.
// Peaks are sums over changes: each chain adds its size where its life begins and takes it away
// behind its end. Differences are unsigned and wrap, and the running sum is right again.
void MeasureMemory(const Declarations& rows, const Plan& plan, ResourceKind kind, EpochLoad& load,
                   MemoryFigures& figures) {
  figures = {.no_reuse = 0,
             .peak_live = 0,
             .peak_epoch = 0,
             .allocated = figures.allocated,
             .committed = 0};
  size_t own = 0;
  for (const MemoryClass& memory_class : plan.next.classes) {
    if (memory_class.kind == kind) {
      ++own;
      figures.committed = std::accumulate(memory_class.blocks.begin(), memory_class.blocks.end(),
                                          figures.committed);
    }
  }
  if (own == 0) {
    return;
  }
  // If there is one kind of memory only, the figures of all are those of the kind, and nothing has
  // to be computed.
  if (own == plan.next.classes.size()) {  // what holds for all
    figures.no_reuse = load.starts.back();
    figures.peak_live = plan.metrics.all.peak_live;
    figures.peak_epoch = plan.metrics.all.peak_epoch;
    return;
  }
  std::vector<uint64_t>& live = load.starts;
  std::vector<uint64_t>& held = load.stops;
  live.assign(plan.device_passes() + 1, 0);
  held.assign(plan.device_passes() + 1, 0);
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    const PlanChain& chain = plan.chains[i];
    if (chain.place != Place::kPacked || rows.chains[i].kind != kind) {
      continue;
    }
    figures.no_reuse += chain.size;
    live[static_cast<size_t>(chain.first)] += chain.size;
    live[static_cast<size_t>(chain.last) + 1] -= chain.size;
    held[chain.epoch_first] += chain.size;
    held[chain.epoch_last + 1] -= chain.size;
  }
  const auto peak = [](const std::vector<uint64_t>& changes) {
    uint64_t sum = 0;
    uint64_t largest = 0;
    for (const uint64_t change : changes) {
      sum += change;
      largest = std::max(largest, sum);
    }
    return largest;
  };
  figures.peak_live = peak(live);
  figures.peak_epoch = peak(held);
}

}  // namespace

// Called after all other steps, since it reads what they left in the plan and changes nothing that
// a barrier or a placement depends on.
void Measure(const MetricsInputs& in, EpochLoad& load, Plan& plan) {
  PlanMetrics& metrics = plan.metrics;
  MeasureMemory(in.rows, plan, ResourceKind::kTexture, load, metrics.images);
  MeasureMemory(in.rows, plan, ResourceKind::kBuffer, load, metrics.buffers);
  metrics.all.no_reuse = metrics.images.no_reuse + metrics.buffers.no_reuse;
  metrics.all.committed = metrics.images.committed + metrics.buffers.committed;
  metrics.temporal_bytes = 0;
  metrics.dedicated_bytes = 0;
  for (size_t i = 0; i < plan.chains.size() && in.any_kept; ++i) {
    const PlanChain& chain = plan.chains[i];
    const bool kept = chain.place == Place::kTemporal || chain.place == Place::kHistory;
    metrics.temporal_bytes += kept ? chain.size : 0;
    metrics.dedicated_bytes += chain.place == Place::kDedicated ? chain.size : 0;
  }
  metrics.chain = 0;
  for (const PlanPass& pass : plan.order) {
    metrics.chain = std::max(metrics.chain, in.states[pass.pass].level);
  }
  metrics.culled = static_cast<uint32_t>(plan.culled.size());
  // How many passes may run before the first wait for the outside: the larger, the less the frame
  // depends on when that comes.
  metrics.before_wait =
      in.waits.empty() ? plan.device_passes() : static_cast<uint32_t>(in.waits.front().position);
}

}  // namespace kiln::graph
