// SPDX-License-Identifier: MIT
#include "tests/bench/variant_paths.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "tests/bench/measure.h"

namespace kiln::bench {
namespace {

constexpr size_t kChunk = 20;      // variants that are timed together: reading the clock costs, too
constexpr int kThreadRounds = 12;  // the best counts: other processes only add

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
    const Result<resolve::OptionSetting> setting =
        driver::ReadOption(program, fmt::format("{}={}", name, value));
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

const resolve::OptionValues& Check(const UberProgram& uber, size_t i,
                                   resolve::OptionValues& values) {
  std::vector<Diagnostic> diagnostics;
  if (!resolve::CheckOptions(uber.linked.program, uber.settings[i], values, diagnostics)) {
    Fail(diagnostics);
  }
  return values;
}

bool SameProducts(const driver::Products& expected, const driver::BuildResult& found) {
  return found.ok() && found.products->metadata == expected.metadata &&
         std::ranges::equal(found.products->code, expected.code, {}, &driver::StageCode::words,
                            &driver::StageCode::words);
}

// Mean CPU time of an item, for each chunk of `items`.
template <class Visit>
std::vector<double> TimeChunks(std::span<const uint32_t> items, Visit visit) {
  std::vector<double> times;
  for (size_t first = 0; first < items.size(); first += kChunk) {
    const auto chunk = items.subspan(first, std::min<size_t>(kChunk, items.size() - first));
    const double start = ThreadCpuMicroseconds();
    for (const uint32_t item : chunk) {
      visit(item);
    }
    times.push_back((ThreadCpuMicroseconds() - start) / static_cast<double>(chunk.size()));
  }
  return times;
}

// CPU time of the calling thread for every `step`th variant from `first`.
double AssembleSome(const UberProgram& uber, size_t first, size_t step) {
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  resolve::OptionValues values;
  const double start = ThreadCpuMicroseconds();
  for (size_t i = first; i < uber.settings.size(); i += step) {
    if (!assembler.Build(Check(uber, i, values)).ok) {
      std::exit(1);
    }
  }
  return ThreadCpuMicroseconds() - start;
}

}  // namespace

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

// Each by a direct builder of its own, and by one for all, which must not differ.
PathRun BuildEachDirect(const UberProgram& uber) {
  PathRun run;
  resolve::OptionValues values;
  driver::DirectBuilder builder(uber.linked, uber.entries, uber.target);
  for (uint32_t i = 0; i < uber.settings.size(); ++i) {
    const driver::BuildResult built =
        driver::BuildDirect(uber.linked, Check(uber, i, values), uber.entries, uber.target);
    if (!built.ok()) {
      Fail(built.diagnostics);
    }
    if (!SameProducts(*built.products, builder.Build(values))) {
      fmt::print(stderr, "variant {}: the direct path remembers something\n", i);
      std::exit(1);
    }
    Hasher all;
    for (const driver::StageCode& code : built.products->code) {
      Add(code.stage, code.words, all, run);
    }
    all.Update(ByteView(built.products->metadata));
    if (run.results.insert(all.Finish().id).second) {
      run.distinct.push_back(i);
    }
  }
  return run;
}

PathRun BuildEachAssembled(const UberProgram& uber) {
  PathRun run;
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  resolve::OptionValues values;
  for (uint32_t i = 0; i < uber.settings.size(); ++i) {
    const driver::VariantView& view = assembler.Build(Check(uber, i, values));
    if (!view.ok) {
      Fail(view.diagnostics);
    }
    Hasher all;
    for (const driver::StageWords& code : view.code) {
      Add(code.stage, code.words, all, run);
    }
    all.Update(view.metadata);
    if (run.results.insert(all.Finish().id).second) {
      run.distinct.push_back(i);
    }
  }
  run.linked_modules = assembler.counts().modules;
  run.region_versions = assembler.counts().region_versions;
  return run;
}

std::vector<double> TimeDirect(const UberProgram& uber, std::span<const uint32_t> variants) {
  resolve::OptionValues values;
  driver::DirectBuilder builder(uber.linked, uber.entries, uber.target);
  return TimeChunks(variants, [&](uint32_t i) {
    const driver::BuildResult built = builder.Build(Check(uber, i, values));
    // what callers of either path need: content ids of the modules
    for (const driver::StageCode& code : built.products->code) {
      (void)DigestOf(std::as_bytes(std::span(code.words)));
    }
  });
}

AssembledTimes TimeAssembled(const UberProgram& uber, std::span<const uint32_t> variants) {
  AssembledTimes times;
  resolve::OptionValues values;
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  times.fresh =
      TimeChunks(variants, [&](uint32_t i) { (void)assembler.Build(Check(uber, i, values)); });
  times.known = TimeChunks(variants, [&](uint32_t i) {
    if (!assembler.Find(Check(uber, i, values))) {
      std::exit(1);
    }
  });
  driver::VariantAssembler only_new(uber.linked, uber.entries, uber.target);
  times.only_new = TimeChunks(variants, [&](uint32_t i) {
    (void)only_new.Build(Check(uber, i, values), driver::ModuleSelection::kNew);
  });
  return times;
}

uint64_t MeasureMemory(const UberProgram& uber) {
  const uint64_t before = TrimmedKib();
  driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
  resolve::OptionValues values;
  for (size_t i = 0; i < uber.settings.size(); ++i) {
    (void)assembler.Build(Check(uber, i, values));
  }
  return TrimmedKib() - before;
}

// Every thread first builds its share untimed, so that the memory of its heap is there; freed
// memory stays with the process.
ThreadsRun RunThreads(const UberProgram& uber) {
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
  (void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
  const auto count = static_cast<double>(uber.settings.size());
  ThreadsRun best{.one = 1e9, .two = 1e9};
  for (int round = 0; round < kThreadRounds; ++round) {
    const auto share = [&](size_t first) {
      (void)AssembleSome(uber, first, 2);
      return AssembleSome(uber, first, 2);
    };
    best.one = std::min(best.one, (share(0) + share(1)) / count);
    double times[2] = {};
    std::thread other([&] { times[1] = share(1); });
    times[0] = share(0);
    other.join();
    best.two = std::min(best.two, (times[0] + times[1]) / count);
  }
  return best;
}

uint64_t BuildAllDirect(const UberProgram& uber) {
  uint64_t words = 0;
  resolve::OptionValues values;
  driver::DirectBuilder builder(uber.linked, uber.entries, uber.target);
  for (size_t i = 0; i < uber.settings.size(); ++i) {
    const driver::BuildResult built = builder.Build(Check(uber, i, values));
    for (const driver::StageCode& code : built.products->code) {
      words += code.words.size();
    }
  }
  return words;
}

uint64_t BuildAllAssembled(const UberProgram& uber, driver::VariantAssembler& assembler) {
  uint64_t words = 0;
  resolve::OptionValues values;
  for (size_t i = 0; i < uber.settings.size(); ++i) {
    for (const driver::StageWords& code : assembler.Build(Check(uber, i, values)).code) {
      words += code.words.size();
    }
  }
  return words;
}

uint64_t FindAllKnown(const UberProgram& uber, const driver::VariantAssembler& assembler) {
  uint64_t found = 0;
  resolve::OptionValues values;
  for (size_t i = 0; i < uber.settings.size(); ++i) {
    found += assembler.Find(Check(uber, i, values)) ? 1 : 0;
  }
  return found;
}

}  // namespace kiln::bench
