// SPDX-License-Identifier: MIT
// What planning a frame costs: declaring, planning cold with each effort, a remembered plan, heap
// allocations of steady frames, and how close packing comes to its bound. `--json` prints one
// object with a `gates` member; exit 1 if a gate does not hold. `--only fast|normal` plans 1,000
// passes anew, a few times and nothing else, for who counts instructions. See spec/graph 14
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runtime/graph/planner.h"
#include "tests/bench/measure.h"
#include "tests/support/allocation_count.h"
#include "tests/support/random_frame.h"

namespace kiln::bench {
namespace {

using graph::Carried;
using graph::Effort;
using graph::Graph;
using graph::Plan;
using graph::Planner;
using graph::PlanOptions;

constexpr uint32_t kPasses = 1000;
constexpr int kSteadyFrames = 300;
constexpr int kRounds = 30;

struct Gate {
  const char* name;
  double value;
  double gate;
  bool at_least;
  bool ok() const { return at_least ? value >= gate : value <= gate; }
};

// Time of this thread on a processor: planning waits for nothing, and a frame that is longer than a
// time slice must not pay for what else the machine does.
template <class Work>
double TimeOf(const Work& work) {
  const double start = NanosecondsOf(CLOCK_THREAD_CPUTIME_ID);
  work();
  return NanosecondsOf(CLOCK_THREAD_CPUTIME_ID) - start;
}

// The tenth percentile: what the work costs where nothing else runs meanwhile.
double Undisturbed(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 10];
}

// Compiles and commits one frame.
const Plan& Advance(Planner& planner, const Graph& graph, const PlanOptions& options,
                    Carried& carried, std::vector<uint32_t>& objects) {
  const auto plan = planner.Compile(graph, options, carried);
  if (!plan.ok()) {
    fmt::print(stderr, "{}\n", plan.error().context);
    std::exit(70);
  }
  graph::BindObjects(**plan, carried, objects);
  graph::Commit(**plan, graph.rows().frame, objects, carried);
  return **plan;
}

struct Steady {
  double declare = 0;  // ns per pass, from the third frame on
  double mean = 0;     // ns per pass, with the cold frame
  double hit = 0;      // ns per pass, from the third frame on
  double allocations = 0;
  double accesses = 0;
};

Steady MeasureSteady(const PlanOptions& options) {
  graph::TexelModel model;
  Planner planner(model);
  Graph graph;
  test::TypicalFrame typical = test::MakeTypicalFrame(7, kPasses);
  Carried carried;
  std::vector<uint32_t> objects;
  Steady out;
  std::vector<double> declare;
  std::vector<double> hit;
  double total = 0;
  uint64_t before = 0;
  declare.reserve(kSteadyFrames);
  hit.reserve(kSteadyFrames);
  for (int frame = 0; frame < kSteadyFrames; ++frame) {
    if (frame == 6) {  // what ages in the ledger has settled
      before = test::AllocationCount();
    }
    const double declared = TimeOf([&] { test::Declare(typical, graph); });
    const double planned = TimeOf([&] { Advance(planner, graph, options, carried, objects); });
    total += planned;
    if (frame >= 6) {
      declare.push_back(declared / kPasses);
      hit.push_back(planned / kPasses);
    }
  }
  out.allocations = static_cast<double>(test::AllocationCount() - before) / (kSteadyFrames - 6);
  out.declare = Undisturbed(declare);
  out.hit = Undisturbed(hit);
  out.mean = total / kSteadyFrames / kPasses;
  out.accesses = static_cast<double>(graph.rows().accesses.size());
  return out;
}

// A frame that is planned anew on what a frame alike has left.
class ColdFrame {
 public:
  ColdFrame(const PlanOptions& options, uint32_t passes)
      : options_(options), passes_(passes), typical_(test::MakeTypicalFrame(7, passes)) {}

  void Round() {
    test::Declare(typical_, graph_);
    planner_.Forget();
    times_.push_back(TimeOf([&] { Advance(planner_, graph_, options_, carried_, objects_); }) /
                     passes_);
  }
  double NanosecondsPerPass() const { return Undisturbed(times_); }

 private:
  PlanOptions options_;
  uint32_t passes_;
  test::TypicalFrame typical_;
  graph::TexelModel model_;
  Planner planner_{model_};
  Graph graph_;
  Carried carried_;
  std::vector<uint32_t> objects_;
  std::vector<double> times_;
};

struct Cold {
  double fast = 0;
  double normal = 0;
  double large = 0;
};

PlanOptions ColdOptions(Effort effort) { return {.effort = effort, .cull = false}; }

// In turns, so that whatever else the machine does disturbs all of them.
Cold MeasureCold() {
  ColdFrame fast(ColdOptions(Effort::kFast), kPasses);
  ColdFrame normal(ColdOptions(Effort::kNormal), kPasses);
  ColdFrame large(ColdOptions(Effort::kFast), 10 * kPasses);
  for (int round = 0; round < kRounds; ++round) {
    fast.Round();
    normal.Round();
    large.Round();
    fast.Round();
  }
  return {.fast = fast.NanosecondsPerPass(),
          .normal = normal.NanosecondsPerPass(),
          .large = large.NanosecondsPerPass()};
}

struct Efficiency {
  double mean = 1;  // of the worst class
  double worst = 1;
  double added = 0;  // mean of the worst class
};

Efficiency MeasureEfficiency() {
  struct Class {
    uint32_t passes;
    uint32_t frames;
  };
  constexpr Class kClasses[] = {{15, 60}, {40, 60}, {100, 40}, {250, 12}};
  Efficiency out;
  graph::TexelModel model;
  for (const Class& row : kClasses) {
    double sum = 0;
    double added = 0;
    for (uint32_t frame = 0; frame < row.frames; ++frame) {
      Graph graph;
      test::TypicalFrame typical = test::MakeTypicalFrame(row.passes * 1000 + frame, row.passes);
      test::Declare(typical, graph);
      Planner planner(model);
      Carried carried;
      std::vector<uint32_t> objects;
      const Plan& plan = Advance(planner, graph, {.cull = false}, carried, objects);
      sum += plan.metrics.efficiency();
      added += plan.metrics.alias_added();
      out.worst = std::min(out.worst, plan.metrics.efficiency());
    }
    out.mean = std::min(out.mean, sum / row.frames);
    out.added = std::max(out.added, added / row.frames);
  }
  return out;
}

void Print(std::string_view format, const Steady& steady, const std::vector<Gate>& gates) {
  if (format != "--json") {
    fmt::print("{} passes, {:.0f} accesses\n", kPasses, steady.accesses);
    for (const Gate& gate : gates) {
      fmt::print("{:<28} {:>9.3f}  gate {:>8.2f}  {}\n", gate.name, gate.value, gate.gate,
                 gate.ok() ? "ok" : "MISSED");
    }
    return;
  }
  std::string text;
  for (const Gate& gate : gates) {
    text += fmt::format("{}\"{}\": {{\"value\": {:.4f}, \"gate\": {:.2f}, \"ok\": {}}}",
                        text.empty() ? "" : ", ", gate.name, gate.value, gate.gate, gate.ok());
  }
  fmt::print("{{\"bench\": \"graph\", \"passes\": {}, \"accesses\": {:.0f}, \"gates\": {{{}}}}}\n",
             kPasses, steady.accesses, text);
}

int MeasureOnly(Effort effort) {
  ColdFrame frame(ColdOptions(effort), kPasses);
  for (int round = 0; round < kRounds; ++round) {
    frame.Round();
  }
  fmt::print("{} rounds, {:.0f} ns per pass\n", kRounds, frame.NanosecondsPerPass());
  return 0;
}

int Main(int argc, char** argv) {
  const std::string_view format = argc > 1 ? argv[1] : "";
  const std::string_view only = argc == 3 && format == "--only" ? argv[2] : "";
  if (only == "fast" || only == "normal") {
    return MeasureOnly(only == "fast" ? Effort::kFast : Effort::kNormal);
  }
  if (argc > 2 || (argc == 2 && format != "--json")) {
    fmt::print(stderr, "usage: graph_bench [--json | --only fast|normal]\n");
    return 2;
  }
  const Steady steady = MeasureSteady(ColdOptions(Effort::kFast));
  const Cold cold = MeasureCold();
  const Efficiency efficiency = MeasureEfficiency();
  const std::vector<Gate> gates = {
      {"steady_mean_ns_per_pass", steady.mean, 500, false},
      {"remembered_ns_per_pass", steady.hit, 100, false},
      {"steady_allocations", steady.allocations, 0, false},
      {"declare_ns_per_pass", steady.declare, 300, false},
      {"cold_fast_ns_per_pass", cold.fast, 500, false},
      {"cold_normal_ns_per_pass", cold.normal, 1500, false},
      {"cold_fast_10000_ratio", cold.large / cold.fast, 2, false},
      {"efficiency_mean", efficiency.mean, 0.95, true},
      {"efficiency_worst", efficiency.worst, 0.85, true},
      {"alias_added_mean", efficiency.added, 1.5, false},
  };
  Print(format, steady, gates);
  return std::all_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.ok(); }) ? 0
                                                                                             : 1;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) { return kiln::bench::Main(argc, argv); }
