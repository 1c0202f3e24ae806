// SPDX-License-Identifier: MIT
#include "runtime/graph/planner.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/planning.h"
#include "runtime/graph/print_plan.h"

namespace kiln::graph {
namespace {

// A declaration that no order satisfies is wrong even where nothing needs it.
bool DeadPassesAreOrdered(Planning& planning) {
  if (planning.plan.culled.empty()) {
    return true;
  }
  const std::vector<uint8_t> live = planning.plan.live;
  planning.plan.live.assign(live.size(), 1);
  MakeEdges(planning);
  const bool cycle = AnyCycle(planning);
  planning.plan.live = live;
  return !cycle;
}

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

bool MakePlan(Planning& planning, PlannerTimes& times) {
  GroupAccesses(planning);
  Validate(planning);
  if (!planning.errors.empty()) {
    return false;
  }
  Cull(planning);
  if (!DeadPassesAreOrdered(planning)) {
    return false;
  }
  StepClock clock(planning.rows.passes.size());
  MakeEdges(planning);
  if (!Schedule(planning)) {
    return false;
  }
  clock.Add(times.order);
  CollectChains(planning);
  if (!MeasureChains(planning)) {
    return false;
  }
  BindSlots(planning);
  CollectWaits(planning);
  WalkCells(planning);
  ChoosePoints(planning);
  clock.Add(times.points);
  SplitEpochs(planning);
  PlaceChains(planning);
  clock.Add(times.placement);
  RunLedger(planning);
  EmitEntries(planning);
  MakeBatches(planning);
  clock.Add(times.barriers);
  Measure(planning);
  LeaveCarried(planning);
  return true;
}

}  // namespace

struct PlannerMemory : PlanningScratch {
  Structure missed;  // of the last miss
  size_t room = 0;   // size of the largest plan so far
};

Planner::Planner(MemoryModel& model) : model_(model), memory_(std::make_unique<PlannerMemory>()) {}
Planner::~Planner() = default;

void Planner::Forget() {
  for (Slot& slot : slots_) {
    slot.used = 0;
  }
  for (Placement& placement : memory_->placements) {
    placement.used = 0;
  }
}

// Reports the cost of a build, in the metrics and as a line.
void Planner::Report(const Graph& graph, const Plan& plan, Instant begin) {
  const auto passes = static_cast<double>(std::max<size_t>(graph.rows().passes.size(), 1));
  times_.declare.Add(NanosecondsBetween(graph.begun(), begin) / passes);
  times_.plan.Add(NanosecondsBetween(begin, Now()) / passes);
  if (debug_.allocations != nullptr) {
    const uint64_t now = debug_.allocations();
    stats_.allocations = counted_ == 0 ? 0 : now - counted_;
    counted_ = now;
  }
  if (debug_.log != nullptr) {
    const BuildCosts costs{
        .hit = stats_.hit, .ns_per_pass = times_.plan.last(), .allocations = stats_.allocations};
    debug_.log(PrintMetricsLine(plan, graph, &costs), debug_.user);
    counted_ = debug_.allocations != nullptr ? debug_.allocations() : 0;  // without the line's own
  }
}

Planner::Slot& Planner::OldestSlot() {
  return *std::min_element(slots_.begin(), slots_.end(),
                           [](const Slot& a, const Slot& b) { return a.used < b.used; });
}

// A plan that is larger than all before it is rarely the last of its size, so the slots that are
// filled next grow with it.
void Planner::MakeRoom(const Plan& plan) {
  const size_t size = plan.order.size() + plan.chain_accesses.size() + plan.entries.size();
  if (size <= memory_->room) {
    return;
  }
  memory_->room = size;
  std::array<Slot*, kPlans> slots;
  std::transform(slots_.begin(), slots_.end(), slots.begin(), [](Slot& slot) { return &slot; });
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot* a, const Slot* b) { return a->used < b->used; });
  for (size_t i = 0; i + 1 < kRoom; ++i) {
    ReserveLike(plan, slots[i]->plan);
  }
}

Error Planner::Failure() {
  std::string context;
  for (const GraphError& error : errors_) {
    context += context.empty() ? "" : "; ";
    context += error.message;
  }
  return {.code = ErrorCode::kInvalidArgument, .context = context, .reason = errors_.front().code};
}

Result<const Plan*> Planner::Compile(const Graph& graph, const PlanOptions& options,
                                     const Carried& carried) {
  const Instant begin = Now();
  errors_.assign(graph.errors().begin(), graph.errors().end());
  if (!errors_.empty()) {
    return Failure();
  }
  Slot& oldest = OldestSlot();
  Planning planning{.rows = graph.rows(),
                    .graph = graph,
                    .options = options,
                    .carried = carried,
                    .model = model_,
                    .scratch = *memory_,
                    .plan = oldest.plan,
                    .errors = errors_};
  ResolveSemaphores(graph.rows(), *memory_);
  const Structure structure = StructureOf(planning);
  for (Slot& slot : slots_) {
    if (slot.used != 0 && slot.plan.structure == structure.all) {
      slot.used = ++clock_;
      ++stats_.hits;
      stats_.hit = true;
      Report(graph, slot.plan, begin);
      return &slot.plan;
    }
  }
  ++stats_.misses;
  stats_.hit = false;
  stats_.difference = FirstDifference(structure, memory_->missed);
  memory_->missed = structure;
  const uint64_t known = memory_->placement_hits;
  oldest.used = 0;
  oldest.plan.structure = structure.all;
  oldest.plan.options = options;
  if (!MakePlan(planning, times_)) {
    return Failure();
  }
  stats_.placement_hits += memory_->placement_hits - known;
  oldest.used = ++clock_;
  MakeRoom(oldest.plan);
  Report(graph, oldest.plan, begin);
  return &oldest.plan;
}

}  // namespace kiln::graph
