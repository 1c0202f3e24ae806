// SPDX-License-Identifier: MIT
// The steps of spec/graph 6.1 in their order. Each step is a function of tables to tables; what a
// step needs from an earlier one is an argument, so the order can be read here and a step can be
// tested alone. All tables are kept from frame to frame and cleared, never freed.
#include "runtime/graph/plan/make_plan.h"

#include <algorithm>
#include <cmath>

#include "runtime/graph/memory/measure_chains.h"
#include "runtime/graph/plan/carry.h"
#include "runtime/graph/plan/cycle.h"
#include "runtime/graph/plan/dependencies.h"
#include "runtime/graph/plan/metrics.h"
#include "runtime/graph/planner.h"

namespace kiln::graph {
namespace {

// Adds the time since the last call, per pass.
class StepClock {
 public:
  explicit StepClock(size_t passes) : passes_(static_cast<double>(std::max<size_t>(passes, 1))) {}
  void Add(TimeSeries& series) {
    const Instant now = Now();
    series.Add(NanosecondsBetween(last_, now) / passes_);
    last_ = now;
  }

 private:
  double passes_;
  Instant last_ = Now();
};

// One frame on its way through the steps. This is the place that knows their order.
class PlanMaker {
 public:
  PlanMaker(const PlanInputs& in, PlanMemory& memory, Plan& plan, std::vector<GraphError>& errors)
      : in_(in), rows_(in.rows), memory_(memory), plan_(plan), errors_(errors) {}

  // False: the frame breaks a rule, which is reported.
  // Errors end planning at the step that finds them. What that step left in the plan is overwritten
  // by the next frame.
  bool Make(PlannerTimes& times) {
    GroupAccesses(rows_, in_.options, memory_.facts, plan_);
    Validate(rows_, plan_, memory_.facts, memory_.validate, errors_);
    if (!errors_.empty()) {
      return false;
    }
    Cull(rows_, plan_, in_.options, memory_.reasons, plan_);
    if (!DeadPassesAreOrdered()) {
      return false;
    }
    StepClock clock(rows_.passes.size());
    if (!OrderPasses()) {
      return false;
    }
    clock.Add(times.order);
    CollectUses(
        {.rows = rows_, .facts = memory_.facts, .accesses = plan_, .passes = plan_, .order = plan_},
        memory_.uses, plan_.chain_accesses);
    // The next frame starts from what the frames before left. It becomes the carried state only
    // when this plan is executed (spec/graph 7.7).
    plan_.next.classes = in_.carried.classes;
    MeasuredChains measured{
        .chains = plan_.chains, .classes = plan_.next.classes, .packed = memory_.packed};
    if (!MeasureChains(rows_, memory_.uses, in_.model, measured, errors_)) {
      return false;
    }
    any_kept_ = measured.any_kept;
    Synchronize(times, clock);
    Measure({.rows = rows_,
             .states = memory_.edges.states,
             .waits = memory_.waits,
             .any_kept = any_kept_},
            memory_.epochs.load, plan_);
    LeaveCarried(memory_.finals, plan_, memory_.digest_bytes);
    return true;
  }

 private:
  EdgeInputs EdgesIn() const {
    return {.rows = rows_,
            .facts = memory_.facts,
            .layouts = plan_.layouts,
            .semaphore_edges = in_.semaphores.edges};
  }

  // A declaration that no order satisfies is wrong even where nothing needs it.
  bool DeadPassesAreOrdered() {
    if (plan_.culled.empty()) {
      return true;
    }
    const std::vector<uint8_t> all(plan_.live.size(), 1);
    MakeEdges(EdgesIn(), all, memory_.edges);
    return !AnyCycle(rows_, all, memory_.edges, errors_);
  }

  // An order that cannot be completed is a cycle, which is told with its passes (spec/graph 6.5.4).
  bool OrderPasses() {
    MakeEdges(EdgesIn(), plan_.live, memory_.edges);
    const ScheduleFacts scheduled = Schedule({.rows = rows_,
                                              .options = in_.options,
                                              .facts = memory_.facts,
                                              .accesses = plan_,
                                              .passes = plan_,
                                              .reasons = memory_.reasons,
                                              .external = in_.semaphores.external},
                                             memory_.edges, memory_.schedule, plan_);
    if (!scheduled.complete) {
      ReportCycle(rows_, plan_.live, memory_.edges, errors_);
      return false;
    }
    plan_.metrics.def_distance = scheduled.def_distance;
    plan_.metrics.declared_order_valid = memory_.edges.declared_order_valid;
    return true;
  }

  // Dependencies, points, memory and barriers, which hang together: points are chosen for the
  // dependencies that are known, memory is shared between points, and what is shared adds
  // dependencies that end at the points. Going around once is enough, because sharing is allowed
  // only between points: the dependencies that it adds find a point in their interval already.
  void Synchronize(PlannerTimes& times, StepClock& clock) {
    PlanMetrics& metrics = plan_.metrics;
    const uint32_t positions = plan_.device_passes();
    BindSlots(
        {.rows = rows_, .carried = in_.carried, .follows = in_.follows, .any_kept = any_kept_},
        plan_.chains, plan_.next.slots);
    CollectWaits({.rows = rows_,
                  .external = in_.semaphores.external,
                  .order = plan_,
                  .chains = plan_.chains},
                 memory_.waits);
    Dependencies dependencies{.entries = plan_.entries,
                              .max_lo = memory_.max_lo,
                              .entry_begin = memory_.entry_begin,
                              .finals = memory_.finals};
    WalkCells({.rows = rows_,
               .uses = memory_.uses,
               .waits = memory_.waits,
               .carried = in_.carried.slots,
               .slots = plan_.next.slots,
               .positions = positions},
              plan_, dependencies);
    metrics.merged_reads = dependencies.merged_reads;
    const BarrierInputs barriers{
        .rows = rows_, .options = in_.options, .classes = plan_.next.classes};
    const PointChoice points{.max_lo = memory_.max_lo, .chosen = memory_.chosen};
    metrics.needed = ChoosePoints(barriers, plan_.entries, points);
    clock.Add(times.points);
    PlaceInEpochs();
    clock.Add(times.placement);
    RunLedger({.packed = memory_.packed,
               .tops = memory_.tops,
               .chains = plan_.chains,
               .positions = positions},
              memory_.ledger,
              {.classes = plan_.next.classes,
               .alias_sources = plan_.alias_sources,
               .dependencies = dependencies});
    EmitEntries(barriers, points, memory_.emit, plan_, metrics);
    MakeBatches(rows_, plan_.chains, plan_, plan_);
    clock.Add(times.barriers);
  }

  void PlaceInEpochs() {
    PlanMetrics& metrics = plan_.metrics;
    // A share of the commands that the frame needs anyway, rounded up, so that small frames may
    // spend one too (spec/graph 6.8.1).
    const double budget = std::ceil(in_.options.alias_commands * metrics.needed);
    SplitEpochs({.packed = memory_.packed,
                 .classes = plan_.next.classes.size(),
                 .positions = plan_.device_passes(),
                 .budget = static_cast<uint32_t>(budget)},
                memory_.chosen, memory_.epochs);
    metrics.all.peak_live = memory_.epochs.load.peak_live;
    metrics.all.peak_epoch = memory_.epochs.peak_epoch;
    PlaceChains({.rows = rows_, .options = in_.options, .epochs = memory_.epochs.of_position},
                memory_.place,
                {.packed = memory_.packed,
                 .chains = plan_.chains,
                 .classes = plan_.next.classes,
                 .tops = memory_.tops,
                 .metrics = metrics});
  }

  const PlanInputs& in_;
  const Declarations& rows_;
  PlanMemory& memory_;
  Plan& plan_;
  std::vector<GraphError>& errors_;
  bool any_kept_ = false;  // some chain lies in an object that outlives the frame
};

}  // namespace

// Requires rows without declaration errors. On false the plan is not to be used, and `errors` says
// why.
bool MakePlan(const PlanInputs& in, PlanMemory& memory, PlannerTimes& times, Plan& plan,
              std::vector<GraphError>& errors) {
  return PlanMaker(in, memory, plan, errors).Make(times);
}

}  // namespace kiln::graph
