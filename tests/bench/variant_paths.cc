// SPDX-License-Identifier: MIT
#include "tests/bench/variant_paths.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"

namespace kiln::bench {
namespace {

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

[[noreturn]] void Fail(std::span<const Diagnostic> diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    fmt::print(stderr, "{}\n", Message(diagnostic));
  }
  std::exit(1);
}

void Add(std::optional<ir::Stage> stage, std::span<const uint32_t> words, Hasher& all,
         PathRun& run) {
  const ByteView bytes = std::as_bytes(words);
  all.Update(bytes);
  run.words += words.size();
  auto& seen = *stage == ir::Stage::kVertex ? run.vertex : run.fragment;
  if (seen.insert(HashBytes(bytes)).second) {
    run.modules.emplace_back(words.begin(), words.end());
  }
}

// After giving free memory back.
uint64_t ResidentKib() {
  (void)malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

// Adds the CPU time of the calling thread for every `step`th variant from `first`.
double AssembleSome(const UberProgram& uber, size_t first, size_t step) {
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  const double start = ThreadCpuMicroseconds();
  for (size_t i = first; i < uber.settings.size(); i += step) {
    const Diagnosed<resolve::OptionValues> values =
        resolve::CheckOptions(uber.linked.program, uber.settings[i]);
    if (!assembler.Build(*values.value).ok) {
      std::exit(1);
    }
  }
  return ThreadCpuMicroseconds() - start;
}

}  // namespace

double ThreadCpuMicroseconds() {
  timespec now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

Times TimesOf(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  return {.p10 = all[all.size() / 10],
          .median = all[all.size() / 2],
          .mean = sum / static_cast<double>(all.size())};
}

UberProgram MakeUber(const std::vector<Combination>& combinations) {
  std::ifstream file(KILN_SOURCE_DIR "/tests/bench/shaders/uber.rpl", std::ios::binary);
  const SourceFile source("uber.rpl", std::string(std::istreambuf_iterator<char>(file), {}));
  std::vector<double> link;
  Diagnosed<driver::LinkedProgram> linked;
  for (int i = 0; i < 11; ++i) {
    const double start = ThreadCpuMicroseconds();
    linked = driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
    link.push_back(ThreadCpuMicroseconds() - start);
  }
  if (!linked.ok()) {
    Fail(linked.diagnostics);
  }
  UberProgram uber{.linked = std::move(*linked.value),
                   .entries = {{.stage = ir::Stage::kVertex, .function = "vertex_main"},
                               {.stage = ir::Stage::kFragment, .function = "fragment_main"}},
                   .target = target::MakeTarget(target::Environment::kVulkan11),
                   .settings = {},
                   .parse_and_link = TimesOf(link)};
  for (const Combination& combination : combinations) {
    uber.settings.push_back(SettingsOf(uber.linked.program, combination));
  }
  return uber;
}

PathRun RunDirect(const UberProgram& uber) {
  PathRun run;
  std::vector<double> times;
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    const double start = ThreadCpuMicroseconds();
    const Diagnosed<resolve::OptionValues> values =
        resolve::CheckOptions(uber.linked.program, settings);
    const driver::BuildResult built =
        driver::BuildDirect(uber.linked, *values.value, uber.entries, uber.target);
    times.push_back(ThreadCpuMicroseconds() - start);
    if (!built.ok()) {
      Fail(built.diagnostics);
    }
    Hasher all;
    for (const driver::StageCode& code : built.products->code) {
      Add(code.stage, code.words, all, run);
    }
    all.Update(ByteView(built.products->metadata));
    run.results.insert(all.Finish().id);
  }
  run.variant = TimesOf(std::move(times));
  return run;
}

Times RunKnown(const UberProgram& uber, const driver::VariantAssembler& assembler) {
  std::vector<double> times;
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    const double start = ThreadCpuMicroseconds();
    const Diagnosed<resolve::OptionValues> values =
        resolve::CheckOptions(uber.linked.program, settings);
    const std::optional<uint32_t> known = assembler.Find(*values.value);
    times.push_back(ThreadCpuMicroseconds() - start);
    if (!known) {
      std::exit(1);
    }
  }
  return TimesOf(std::move(times));
}

// Every variant with the modules that are new only.
Times RunNew(const UberProgram& uber, size_t& modules) {
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  std::vector<double> times;
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    const double start = ThreadCpuMicroseconds();
    const Diagnosed<resolve::OptionValues> values =
        resolve::CheckOptions(uber.linked.program, settings);
    (void)assembler.Build(*values.value, driver::Wanted::kNew);
    times.push_back(ThreadCpuMicroseconds() - start);
  }
  modules = assembler.counts().modules;
  return TimesOf(std::move(times));
}

// The time of a variant counts only if its result was not known before.
AssemblerRun RunAssembler(const UberProgram& uber) {
  AssemblerRun run;
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  std::vector<double> times;
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    const double start = ThreadCpuMicroseconds();
    const Diagnosed<resolve::OptionValues> values =
        resolve::CheckOptions(uber.linked.program, settings);
    const driver::VariantView& view = assembler.Build(*values.value);
    const double time = ThreadCpuMicroseconds() - start;
    if (!view.ok) {
      Fail(view.diagnostics);
    }
    Hasher all;
    for (const driver::StageWords& code : view.code) {
      Add(code.stage, code.words, all, run.fresh);
    }
    all.Update(view.metadata);
    if (run.fresh.results.insert(all.Finish().id).second) {
      times.push_back(time);
    }
  }
  run.fresh.variant = TimesOf(std::move(times));
  run.segment_versions = assembler.counts().segment_versions;
  run.known = RunKnown(uber, assembler);
  run.only_new = RunNew(uber, run.linked_modules);
  return run;
}

uint64_t MeasureMemory(const UberProgram& uber) {
  const uint64_t before = ResidentKib();
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    (void)assembler.Build(*resolve::CheckOptions(uber.linked.program, settings).value);
  }
  return ResidentKib() - before;
}

ThreadsRun RunThreads(const UberProgram& uber) {
  std::vector<double> one;
  std::vector<double> two;
  const auto count = static_cast<double>(uber.settings.size());
  for (int round = 0; round < 9; ++round) {
    one.push_back((AssembleSome(uber, 0, 2) + AssembleSome(uber, 1, 2)) / count);
    double times[2] = {};
    std::thread other([&] { times[1] = AssembleSome(uber, 1, 2); });
    times[0] = AssembleSome(uber, 0, 2);
    other.join();
    two.push_back((times[0] + times[1]) / count);
  }
  return {.one = TimesOf(one).median, .two = TimesOf(two).median};
}

uint64_t BuildAllDirect(const UberProgram& uber) {
  uint64_t words = 0;
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    const Diagnosed<resolve::OptionValues> values =
        resolve::CheckOptions(uber.linked.program, settings);
    const driver::BuildResult built =
        driver::BuildDirect(uber.linked, *values.value, uber.entries, uber.target);
    for (const driver::StageCode& code : built.products->code) {
      words += code.words.size();
    }
  }
  return words;
}

uint64_t BuildAllAssembled(const UberProgram& uber) {
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  uint64_t words = 0;
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    const Diagnosed<resolve::OptionValues> values =
        resolve::CheckOptions(uber.linked.program, settings);
    for (const driver::StageWords& code : assembler.Build(*values.value).code) {
      words += code.words.size();
    }
  }
  return words;
}

}  // namespace kiln::bench
