// SPDX-License-Identifier: MIT
// The demo of examples/demo end to end: every allowed variant cold into durable SQLite, again, in a
// new process, after touching one function, after touching one setting; beside the floor of the
// same run, which is putting the same bytes into the same stores without building anything.
//   end_to_end_bench [--json] [--rounds N] [--again N]
//   end_to_end_bench --only floor|compile|cold [--rounds N]     for profilers
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/base/check.h"
#include "compiler/base/test_directory.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "server/compile/batch/batch_points.h"
#include "tests/bench/durable_engine.h"
#include "tests/bench/measure.h"
#include "tests/support/demo_project.h"

namespace kiln::bench {
namespace {

constexpr const char* kTouchedFunction = "grazing";
constexpr double kFloorFactor = 1.5;  // of the floor, beside the time of compiling
constexpr double kKnownOfFloor = 0.15;

struct Cost {
  double wall_ms = 0, cpu_ms = 0;
};

double MillisecondsOf(clockid_t clock) { return NanosecondsOf(clock) * 1e-6; }

// Wall and CPU of all threads.
template <class Work>
Cost Timed(Work work) {
  const double wall = MillisecondsOf(CLOCK_MONOTONIC);
  const double cpu = MillisecondsOf(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {.wall_ms = MillisecondsOf(CLOCK_MONOTONIC) - wall,
          .cpu_ms = MillisecondsOf(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

// What one build of the whole demo came to.
struct Row {
  Cost cost;
  compile::BatchProgress progress;
  EngineCounts counts;  // that it added
};

Row BuildAll(DurableEngine& engine, const compile::BatchRequest& request) {
  Row row;
  const EngineCounts before = engine.counts();
  row.cost = Timed([&] { row.progress = engine.Build(request); });
  row.counts = engine.counts() - before;
  return row;
}

// A program of the demo with the points to build.
struct LinkedPoints {
  const compile::BatchProgram* program = nullptr;
  Diagnosed<driver::LinkedProgram> linked;
  compile::BatchPoints points;
};

LinkedPoints LinkAndCount(const compile::BatchRequest& request, size_t number) {
  SystemClock clock;
  LinkedPoints all{.program = &request.programs[number], .linked = {}, .points = {}};
  std::vector<SourceFile> files;
  for (const compile::Source& source : all.program->program.sources) {
    files.emplace_back(source.path, *source.text);
  }
  all.linked = driver::LinkSources(files, all.program->program.pipeline);
  KILN_CHECK(all.linked.ok());
  Result<compile::BatchPoints> points = compile::PointsOf(
      *all.linked.value, all.program->space, {.results = request.budget.results}, clock);
  KILN_CHECK(points.ok());
  all.points = std::move(points).value();
  return all;
}

void BuildPoints(const LinkedPoints& all, driver::VariantAssembler& assembler) {
  resolve::OptionValues values;
  std::vector<Diagnostic> diagnostics;
  for (size_t row = 0; row < all.points.points.size(); ++row) {
    const compile::BatchPoint point = all.points.points.At(row);
    std::vector<resolve::OptionSetting> settings = all.program->program.options;
    settings.insert(settings.end(), point.options.begin(), point.options.end());
    KILN_CHECK(resolve::CheckOptions(all.linked.value->program, settings, values, diagnostics));
    if (!assembler.Find(values).has_value()) {
      KILN_CHECK(assembler.Build(values).ok, "a variant of the demo fails");
    }
  }
}

// Parsing, linking, counting and assembling: the whole of a cold build but keys and stores.
Cost Compile(const compile::BatchRequest& request) {
  return Timed([&] {
    for (size_t i = 0; i < request.programs.size(); ++i) {
      const LinkedPoints all = LinkAndCount(request, i);
      driver::VariantAssembler assembler(*all.linked.value, all.program->program.entries,
                                         all.program->targets[0].target);
      BuildPoints(all, assembler);
    }
  });
}

// How many regions of other functions are lowered again after an edit of `function`, and how many
// of its own, when every variant is built before and after.
struct Lowered {
  size_t own = 0, others = 0;
};

Lowered LoweredByEdit(const compile::BatchRequest& before, const compile::BatchRequest& after,
                      std::string_view function) {
  Lowered lowered;
  for (size_t i = 0; i < before.programs.size(); ++i) {
    const LinkedPoints first = LinkAndCount(before, i);
    const LinkedPoints second = LinkAndCount(after, i);
    const compile::BatchProgram& program = before.programs[i];
    driver::VariantAssembler assembler(*first.linked.value, program.program.entries,
                                       program.targets[0].target);
    BuildPoints(first, assembler);
    driver::VariantAssembler next(*second.linked.value, program.program.entries,
                                  program.targets[0].target, std::move(assembler));
    BuildPoints(second, next);
    for (const std::string& name : next.lowered()) {
      ++(name == function ? lowered.own : lowered.others);
    }
  }
  return lowered;
}

struct Round {
  Cost floor, compile;
  Row cold, warm, reopened, function, setting;
};

struct Projects {
  compile::BatchRequest original, function, setting;
};

Round RunRound(const Projects& projects, const Recording& recording, uint32_t again) {
  Round round;
  {
    const TestDirectory directory;
    DurableEngine engine(directory.path(), nullptr);
    round.floor = Timed([&] { engine.Put(recording); });
  }
  round.compile = Compile(projects.original);
  const TestDirectory directory;
  {
    DurableEngine engine(directory.path(), nullptr);
    round.cold = BuildAll(engine, projects.original);
    for (uint32_t i = 0; i < again; ++i) {
      round.warm = BuildAll(engine, projects.original);
    }
    round.function = BuildAll(engine, projects.function);
    round.setting = BuildAll(engine, projects.setting);
  }
  DurableEngine engine(directory.path(), nullptr);
  round.reopened = BuildAll(engine, projects.original);
  return round;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class Of>
double MedianOf(const std::vector<Round>& rounds, Of of) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const Round& round : rounds) {
    values.push_back(of(round));
  }
  return Median(std::move(values));
}

struct NamedRow {
  const char* name;
  const char* title;
  Row Round::*row;
};
constexpr std::array kRows = {
    NamedRow{"cold", "cold", &Round::cold},
    NamedRow{"warm", "again", &Round::warm},
    NamedRow{"reopened", "again, new process", &Round::reopened},
    NamedRow{"function_touched", "one function touched", &Round::function},
    NamedRow{"setting_touched", "one setting touched", &Round::setting},
};

Cost CostOf(const std::vector<Round>& rounds, Cost Round::*part) {
  return {.wall_ms = MedianOf(rounds, [&](const Round& r) { return (r.*part).wall_ms; }),
          .cpu_ms = MedianOf(rounds, [&](const Round& r) { return (r.*part).cpu_ms; })};
}

Cost CostOf(const std::vector<Round>& rounds, Row Round::*row) {
  return {.wall_ms = MedianOf(rounds, [&](const Round& r) { return (r.*row).cost.wall_ms; }),
          .cpu_ms = MedianOf(rounds, [&](const Round& r) { return (r.*row).cost.cpu_ms; })};
}

nlohmann::ordered_json Json(const Cost& cost) {
  return {{"wall_ms", cost.wall_ms}, {"cpu_ms", cost.cpu_ms}};
}

nlohmann::ordered_json Json(const Cost& cost, const Row& row) {
  nlohmann::ordered_json json = Json(cost);
  json.update({{"variants", row.progress.variants_served},
               {"results", row.progress.results_done},
               {"compiled", row.progress.compiled},
               {"from_memory", row.progress.hit_memory},
               {"from_file", row.progress.hit_local},
               {"shared", row.progress.shared},
               {"modules_distinct", row.progress.code_distinct},
               {"sources_parsed", row.counts.parsed},
               {"programs_linked", row.counts.linked},
               {"regions_lowered", row.counts.regions_lowered},
               {"modules_written", row.counts.modules_written}});
  return json;
}

nlohmann::ordered_json Gate(double value, double gate, bool ok) {
  return {{"value", value}, {"gate", gate}, {"ok", ok}};
}

nlohmann::ordered_json Gates(const std::vector<Round>& rounds, const Lowered& lowered) {
  // Of what a cold build may cost, what it does cost.
  const auto part = [&](double Cost::*of) {
    return MedianOf(rounds, [&](const Round& r) {
      return r.cold.cost.*of / (kFloorFactor * r.floor.*of + r.compile.*of);
    });
  };
  const double cpu = part(&Cost::cpu_ms);
  const double wall = part(&Cost::wall_ms);
  const double known =
      MedianOf(rounds, [](const Round& r) { return r.warm.cost.cpu_ms / r.floor.cpu_ms; });
  const Round& last = rounds.back();
  const auto none = [](uint64_t count) { return Gate(static_cast<double>(count), 0, count == 0); };
  return {{"cold_cpu_of_floor_and_compile", Gate(cpu, 1, cpu <= 1)},
          {"cold_wall_of_floor_and_compile", Gate(wall, 1, wall <= 1)},
          {"again_cpu_of_floor", Gate(known, kKnownOfFloor, known <= kKnownOfFloor)},
          {"function_touched_lowered_elsewhere",
           Gate(static_cast<double>(lowered.others), 0, lowered.others == 0)},
          {"setting_touched_lowered", none(last.setting.counts.regions_lowered)},
          {"setting_touched_modules_written", none(last.setting.counts.modules_written)},
          {"warm_compiled", none(last.warm.progress.compiled)},
          {"reopened_compiled", none(last.reopened.progress.compiled)}};
}

nlohmann::ordered_json Report(const std::vector<Round>& rounds, const Lowered& lowered,
                              uint64_t bytes) {
  nlohmann::ordered_json json{{"bench", "end_to_end"},
                              {"rounds", rounds.size()},
                              {"bytes_put", bytes},
                              {"floor", Json(CostOf(rounds, &Round::floor))},
                              {"compile", Json(CostOf(rounds, &Round::compile))}};
  for (const NamedRow& row : kRows) {
    json[row.name] = Json(CostOf(rounds, row.row), rounds.back().*row.row);
  }
  json["function_touched"]["regions_lowered_of_it"] = lowered.own;
  json["function_touched"]["regions_lowered_of_others"] = lowered.others;
  json["gates"] = Gates(rounds, lowered);
  return json;
}

void Print(const nlohmann::ordered_json& json) {
  fmt::print("the demo, every allowed variant, one worker, durable SQLite; median of {} rounds\n",
             json["rounds"].get<size_t>());
  const auto line = [&](const char* name, const char* title) {
    fmt::print("  {:<22}{:9.1f} ms wall {:9.1f} ms CPU", title, json[name]["wall_ms"].get<double>(),
               json[name]["cpu_ms"].get<double>());
  };
  line("floor", "floor: puts alone");
  fmt::print("  {} bytes\n", json["bytes_put"].get<uint64_t>());
  line("compile", "compile, no store");
  fmt::print("\n");
  for (const NamedRow& row : kRows) {
    line(row.name, row.title);
    const nlohmann::ordered_json& of = json[row.name];
    fmt::print(
        "  {} results: {} compiled; {} sources parsed, {} regions lowered, {} modules "
        "written\n",
        of["results"].get<uint64_t>(), of["compiled"].get<uint64_t>(),
        of["sources_parsed"].get<uint64_t>(), of["regions_lowered"].get<uint64_t>(),
        of["modules_written"].get<uint64_t>());
  }
}

// Sources with one function, and with one setting, changed.
Result<Projects> MakeProjects() {
  KILN_TRY(const DemoProject demo, LoadDemo(KILN_SOURCE_DIR "/examples/demo"));
  const std::string pass = "shaders/passes/forward.rpl";
  const DemoProject function =
      Edited(demo, pass, "f1 rest = clamp_f1 (1.0 - cos_angle, 0.0, 1.0);",
             "f1 bent = cos_angle * 0.99;\n    f1 rest = clamp_f1 (1.0 - bent, 0.0, 1.0);");
  const DemoProject setting = Edited(demo, pass, "depth_compare_operation = \"less_or_equal\"",
                                     "depth_compare_operation = \"less\"");
  Projects projects;
  KILN_TRY(projects.original, BatchOf(demo));
  KILN_TRY(projects.function, BatchOf(function));
  KILN_TRY(projects.setting, BatchOf(setting));
  return projects;
}

// What a cold build puts, each thing once.
Recording Record(const Projects& projects) {
  Recording recording;
  const TestDirectory directory;
  DurableEngine engine(directory.path(), &recording);
  (void)engine.Build(projects.original);
  return WithoutRepetition(recording);
}

// One part alone, `count` times, so that a profile has nothing else in it. That of the floor has
// the one cold build as well that tells what is put.
int RunOnly(const Projects& projects, std::string_view part, uint32_t count) {
  const Recording recording = part == "floor" ? Record(projects) : Recording();
  std::vector<double> cpu_ms;
  for (uint32_t i = 0; i < count; ++i) {
    const TestDirectory directory;
    DurableEngine engine(directory.path(), nullptr);
    const Cost cost = part == "floor"     ? Timed([&] { engine.Put(recording); })
                      : part == "compile" ? Compile(projects.original)
                                          : BuildAll(engine, projects.original).cost;
    cpu_ms.push_back(cost.cpu_ms);
  }
  fmt::print("{}: {:.1f} ms CPU, the least {:.1f}\n", part, Median(cpu_ms),
             *std::ranges::min_element(cpu_ms));
  return 0;
}

int Run(const Projects& projects, uint32_t count, uint32_t again, bool json) {
  const Recording recording = Record(projects);
  uint64_t bytes = 0;
  for (const RecordedPut& put : recording) {
    for (const cache::Item& item : put.items) {
      bytes += item.value.bytes.size();
    }
  }
  std::vector<Round> rounds;
  for (uint32_t i = 0; i < count; ++i) {
    rounds.push_back(RunRound(projects, recording, again));
  }
  const Lowered lowered = LoweredByEdit(projects.original, projects.function, kTouchedFunction);
  const nlohmann::ordered_json report = Report(rounds, lowered, bytes);
  if (json) {
    fmt::print("{}\n", report.dump(1));
  } else {
    Print(report);
  }
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  CLI::App app("The demo, cold, warm and edited, into durable SQLite.", "end_to_end_bench");
  bool json = false;
  uint32_t rounds = 3;
  uint32_t again = 1;
  app.add_flag("--json", json, "Print one JSON object");
  app.add_option("--rounds", rounds, "How often everything is measured")
      ->check(CLI::Range(1u, 100u))
      ->capture_default_str();
  app.add_option("--again", again, "How often a round builds what is known; the last one counts")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  std::string only;
  app.add_option("--only", only, "Measure one part alone")
      ->check(CLI::IsMember({"floor", "compile", "cold"}));
  CLI11_PARSE(app, argc, argv);
  const kiln::Result<kiln::bench::Projects> projects = kiln::bench::MakeProjects();
  if (!projects.ok()) {
    fmt::print(stderr, "{}\n", projects.error().context);
    return 1;
  }
  return only.empty() ? kiln::bench::Run(*projects, rounds, again, json)
                      : kiln::bench::RunOnly(*projects, only, rounds);
}
