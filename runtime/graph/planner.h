// SPDX-License-Identifier: MIT
// A frame's declarations -> its plan, without touching a GPU: validate, cull, edges, schedule,
// lifetimes, barrier points, placement, barriers, batches. A pure function of declarations,
// options, memory model and carried state; plans of the last few structures are remembered. Spec:
// graph §6
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct PlannerMemory;

struct PlannerStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
};

// One thread. The model outlives it.
class Planner {
 public:
  explicit Planner(MemoryModel& model);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // The plan stays valid until eight other structures were planned.
  // Errors: kInvalidArgument whose reason is the code of the first broken rule and whose context
  // has the messages of all; errors() has them as data. `carried` never changes.
  Result<const Plan*> Compile(const Graph& graph, const PlanOptions& options,
                              const Carried& carried);

  std::span<const GraphError> errors() const { return errors_; }
  const PlannerStats& stats() const { return stats_; }
  // Forgets every plan, as tests and the cold figures of benchmarks need it.
  void Forget();

 private:
  static constexpr size_t kPlans = 8;
  struct Slot {
    Plan plan;
    uint64_t used = 0;  // 0: empty
  };

  Error Failure();

  MemoryModel& model_;
  std::array<Slot, kPlans> slots_;
  std::unique_ptr<PlannerMemory> memory_;
  std::vector<GraphError> errors_;
  PlannerStats stats_;
  uint64_t clock_ = 0;
};

}  // namespace kiln::graph
