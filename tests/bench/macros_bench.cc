// SPDX-License-Identifier: MIT
// macros_bench [--json] [--lists N]: permutations of an unmodified HLSL source by ten macros, each
// list of defines through the daemon's way of building (store in memory, nothing known before),
// against glslang's reader of HLSL in process, which does each list alone. CPU time per list; what
// was parsed, lowered and kept.
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/decorators/memory_store.h"
#include "server/compile/cached_build.h"
#include "server/compile/programs/macro_choices.h"
#include "tests/bench/glslang_peer.h"
#include "tests/bench/measure.h"

namespace kiln::bench {
namespace {

const std::vector<std::string> kMacros{"ALPHA_TEST",   "DITHER",  "FOG",  "NORMAL_MAP",
                                       "POINT_LIGHTS", "SHADOWS", "SNOW", "SPECULAR",
                                       "TONE_MAP",     "WETNESS"};
// Of so many lists the peer's time is taken: it does not depend on how many there are.
constexpr uint32_t kPeerLists = 128;

struct Measured {
  uint32_t lists = 0;
  double kiln_us = 0, glslang_us = 0;  // per list
  uint64_t read = 0, modules = 0, regions = 0, written = 0;
  uint64_t results = 0, codes = 0;
  uint64_t memory_kib = 0;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Defines(uint32_t list, size_t macro) { return (list >> macro & 1) != 0; }

compile::ProgramRequest RequestOf(const std::string& text) {
  compile::ProgramRequest request{.name = "lit", .sources = {}, .entries = {}, .options = {}};
  request.sources.push_back({.path = "lit.hlsl",
                             .digest = DigestOf(std::string_view(text)),
                             .text = std::make_shared<const std::string>(text)});
  request.entries.push_back({.stage = ir::Stage::kFragment, .function = "ps_main"});
  request.hlsl.files = std::make_shared<const FileList>();
  for (const std::string& macro : kMacros) {
    request.hlsl.macros.push_back(*hlsl::MakeMacroAxis(macro, {"false", "true"}));
  }
  return compile::WithChoices(std::move(request), {});
}

// False, with a word about it, if something does not compile.
bool MeasureKiln(const std::string& text, Measured& out) {
  const uint64_t before = TrimmedKib();
  SystemClock clock;
  cache::MemoryStore store{nullptr, nullptr, {}};
  compile::ProgramPool pool(store, 64 << 20);
  compile::CachedBuild builder(store, pool, clock);
  const compile::NamedTarget target{.name = "vk",
                                    .target = target::MakeTarget(target::Environment::kVulkan11)};
  std::set<Digest> codes;
  std::set<Hash128> results;
  const double start = ThreadCpuMicroseconds();
  const auto program = builder.Prepare(RequestOf(text), target, {});
  for (uint32_t list = 0; list < out.lists; ++list) {
    std::vector<resolve::OptionSetting> options;
    for (size_t i = 0; i < kMacros.size(); ++i) {
      options.push_back(
          {.name = kMacros[i], .kind = ir::OptionKind::kFlag, .bits = Defines(list, i) ? 1u : 0u});
    }
    const Result<compile::Outcome> built =
        program.ok() ? builder.Build(**program, options, {}, {}) : program.error();
    if (!built.ok() || built->kind != compile::OutcomeKind::kOk) {
      fmt::print(stderr, "macros_bench: list {} does not compile\n", list);
      return false;
    }
    codes.insert(built->artifact->code.at(0).digest);
    results.insert(built->artifact->signature);
  }
  out.kiln_us = (ThreadCpuMicroseconds() - start) / out.lists;
  out.memory_kib = ResidentKib() - before;
  out.read = pool.Counters().parsed;
  out.modules = pool.Counters().parsed - pool.Counters().same_tokens;
  out.regions = builder.counters().regions_lowered;
  out.written = builder.counters().modules_written;
  out.results = results.size();
  out.codes = codes.size();
  return true;
}

void MeasurePeer(const std::string& text, Measured& out) {
  const GlslangPeer peer;
  const uint32_t step = std::max(1u, out.lists / kPeerLists);
  uint32_t done = 0;
  const double start = ThreadCpuMicroseconds();
  for (uint32_t list = 0; list < out.lists; list += step, ++done) {
    std::string preamble;
    for (size_t i = 0; i < kMacros.size(); ++i) {
      preamble += Defines(list, i) ? "#define " + kMacros[i] + " 1\n" : std::string();
    }
    (void)peer.CompileHlsl(text, preamble, "ps_main");
  }
  out.glslang_us = (ThreadCpuMicroseconds() - start) / done;
}

void Print(const Measured& measured, bool json) {
  const double ratio = measured.glslang_us / measured.kiln_us;
  if (json) {
    const nlohmann::ordered_json row{{"bench", "macros"},
                                     {"lists", measured.lists},
                                     {"kiln_us_per_list", measured.kiln_us},
                                     {"glslang_us_per_list", measured.glslang_us},
                                     {"ratio", ratio},
                                     {"lists_read", measured.read},
                                     {"modules", measured.modules},
                                     {"regions_lowered", measured.regions},
                                     {"modules_written", measured.written},
                                     {"results", measured.results},
                                     {"distinct_code", measured.codes},
                                     {"memory_kib", measured.memory_kib}};
    fmt::print("{}\n", row.dump());
    return;
  }
  fmt::print("{} lists of {} macros: kiln {:.1f} us, glslang {:.1f} us per list, {:.1f} x\n",
             measured.lists, kMacros.size(), measured.kiln_us, measured.glslang_us, ratio);
  fmt::print("read {}, modules {}, regions lowered {}, written {}, results {}, code {}, {} KiB\n",
             measured.read, measured.modules, measured.regions, measured.written, measured.results,
             measured.codes, measured.memory_kib);
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  CLI::App app("Permutations of an HLSL source by ten macros, beside glslang.");
  bool json = false;
  kiln::bench::Measured measured{.lists = 1024};
  app.add_flag("--json", json, "One line of JSON");
  app.add_option("--lists", measured.lists, "Lists of defines")->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);
  const std::string text = kiln::bench::ReadAll(KILN_SOURCE_DIR "/tests/bench/shaders/lit.hlsl");
  if (!kiln::bench::MeasureKiln(text, measured)) {
    return 2;
  }
  kiln::bench::MeasurePeer(text, measured);
  kiln::bench::Print(measured, json);
  return 0;
}
