// SPDX-License-Identifier: MIT
#include "runtime/graph/planner.h"

#include <algorithm>

#include "runtime/graph/plan/make_plan.h"
#include "runtime/graph/plan/structure.h"
#include "runtime/graph/print_plan.h"

namespace kiln::graph {

struct PlannerMemory {
  PlanMemory steps;
  SemaphoreLinks semaphores;
  std::vector<SemaphoreUseBytes> use_bytes;
  Structure missed;  // of the last miss
  size_t room = 0;   // size of the largest plan so far
};

Planner::Planner(MemoryModel& model) : model_(model), memory_(std::make_unique<PlannerMemory>()) {}
Planner::~Planner() = default;

// Plans stay where they are and only count as unused: their arrays keep their memory.
void Planner::Forget() {
  for (Slot& slot : slots_) {
    slot.used = 0;
  }
  // Placements are forgotten as well, so that the next plan costs what a first one costs.
  memory_->steps.place.memo.Forget();
}

// Reports the cost of a build, in the metrics and as a line.
void Planner::Report(const Graph& graph, const Plan& plan, Instant begin) {
  const auto passes = static_cast<double>(std::max<size_t>(graph.rows().passes.size(), 1));
  // Per pass, because frames of different sizes are compared by it.
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

// Unused slots have zero and are therefore the oldest.
Planner::Slot& Planner::OldestSlot() {
  return *std::min_element(slots_.begin(), slots_.end(),
                           [](const Slot& a, const Slot& b) { return a.used < b.used; });
}

// A plan that is larger than all before it is rarely the last of its size, so the slots that are
// filled next grow with it.
void Planner::MakeRoom(const Plan& plan) {
  const size_t size = plan.order.size() + plan.chain_accesses.size() + plan.entries.size();
  // Reserving happens on growth only, so a steady program does not allocate.
  if (size <= memory_->room) {
    return;
  }
  memory_->room = size;
  std::array<Slot*, kPlans> slots;
  std::transform(slots_.begin(), slots_.end(), slots.begin(), [](Slot& slot) { return &slot; });
  // Stable, so that equal ages keep the order of slots and a run is repeatable.
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot* a, const Slot* b) { return a->used < b->used; });
  for (size_t i = 0; i + 1 < kRoom; ++i) {
    ReserveLike(plan, slots[i]->plan);
  }
}

// All messages together, since whoever declares a frame wrongly mostly does so in several places;
// the reason is the first code, which tests and callers compare.
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
  // A frame with errors is not planned: its rows may refer to things that are not there.
  errors_.assign(graph.errors().begin(), graph.errors().end());
  if (!errors_.empty()) {
    return Failure();
  }
  // The slot is chosen before anything is planned. Only a miss overwrites it.
  Slot& oldest = OldestSlot();
  const PlanInputs inputs{.rows = graph.rows(),
                          .semaphores = memory_->semaphores,
                          .options = options,
                          .carried = carried,
                          // Whether the carried state is that of the frame just before: only then
                          // may histories and slots go on.
                          .follows = carried.frame == graph.previous().frame,
                          .model = model_};
  // Before the hash, because the links decide the order of passes.
  ResolveSemaphores(graph.rows(), memory_->semaphores);
  // Everything that a plan depends on is hashed. Two frames with one hash get one plan, so a field
  // that is missing there would be a wrong plan, and one that is too much is only a miss.
  const Structure structure = StructureOf({.rows = graph.rows(),
                                           .semaphores = memory_->semaphores,
                                           .options = options,
                                           .model = model_.identity(),
                                           .carried = carried.digest,
                                           .follows = inputs.follows},
                                          memory_->use_bytes);
  // Eight slots are searched in a row; their order says nothing, as at most one of them matches.
  for (Slot& slot : slots_) {
    if (slot.used != 0 && slot.plan.structure == structure.all) {
      // The time of a slot is that of its last use.
      slot.used = ++clock_;
      ++stats_.hits;
      stats_.hit = true;
      Report(graph, slot.plan, begin);
      return &slot.plan;
    }
  }
  ++stats_.misses;
  stats_.hit = false;
  // Tells why a frame that looks the same is planned again.
  stats_.difference = FirstDifference(structure, memory_->missed);
  memory_->missed = structure;
  const uint64_t known = memory_->steps.place.memo.hits();
  // A plan that fails half way must not be found again.
  oldest.used = 0;
  oldest.plan.structure = structure.all;
  oldest.plan.options = options;
  if (!MakePlan(inputs, memory_->steps, times_, oldest.plan, errors_)) {
    return Failure();
  }
  stats_.placement_hits += memory_->steps.place.memo.hits() - known;
  oldest.used = ++clock_;
  MakeRoom(oldest.plan);
  Report(graph, oldest.plan, begin);
  return &oldest.plan;
}

}  // namespace kiln::graph
