// SPDX-License-Identifier: MIT
// Variants of one uber shader, vertex + fragment: kiln's direct path beside glslang in process and
// beside copying finished modules and renumbering their ids, in one run, CPU time of one thread.
//   variant_bench [--json] [--variants N]
#include <algorithm>
#include <bit>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <time.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spirv-tools/libspirv.hpp>

#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "tests/bench/combinations.h"
#include "tests/bench/glslang_peer.h"
#include "tests/bench/relocation_floor.h"

namespace kiln::bench {
namespace {

constexpr double kGateRatio = 20;  // of the direct path; the memoised path has its own (issue 5)

double CpuMicroseconds() {
  timespec now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// p10 and median of a list of times.
struct Times {
  double p10 = 0, median = 0;
};
Times TimesOf(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {.p10 = all[all.size() / 10], .median = all[all.size() / 2]};
}

struct KilnRun {
  Times parse, link, variant;
  uint64_t words = 0;
  std::set<Hash128> vertex, fragment, results;
  std::vector<std::vector<uint32_t>> modules;  // distinct ones
  bool valid = true;
};

std::vector<resolve::OptionSetting> SettingsOf(const resolve::Program& program,
                                               const Combination& c) {
  const auto text = [](bool flag) { return flag ? "true" : "false"; };
  const std::vector<std::pair<std::string, std::string>> values{
      {"max_point_lights", std::to_string(c.max_point_lights)},
      {"tonemap", std::to_string(c.tonemap)},
      {"use_directional", text(c.directional)},
      {"use_normal_map", text(c.normal_map)},
      {"normal_two_channel", text(c.normal_two_channel)},
      {"use_metal_rough_map", text(c.metal_rough_map)},
      {"use_occlusion", text(c.occlusion)},
      {"use_emissive", text(c.emissive)},
      {"alpha_clip", text(c.alpha_clip)},
      {"use_skinning", text(c.skinning)},
      {"wireframe", text(c.wireframe)}};
  std::vector<resolve::OptionSetting> settings;
  for (const auto& [name, value] : values) {
    const Result<resolve::OptionSetting> setting = driver::ReadOption(program, name + "=" + value);
    settings.push_back(*setting);
  }
  return settings;
}

bool Fails(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kError) {
      fmt::print(stderr, "{}\n", Message(diagnostic));
    }
  }
  return HasErrors(diagnostics);
}

bool RunKiln(const std::vector<Combination>& combinations, KilnRun& run) {
  const SourceFile source("uber.rpl", ReadFile(KILN_SOURCE_DIR "/tests/bench/shaders/uber.rpl"));
  std::vector<double> link;
  Diagnosed<driver::LinkedProgram> linked;
  for (int i = 0; i < 11; ++i) {
    const double start = CpuMicroseconds();
    linked = driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
    link.push_back(CpuMicroseconds() - start);
  }
  if (!linked.ok()) {
    return !Fails(linked.diagnostics);
  }
  run.link = TimesOf(link);
  const resolve::Program& program = linked.value->program;
  const std::vector<resolve::EntryPoint> entries{
      {.stage = ir::Stage::kVertex, .function = "vertex_main"},
      {.stage = ir::Stage::kFragment, .function = "fragment_main"}};
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  std::vector<double> times;
  for (const Combination& combination : combinations) {
    const std::vector<resolve::OptionSetting> settings = SettingsOf(program, combination);
    const double start = CpuMicroseconds();
    const Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(program, settings);
    const driver::BuildResult built =
        driver::BuildDirect(*linked.value, *values.value, entries, target);
    times.push_back(CpuMicroseconds() - start);
    if (!built.ok()) {
      return !Fails(built.diagnostics);
    }
    Hasher all;
    for (const driver::StageCode& code : built.products->code) {
      const ByteView bytes = std::as_bytes(std::span(code.words));
      all.Update(bytes);
      run.words += code.words.size();
      auto& seen = *code.stage == ir::Stage::kVertex ? run.vertex : run.fragment;
      if (seen.insert(HashBytes(bytes)).second) {
        run.valid = run.valid && tools.Validate(code.words);
        run.modules.push_back(code.words);
      }
    }
    all.Update(ByteView(built.products->metadata));
    run.results.insert(all.Finish().id);
  }
  run.variant = TimesOf(times);
  return true;
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
    const double start = CpuMicroseconds();
    (void)peer.Compile(GlslStage::kVertex, vertex, preamble);
    (void)peer.Compile(GlslStage::kFragment, fragment, preamble);
    times.push_back(CpuMicroseconds() - start);
  }
  return TimesOf(times);
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
    const double start = CpuMicroseconds();
    for (const RelocatableModule& module : all) {
      (void)CopyAndRenumber(module, ids, out);
    }
    times.push_back((CpuMicroseconds() - start) / words * words_per_variant);
  }
  return TimesOf(times).median;
}

nlohmann::ordered_json Gate(double value, double gate, bool ok) {
  return {{"value", value}, {"gate", gate}, {"ok", ok}};
}

int Run(uint32_t count, bool json) {
  const std::vector<Combination> combinations = SampleCombinations(count);
  KilnRun kiln;
  if (!RunKiln(combinations, kiln) || kiln.results.empty()) {
    return 1;
  }
  const Times glslang = RunGlslang(combinations);
  const double words = static_cast<double>(kiln.words) / count;
  const double floor = RunFloor(kiln.modules, words);
  const double ratio = glslang.median / kiln.variant.median;
  const nlohmann::ordered_json report{
      {"bench", "variant"},
      {"variants", count},
      {"ratio_vs_glslang", ratio},
      {"direct", {{"median_us", kiln.variant.median}, {"p10_us", kiln.variant.p10}}},
      {"parse_and_link", {{"median_us", kiln.link.median}, {"p10_us", kiln.link.p10}}},
      {"glslang", {{"median_us", glslang.median}, {"p10_us", glslang.p10}}},
      {"copy_and_renumber_us", floor},
      {"times_floor", kiln.variant.median / floor},
      {"words_per_variant", words},
      {"ns_per_word", kiln.variant.median * 1000 / words},
      {"distinct_results", kiln.results.size()},
      {"distinct_vertex_modules", kiln.vertex.size()},
      {"distinct_fragment_modules", kiln.fragment.size()},
      {"gates",
       {{"direct_ratio_vs_glslang", Gate(ratio, kGateRatio, ratio >= kGateRatio)},
        {"every_module_passes_spirv_val", Gate(kiln.valid ? 1 : 0, 1, kiln.valid)}}}};
  if (json) {
    fmt::print("{}\n", report.dump(1));
    return 0;
  }
  fmt::print("{} variants of one uber shader, vertex + fragment, CPU of one thread\n", count);
  fmt::print("  kiln, direct path   {:9.1f} us median   {:.1f} ns per word\n", kiln.variant.median,
             kiln.variant.median * 1000 / words);
  fmt::print("  glslang in process  {:9.1f} us median   {:.0f} times kiln\n", glslang.median,
             ratio);
  fmt::print("  copy and renumber   {:9.2f} us          the floor\n", floor);
  fmt::print("  {} distinct results: {} vertex and {} fragment modules, {:.0f} words per variant\n",
             kiln.results.size(), kiln.vertex.size(), kiln.fragment.size(), words);
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  CLI::App app("Variants of one uber shader beside glslang in process.", "variant_bench");
  bool json = false;
  uint32_t variants = 1000;
  app.add_flag("--json", json, "Print one JSON object");
  app.add_option("--variants", variants, "How many of the fixed list")
      ->check(CLI::Range(1u, kiln::bench::kCombinationCount))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return kiln::bench::Run(variants, json);
}
