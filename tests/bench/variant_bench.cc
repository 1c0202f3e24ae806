// SPDX-License-Identifier: MIT
// Variants of one uber shader, vertex + fragment: kiln's two paths beside glslang in process and
// beside copying finished modules and renumbering their ids, in one run, CPU time of one thread.
//   variant_bench [--json] [--variants N] [--only direct|assembler]
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spirv-tools/libspirv.hpp>

#include "tests/bench/combinations.h"
#include "tests/bench/glslang_peer.h"
#include "tests/bench/layout_times.h"
#include "tests/bench/relocation_floor.h"
#include "tests/bench/variant_paths.h"

namespace kiln::bench {
namespace {

constexpr double kDirectGate = 20;        // times faster than glslang
constexpr double kAssemblerGate = 190;    // the same
constexpr double kAgainGate = 20;         // times cheaper than a distinct variant
constexpr double kThreadsGate = 1.05;     // CPU of a variant on two threads, of that on one
constexpr double kMemoryGateKib = 16384;  // of one shader and its variants

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Times RunGlslang(const std::vector<Combination>& combinations) {
  const GlslangPeer peer;
  const std::string vertex = ReadFile(KILN_SOURCE_DIR "/tests/bench/shaders/uber.vert");
  const std::string fragment = ReadFile(KILN_SOURCE_DIR "/tests/bench/shaders/uber.frag");
  (void)peer.Compile(GlslStage::kVertex, vertex, GlslPreamble({}));
  (void)peer.Compile(GlslStage::kFragment, fragment, GlslPreamble({}));
  std::vector<double> times;
  for (const Combination& combination : combinations) {
    const std::string preamble = GlslPreamble(combination);
    const double start = ThreadCpuMicroseconds();
    (void)peer.Compile(GlslStage::kVertex, vertex, preamble);
    (void)peer.Compile(GlslStage::kFragment, fragment, preamble);
    times.push_back(ThreadCpuMicroseconds() - start);
  }
  return TimesOf(std::move(times));
}

// Copying and renumbering two modules of average size.
double RunFloor(const std::vector<std::vector<uint32_t>>& modules, double words_per_variant) {
  std::vector<RelocatableModule> all;
  double words = 0;
  for (const std::vector<uint32_t>& module : modules) {
    all.push_back(FindIds(module));
    words += static_cast<double>(module.size());
  }
  std::vector<uint32_t> ids(1 << 16);
  for (uint32_t i = 0; i < ids.size(); ++i) {
    ids[i] = i + 1;
  }
  std::vector<uint32_t> out;
  std::vector<double> times;
  for (int round = 0; round < 21; ++round) {
    const double start = ThreadCpuMicroseconds();
    for (const RelocatableModule& module : all) {
      (void)CopyAndRenumber(module, ids, out);
    }
    times.push_back((ThreadCpuMicroseconds() - start) / words * words_per_variant);
  }
  return TimesOf(std::move(times)).median;
}

bool AllValid(const std::vector<std::vector<uint32_t>>& modules) {
  const spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  bool valid = true;
  for (const std::vector<uint32_t>& words : modules) {
    valid = tools.Validate(words) && valid;
  }
  return valid;
}

nlohmann::ordered_json Gate(double value, double gate, bool ok) {
  return {{"value", value}, {"gate", gate}, {"ok", ok}};
}

nlohmann::ordered_json Row(const Times& times, double glslang, double words) {
  return {{"median_us", times.median},
          {"p10_us", times.p10},
          {"mean_us", times.mean},
          {"ratio_vs_glslang", glslang / times.median},
          {"ns_per_word", times.median * 1000 / words}};
}

struct Report {
  uint32_t count = 0;
  Times parse_and_link, glslang;
  PathRun direct;
  AssemblerRun assembler;
  ThreadsRun threads;
  uint64_t memory_kib = 0;
  double words = 0;  // of a variant
  double floor = 0;
  LayoutTimes layout;
  bool valid = false;
  bool same = false;  // both paths made the same modules and metadata

  nlohmann::ordered_json Json() const;
  void Print() const;
};

nlohmann::ordered_json Report::Json() const {
  const double direct_ratio = glslang.median / direct.variant.median;
  const double ratio = glslang.median / assembler.fresh.variant.median;
  const double again = assembler.fresh.variant.median / assembler.known.median;
  const double both = threads.two / threads.one;
  const auto memory = static_cast<double>(memory_kib);
  return {
      {"bench", "variant"},
      {"variants", count},
      {"ratio_vs_glslang", ratio},
      {"assembler", Row(assembler.fresh.variant, glslang.median, words)},
      {"assembler_new_modules_only", Row(assembler.only_new, glslang.median, words)},
      {"known_variant", Row(assembler.known, glslang.median, words)},
      {"direct", Row(direct.variant, glslang.median, words)},
      {"parse_and_link", {{"median_us", parse_and_link.median}, {"p10_us", parse_and_link.p10}}},
      {"glslang", {{"median_us", glslang.median}, {"p10_us", glslang.p10}}},
      {"copy_and_renumber_us", floor},
      {"times_floor", assembler.fresh.variant.median / floor},
      {"words_per_variant", words},
      {"distinct_results", direct.results.size()},
      {"distinct_vertex_modules", direct.vertex.size()},
      {"distinct_fragment_modules", direct.fragment.size()},
      {"segment_versions", assembler.segment_versions},
      {"linked_modules", assembler.linked_modules},
      {"assembler_resident_kib", memory_kib},
      {"layout",
       {{"parameters", kLayoutParameters},
        {"cold_vulkan_us", layout.cold_vulkan_us},
        {"cold_d3d12_us", layout.cold_d3d12_us},
        {"remembered_type_us", layout.remembered_us}}},
      {"threads", {{"one_mean_us", threads.one}, {"two_mean_us", threads.two}}},
      {"gates",
       {{"ratio_vs_glslang", Gate(ratio, kAssemblerGate, ratio >= kAssemblerGate)},
        {"direct_ratio_vs_glslang", Gate(direct_ratio, kDirectGate, direct_ratio >= kDirectGate)},
        {"known_variant_times_cheaper", Gate(again, kAgainGate, again >= kAgainGate)},
        {"cpu_on_two_threads", Gate(both, kThreadsGate, both <= kThreadsGate)},
        {"memory_kib", Gate(memory, kMemoryGateKib, memory <= kMemoryGateKib)},
        {"layout_cold_us", Gate(layout.cold_us(), kLayoutColdGate, layout.cold_ok())},
        {"layout_remembered_us",
         Gate(layout.remembered_us, kLayoutRememberedGate, layout.remembered_ok())},
        {"both_paths_agree", Gate(same ? 1 : 0, 1, same)},
        {"every_module_passes_spirv_val", Gate(valid ? 1 : 0, 1, valid)}}}};
}

void Report::Print() const {
  const auto line = [&](const char* name, const Times& times) {
    fmt::print("  {:<22}{:9.1f} us median {:9.1f} us p10 {:7.2f} ns per word {:6.0f} x glslang\n",
               name, times.median, times.p10, times.median * 1000 / words,
               glslang.median / times.median);
  };
  fmt::print("{} variants of one uber shader, vertex + fragment, CPU of one thread\n", count);
  line("assembler, distinct", assembler.fresh.variant);
  line("  new modules only", assembler.only_new);
  line("known variant", assembler.known);
  line("direct path", direct.variant);
  line("glslang in process", glslang);
  fmt::print("  {:<22}{:9.2f} us, the floor: {:.1f} times less than the assembler\n",
             "copy and renumber", floor, assembler.fresh.variant.median / floor);
  fmt::print("  {:<22}{:9.1f} us mean on one thread, {:.1f} us on two\n", "threads", threads.one,
             threads.two);
  fmt::print("  {} distinct results: {} vertex and {} fragment modules, {:.0f} words per variant\n",
             direct.results.size(), direct.vertex.size(), direct.fragment.size(), words);
  fmt::print("  layout: {:.1f} us for {} parameters from nothing, {:.4f} us for a known type\n",
             layout.cold_us(), kLayoutParameters, layout.remembered_us);
  fmt::print("  {} versions of segments; the assembler took {} KiB\n", assembler.segment_versions,
             memory_kib);
}

int Run(uint32_t count, bool json) {
  const std::vector<Combination> combinations = SampleCombinations(count);
  const UberProgram uber = MakeUber(combinations);
  Report report{.count = count, .parse_and_link = uber.parse_and_link};
  report.memory_kib = MeasureMemory(uber);
  report.assembler = RunAssembler(uber);
  report.direct = RunDirect(uber);
  report.glslang = RunGlslang(combinations);
  report.threads = RunThreads(uber);
  report.words = static_cast<double>(report.direct.words) / count;
  report.floor = RunFloor(report.direct.modules, report.words);
  report.layout = MeasureLayout();
  report.valid = AllValid(report.direct.modules);
  report.same = report.direct.results == report.assembler.fresh.results;
  if (json) {
    fmt::print("{}\n", report.Json().dump(1));
  } else {
    report.Print();
  }
  return report.valid && report.same ? 0 : 1;
}

// What callgrind counts: every variant once, nothing else measured.
int RunOnly(uint32_t count, const std::string& path) {
  const UberProgram uber = MakeUber(SampleCombinations(count));
  const uint64_t words = path == "direct" ? BuildAllDirect(uber) : BuildAllAssembled(uber);
  fmt::print("{}\n", words);
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  CLI::App app("Variants of one uber shader beside glslang in process.", "variant_bench");
  bool json = false;
  uint32_t variants = 1000;
  std::string only;
  app.add_flag("--json", json, "Print one JSON object");
  app.add_option("--variants", variants, "How many of the fixed list")
      ->check(CLI::Range(1u, kiln::bench::kCombinationCount))
      ->capture_default_str();
  app.add_option("--only", only, "Build by one path and print the words it made")
      ->check(CLI::IsMember({"direct", "assembler"}));
  CLI11_PARSE(app, argc, argv);
  return only.empty() ? kiln::bench::Run(variants, json) : kiln::bench::RunOnly(variants, only);
}
