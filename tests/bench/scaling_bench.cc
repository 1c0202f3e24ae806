// SPDX-License-Identifier: MIT
// How time and memory grow with the number of option combinations: one program whose features guard
// options of their own, 10^2 to 10^6 combinations in a fixed pseudo-random order. What costs is the
// distinct results, not the combinations.
//   scaling_bench [--json] [--limit N]
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "tests/bench/measure.h"
#include "tests/bench/variant_paths.h"

namespace kiln::bench {
namespace {

constexpr uint32_t kFeatures = 5;
constexpr uint32_t kGuarded = 3;  // flags that matter only under their feature
constexpr uint32_t kFlags = kFeatures * (1 + kGuarded);
constexpr uint32_t kCombinations = 1u << kFlags;
constexpr uint32_t kMostResults = 59049;  // (1 + 2^kGuarded)^kFeatures

std::string Program() {
  std::string text;
  for (uint32_t i = 0; i < kFlags; ++i) {
    text += fmt::format("instance flag_{}: flag false;\n", i);
  }
  text +=
      "vertex_attribute_container vertex { f3 position; };\n"
      "state_container state { f4 shade; };\n"
      "color_output_container target { f4 color; };\n"
      "set_material uniform_buffer material { f4[20] tints; };\n"
      "void vertex_main (void)\n{\n  state.shade = f4 {vertex.position, 1.0};\n"
      "  vertex_stage_output_position (f4 {vertex.position, 1.0});\n}\n"
      "void fragment_main (void)\n{\n  f4 color = state.shade;\n";
  for (uint32_t feature = 0; feature < kFeatures; ++feature) {
    const uint32_t first = feature * (1 + kGuarded);
    text += fmt::format("  conditional (flag_{})\n  {{\n    color = color * material.tints[{}];\n",
                        first, first);
    for (uint32_t guarded = first + 1; guarded <= first + kGuarded; ++guarded) {
      text += fmt::format(
          "    conditional (flag_{})\n    {{\n      color = color + material.tints[{}] * "
          "color.x;\n    }}\n",
          guarded, guarded);
    }
    text += "  }\n";
  }
  return text + "  target.color = color;\n}\n";
}

struct Row {
  uint32_t combinations = 0;
  size_t results = 0, modules = 0;
  double seconds = 0;
  uint64_t kib = 0;
};

Row Run(const driver::LinkedProgram& linked, uint32_t combinations) {
  const std::vector<resolve::EntryPoint> entries{
      {.stage = ir::Stage::kVertex, .function = "vertex_main"},
      {.stage = ir::Stage::kFragment, .function = "fragment_main"}};
  const uint64_t before = TrimmedKib();
  const double start = ThreadCpuMicroseconds();
  driver::VariantAssembler assembler(linked, entries,
                                     target::MakeTarget(target::Environment::kVulkan11));
  resolve::OptionValues values{std::vector<uint32_t>(kFlags)};
  for (uint32_t i = 0; i < combinations; ++i) {
    const uint32_t bits = (i * 0x9e375u + 0x1234u) % kCombinations;  // odd factor: no repetition
    for (uint32_t flag = 0; flag < kFlags; ++flag) {
      values.bits[flag] = bits >> flag & 1u;
    }
    if (!assembler.Find(values)) {
      (void)assembler.Build(values, driver::ModuleSelection::kNew);
    }
  }
  const double seconds = (ThreadCpuMicroseconds() - start) / 1e6;
  return {.combinations = combinations,
          .results = assembler.counts().results,
          .modules = assembler.counts().modules,
          .seconds = seconds,
          .kib = TrimmedKib() - before};
}

int RunAll(uint32_t limit, bool json) {
  const SourceFile source("scaling.rpl", Program());
  const Diagnosed<driver::LinkedProgram> linked =
      driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
  if (!linked.ok()) {
    return 1;
  }
  std::vector<Row> rows;
  for (uint32_t combinations = 100; combinations <= limit; combinations *= 10) {
    rows.push_back(Run(*linked.value, combinations));
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  bool bounded = true;
  for (const Row& row : rows) {
    bounded = bounded && row.results <= kMostResults;
    list.push_back({{"combinations", row.combinations},
                    {"results", row.results},
                    {"modules", row.modules},
                    {"cpu_s", row.seconds},
                    {"us_per_combination", row.seconds * 1e6 / row.combinations},
                    {"us_per_result", row.seconds * 1e6 / static_cast<double>(row.results)},
                    {"resident_kib", row.kib}});
  }
  if (json) {
    const nlohmann::ordered_json report{
        {"bench", "scaling"},
        {"rows", list},
        {"gates",
         {{"results_at_most",
           {{"value", rows.back().results}, {"gate", kMostResults}, {"ok", bounded}}}}}};
    fmt::print("{}\n", report.dump(1));
    return bounded ? 0 : 1;
  }
  for (const Row& row : rows) {
    fmt::print(
        "{:>8} combinations {:>6} results {:>6} modules {:>8.3f} s CPU {:>6.2f} us each "
        "{:>8} KiB\n",
        row.combinations, row.results, row.modules, row.seconds,
        row.seconds * 1e6 / row.combinations, row.kib);
  }
  return bounded ? 0 : 1;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  CLI::App app("Time and memory of up to a million option combinations.", "scaling_bench");
  bool json = false;
  uint32_t limit = 1'000'000;
  app.add_flag("--json", json, "Print one JSON object");
  app.add_option("--limit", limit, "The most combinations")
      ->check(CLI::Range(100u, 1'000'000u))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return kiln::bench::RunAll(limit, json);
}
