// SPDX-License-Identifier: MIT
// Variants of one uber shader, vertex + fragment: kiln's two paths beside glslang in process and
// beside copying finished modules and renumbering their ids, in one run, CPU time of one thread.
//   variant_bench [--json] [--variants N] [--only PATH]
#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spirv-tools/libspirv.hpp>

#include "tests/bench/budgets.h"
#include "tests/bench/combinations.h"
#include "tests/bench/glslang_peer.h"
#include "tests/bench/layout_times.h"
#include "tests/bench/measure.h"
#include "tests/bench/relocation_floor.h"
#include "tests/bench/variant_paths.h"

namespace kiln::bench {
namespace {

constexpr double kDirectGate = 20;           // times faster than glslang
constexpr double kAssemblerGate = 190;       // the same
constexpr double kAgainGate = 20;            // times cheaper than a distinct variant
constexpr double kThreadsGate = 1.05;        // CPU of a variant on two threads, of that on one
constexpr double kMemoryGateKib = 16384;     // of one shader and its variants
constexpr double kReferenceNsPerWord = 0.3;  // the floor of spec/architecture 10.5

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The peer: text and macros, in process.
class Glslang {
 public:
  Glslang()
      : vertex_(ReadFile(KILN_SOURCE_DIR "/tests/bench/shaders/uber.vert")),
        fragment_(ReadFile(KILN_SOURCE_DIR "/tests/bench/shaders/uber.frag")) {
    Compile(Combination{});  // its tables of built-in functions are made once
  }
  void Compile(const Combination& combination) const {
    const std::string preamble = GlslPreamble(combination);
    (void)peer_.Compile(GlslStage::kVertex, vertex_, preamble);
    (void)peer_.Compile(GlslStage::kFragment, fragment_, preamble);
  }

 private:
  const GlslangPeer peer_;
  const std::string vertex_, fragment_;
};

[[gnu::noinline]] uint64_t CompileAll(const Glslang& glslang,
                                      const std::vector<Combination>& combinations) {
  for (const Combination& combination : combinations) {
    glslang.Compile(combination);
  }
  return combinations.size();
}

std::vector<RelocatableModule> Relocatable(const std::vector<std::vector<uint32_t>>& modules) {
  std::vector<RelocatableModule> all;
  all.reserve(modules.size());
  for (const std::vector<uint32_t>& module : modules) {
    all.push_back(FindIds(module));
  }
  return all;
}

// Copying and renumbering two modules of average size.
double RunFloor(const std::vector<RelocatableModule>& modules, double words_per_variant) {
  std::vector<uint32_t> ids(1 << 16);
  std::iota(ids.begin(), ids.end(), 1u);
  std::vector<uint32_t> out;
  size_t words = 0;
  const double start = ThreadCpuMicroseconds();
  for (const RelocatableModule& module : modules) {
    words += CopyAndRenumber(module, ids, out);
  }
  return (ThreadCpuMicroseconds() - start) / static_cast<double>(words) * words_per_variant;
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

// All paths take turns: in every round, new assemblers build everything, and the direct path and
// glslang build a part of it, so that whatever else the machine does meets all of them.
struct Rounds {
  static constexpr size_t kCount = 10;
  std::vector<double> fresh, only_new, known, direct, glslang, floor;  // all samples
  // Of the medians of a round.
  std::vector<double> fresh_ratio, only_new_ratio, known_ratio, direct_ratio, known_cheaper;
};

double MedianOf(const std::vector<double>& times) { return TimesOf(times).median; }

void Append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Rounds RunRounds(const UberProgram& uber, const std::vector<Combination>& combinations,
                 const PathRun& built) {
  Rounds rounds;
  const Glslang glslang;
  const std::vector<RelocatableModule> modules = Relocatable(built.modules);
  const double words = static_cast<double>(built.words) / static_cast<double>(combinations.size());
  const std::span<const uint32_t> distinct = built.distinct;
  const size_t part = std::max<size_t>(distinct.size() / Rounds::kCount, 1);
  for (size_t round = 0; round < Rounds::kCount; ++round) {
    const auto some = distinct.subspan(round * part % distinct.size());
    const auto variants = some.first(std::min(part, some.size()));
    const AssembledTimes assembled = TimeAssembled(uber, distinct);
    const std::vector<double> direct = TimeDirect(uber, variants);
    std::vector<double> peer;
    for (const uint32_t variant : variants) {
      const double start = ThreadCpuMicroseconds();
      glslang.Compile(combinations[variant]);
      peer.push_back(ThreadCpuMicroseconds() - start);
    }
    rounds.floor.push_back(RunFloor(modules, words));
    Append(rounds.fresh, assembled.fresh);
    Append(rounds.only_new, assembled.only_new);
    Append(rounds.known, assembled.known);
    Append(rounds.direct, direct);
    Append(rounds.glslang, peer);
    const double of_peer = MedianOf(peer);
    rounds.fresh_ratio.push_back(of_peer / MedianOf(assembled.fresh));
    rounds.only_new_ratio.push_back(of_peer / MedianOf(assembled.only_new));
    rounds.known_ratio.push_back(of_peer / MedianOf(assembled.known));
    rounds.direct_ratio.push_back(of_peer / MedianOf(direct));
    rounds.known_cheaper.push_back(MedianOf(assembled.fresh) / MedianOf(assembled.known));
  }
  return rounds;
}

struct Report {
  uint32_t count = 0;
  Times parse_and_link;
  PathRun direct, assembled;
  Rounds rounds;
  ThreadsRun threads;
  UnitTimes units;
  LayoutTimes layout;
  uint64_t memory_kib = 0;
  double words = 0;  // of a variant
  bool valid = false;
  bool same = false;  // both paths made the same modules and metadata

  nlohmann::ordered_json Gates() const;
  nlohmann::ordered_json Budgets() const;
  nlohmann::ordered_json Row(const std::vector<double>& samples,
                             const std::vector<double>& ratios) const;
  nlohmann::ordered_json Json() const;
  void Print() const;
};

nlohmann::ordered_json Report::Gates() const {
  const double ratio = MedianOf(rounds.fresh_ratio);
  const double direct_ratio = MedianOf(rounds.direct_ratio);
  const double cheaper = MedianOf(rounds.known_cheaper);
  const double both = threads.two / threads.one;
  const auto memory = static_cast<double>(memory_kib);
  return {{"ratio_vs_glslang", Gate(ratio, kAssemblerGate, ratio >= kAssemblerGate)},
          {"direct_ratio_vs_glslang", Gate(direct_ratio, kDirectGate, direct_ratio >= kDirectGate)},
          {"known_variant_times_cheaper", Gate(cheaper, kAgainGate, cheaper >= kAgainGate)},
          {"cpu_on_two_threads", Gate(both, kThreadsGate, both <= kThreadsGate)},
          {"memory_kib", Gate(memory, kMemoryGateKib, memory <= kMemoryGateKib)},
          {"layout_cold_us", Gate(layout.cold_us(), kLayoutColdGate, layout.cold_ok())},
          {"layout_remembered_us",
           Gate(layout.remembered_us, kLayoutRememberedGate, layout.remembered_ok())},
          {"both_paths_agree", Gate(same ? 1 : 0, 1, same)},
          {"every_module_passes_spirv_val", Gate(valid ? 1 : 0, 1, valid)}};
}

// spec/architecture 10.5. The budgets are those of a machine that copies and renumbers a word in
// 0.3 ns; what is held against them is what that machine would take.
nlohmann::ordered_json Report::Budgets() const {
  const double slower = MedianOf(rounds.floor) * 1000 / words / kReferenceNsPerWord;
  const auto row = [slower](double value, double budget) {
    nlohmann::ordered_json gate = Gate(value / slower, budget, value / slower <= budget);
    gate["here"] = value;
    return gate;
  };
  return {{"source_us_per_kb", row(units.parse_per_kb, 10)},
          {"program_us", row(units.link, 100)},
          {"constant_us", row(units.constant, 0.2)},
          {"unit_version_us", row(units.unit_version, 20)},
          {"signature_us", row(MedianOf(rounds.fresh), 10)},
          {"variant_us", row(MedianOf(rounds.known), 1)}};
}

nlohmann::ordered_json Report::Row(const std::vector<double>& samples,
                                   const std::vector<double>& ratios) const {
  const Times times = TimesOf(samples);
  return {{"median_us", times.median},
          {"p10_us", times.p10},
          {"mean_us", times.mean},
          {"ratio_vs_glslang", MedianOf(ratios)},
          {"ns_per_word", times.median * 1000 / words}};
}

nlohmann::ordered_json Report::Json() const {
  const Times peer = TimesOf(rounds.glslang);
  const double floor = MedianOf(rounds.floor);
  return {
      {"bench", "variant"},
      {"variants", count},
      {"ratio_vs_glslang", MedianOf(rounds.fresh_ratio)},
      {"assembler", Row(rounds.fresh, rounds.fresh_ratio)},
      {"assembler_new_modules_only", Row(rounds.only_new, rounds.only_new_ratio)},
      {"known_variant", Row(rounds.known, rounds.known_ratio)},
      {"direct", Row(rounds.direct, rounds.direct_ratio)},
      {"parse_and_link", {{"median_us", parse_and_link.median}, {"p10_us", parse_and_link.p10}}},
      {"glslang", {{"median_us", peer.median}, {"p10_us", peer.p10}}},
      {"copy_and_renumber_us", floor},
      {"times_floor", MedianOf(rounds.fresh) / floor},
      {"words_per_variant", words},
      {"distinct_results", direct.results.size()},
      {"distinct_vertex_modules", direct.vertex.size()},
      {"distinct_fragment_modules", direct.fragment.size()},
      {"region_versions", assembled.region_versions},
      {"linked_modules", assembled.linked_modules},
      {"assembler_resident_kib", memory_kib},
      {"layout",
       {{"parameters", kLayoutParameters},
        {"cold_vulkan_us", layout.cold_vulkan_us},
        {"cold_d3d12_us", layout.cold_d3d12_us},
        {"remembered_type_us", layout.remembered_us}}},
      {"threads", {{"one_mean_us", threads.one}, {"two_mean_us", threads.two}}},
      {"budgets", Budgets()},
      {"gates", Gates()}};
}

void Report::Print() const {
  const auto line = [&](const char* name, const std::vector<double>& samples,
                        const std::vector<double>& ratios) {
    const Times times = TimesOf(samples);
    fmt::print("  {:<22}{:9.2f} us median {:9.2f} us p10 {:7.2f} ns per word", name, times.median,
               times.p10, times.median * 1000 / words);
    if (!ratios.empty()) {
      fmt::print(" {:6.0f} x glslang", MedianOf(ratios));
    }
    fmt::print("\n");
  };
  fmt::print("{} variants of one uber shader, vertex + fragment, CPU of one thread\n", count);
  line("assembler, distinct", rounds.fresh, rounds.fresh_ratio);
  line("  new modules only", rounds.only_new, rounds.only_new_ratio);
  line("known variant", rounds.known, rounds.known_ratio);
  line("direct path", rounds.direct, rounds.direct_ratio);
  line("glslang in process", rounds.glslang, {});
  line("copy and renumber", rounds.floor, {});
  fmt::print("  known variant: {:.0f} times cheaper; the floor: {:.1f} times less\n",
             MedianOf(rounds.known_cheaper), MedianOf(rounds.fresh) / MedianOf(rounds.floor));
  fmt::print("  {:<22}{:9.1f} us mean on one thread, {:.1f} us on two\n", "threads", threads.one,
             threads.two);
  fmt::print("  {} distinct results: {} vertex and {} fragment modules, {:.0f} words per variant\n",
             direct.results.size(), direct.vertex.size(), direct.fragment.size(), words);
  fmt::print(
      "  once: source {:.1f} us per KB, program {:.0f} us, constant {:.2f} us, specialised unit "
      "{:.1f} us\n",
      units.parse_per_kb, units.link, units.constant, units.unit_version);
  fmt::print("  layout: {:.1f} us for {} parameters from nothing, {:.4f} us for a known type\n",
             layout.cold_us(), kLayoutParameters, layout.remembered_us);
  fmt::print("  {} versions of regions; the assembler took {} KiB\n", assembled.region_versions,
             memory_kib);
}

int Run(uint32_t count, bool json) {
  const std::vector<Combination> combinations = SampleCombinations(count);
  const UberProgram uber = MakeUber(combinations);
  Report report{.count = count, .parse_and_link = uber.parse_and_link};
  report.memory_kib = MeasureMemory(uber);
  report.direct = BuildEachDirect(uber);
  report.assembled = BuildEachAssembled(uber);
  report.words = static_cast<double>(report.direct.words) / count;
  report.rounds = RunRounds(uber, combinations, report.direct);
  report.threads = RunThreads(uber);
  report.units = MeasureUnits(uber);
  report.layout = MeasureLayout();
  report.valid = AllValid(report.direct.modules);
  report.same = report.direct.results == report.assembled.results;
  if (json) {
    fmt::print("{}\n", report.Json().dump(1));
  } else {
    report.Print();
  }
  return report.valid && report.same ? 0 : 1;
}

// What callgrind counts: every variant once, nothing else measured. Prints the words, or variants.
int RunOnly(uint32_t count, const std::string& path) {
  const std::vector<Combination> combinations = SampleCombinations(count);
  const UberProgram uber = MakeUber(combinations);
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  uint64_t made = 0;
  if (path == "direct") {
    made = BuildAllDirect(uber);
  } else if (path == "glslang") {
    made = CompileAll(Glslang(), combinations);
  } else {
    made = BuildAllAssembled(uber, assembler);
    made = path == "known" ? FindAllKnown(uber, assembler) : made;
  }
  fmt::print("{}\n", made);
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
  app.add_option("--only", only, "Build by one path only and print what it made")
      ->check(CLI::IsMember({"direct", "assembler", "known", "glslang"}));
  CLI11_PARSE(app, argc, argv);
  return only.empty() ? kiln::bench::Run(variants, json) : kiln::bench::RunOnly(variants, only);
}
