// SPDX-License-Identifier: MIT
// A frame's declarations -> its plan, without touching a GPU: validate, cull, edges, schedule,
// lifetimes, barrier points, placement, barriers, batches. A pure function of declarations,
// options, memory model and carried state; plans of the last few structures are remembered.
// See spec/graph 6
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/memory_model.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/time_series.h"

namespace kiln::graph {

struct PlannerMemory;

struct PlannerStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t placement_hits = 0;  // of the misses: placements of memory that were known
  const char* difference = "";  // first array in which the last miss differed from the one before
  uint64_t allocations = 0;     // on the heap since the build before, if somebody counts them
  bool hit = false;             // the last one
};

// Per pass, in nanoseconds, of the last thousand builds. Declaring is the time from BeginFrame to
// Compile; the steps of planning are those of misses.
struct PlannerTimes {
  TimeSeries declare;
  TimeSeries plan;   // all of Compile
  TimeSeries order;  // edges and schedule
  TimeSeries points;
  TimeSeries placement;
  TimeSeries barriers;
};

// What is told about every build, where it is wanted.
struct PlannerDebug {
  void (*log)(std::string_view line, void* user) = nullptr;  // one line per build
  void* user = nullptr;
  uint64_t (*allocations)() = nullptr;  // heap allocations of the program so far
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
  const PlannerTimes& times() const { return times_; }
  void SetDebug(const PlannerDebug& debug) { debug_ = debug; }
  // Forgets every plan, as tests and the cold figures of benchmarks need it.
  void Forget();

 private:
  static constexpr size_t kPlans = 8;
  static constexpr size_t kRoom = 4;  // plans that a larger one makes room for, itself one of them
  struct Slot {
    Plan plan;
    uint64_t used = 0;  // 0: empty
  };

  Error Failure();
  Slot& OldestSlot();
  void MakeRoom(const Plan& plan);
  void Report(const Graph& graph, const Plan& plan, Instant begin);

  MemoryModel& model_;
  std::array<Slot, kPlans> slots_;
  std::unique_ptr<PlannerMemory> memory_;
  std::vector<GraphError> errors_;
  PlannerStats stats_;
  PlannerTimes times_;
  PlannerDebug debug_;
  uint64_t counted_ = 0;  // allocations at the last build
  uint64_t clock_ = 0;
};

}  // namespace kiln::graph
