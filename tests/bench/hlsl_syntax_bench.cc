// SPDX-License-Identifier: MIT
// hlsl_syntax_bench [FILE…]: CPU time of HLSL's preprocessor and parser, for the corpus of
// tests/hlsl or the files that are named, repeated to 64 KiB each. Best of many runs, because
// everything that disturbs makes it slower. Exit 1 above the gate of both together, 15
// µs per KiB.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/parse.h"
#include "tests/bench/measure.h"

namespace kiln::bench {
namespace {

constexpr double kGateMicroseconds = 15.0;  // per KiB
constexpr size_t kBytes = size_t{64} << 10;
constexpr int kRuns = 200;

std::string ReadRepeated(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  std::string out;
  while (!text.str().empty() && out.size() < kBytes) {
    out += text.str();
  }
  return out;
}

// Microseconds per KiB of both stages together; negative if the file cannot be parsed.
double Measure(const std::string& path) {
  const SourceFile source("bench.hlsl", ReadRepeated(path));
  const std::array<std::string_view, 1> texts{source.text};
  double read_best = 1e9;
  double parse_best = 1e9;
  size_t tokens = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double begin = ThreadCpuMicroseconds();
    const hlsl::PreprocessResult read = hlsl::Preprocess(source, {}, {}, 0);
    const double read_at = ThreadCpuMicroseconds();
    const hlsl::syntax::ParseResult parsed =
        hlsl::syntax::Parse(read.stream, texts, hlsl::Version::k2021);
    parse_best = std::min(parse_best, ThreadCpuMicroseconds() - read_at);
    read_best = std::min(read_best, read_at - begin);
    tokens = read.stream.tokens.size();
    if (source.text.empty() || HasErrors(read.diagnostics) || HasErrors(parsed.diagnostics)) {
      return -1;
    }
  }
  const double kib = static_cast<double>(source.text.size()) / 1024;
  fmt::print("{}: {:.0f} KiB, {} tokens: preprocess {:.2f}, parse {:.2f} us per KiB\n", path, kib,
             tokens, read_best / kib, parse_best / kib);
  return (read_best + parse_best) / kib;
}

int Run(std::vector<std::string> paths) {
  if (paths.empty()) {
    for (const std::string_view name :
         {"arithmetic", "control", "particles", "postprocess", "terrain"}) {
      paths.push_back(fmt::format(KILN_SOURCE_DIR "/tests/hlsl/corpus/{}.hlsl", name));
    }
  }
  double worst = 0;
  for (const std::string& path : paths) {
    const double found = Measure(path);
    if (found < 0) {
      fmt::print(stderr, "hlsl_syntax_bench: {} cannot be read or has errors\n", path);
      return 2;
    }
    worst = std::max(worst, found);
  }
  return worst <= kGateMicroseconds ? 0 : 1;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) { return kiln::bench::Run({argv + 1, argv + argc}); }
