// SPDX-License-Identifier: MIT
// front_bench [--json] [SOURCE]: CPU time of the RPL front end, by stage, for the peer uber source.
// Best of many runs, because everything that disturbs makes it slower. With --json one object with
// a `gates` member; exit 1 if a gate does not hold.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "compiler/front/rpl/front.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/front/rpl/lower.h"
#include "compiler/front/rpl/parse.h"
#include "tests/bench/measure.h"

namespace kiln::bench {
namespace {

constexpr double kGateMicroseconds = 150.0;
constexpr double kGoalMicroseconds = 75.0;
constexpr int kRuns = 3000;

struct Times {
  double lex = 1e9;
  double parse = 1e9;
  double lower = 1e9;
  double whole() const { return lex + parse + lower; }
};

// Each stage at its best; what is made is dropped inside the measured time, as it is in use.
Times Measure(const std::string& text) {
  Times best;
  for (int run = 0; run < kRuns; ++run) {
    const double begin = ThreadCpuMicroseconds();
    const rpl::LexResult lexed = rpl::Lex(text, 0);
    const double lexed_at = ThreadCpuMicroseconds();
    const rpl::ParseResult parsed = rpl::ParseTokens(text, lexed, 0);
    const double parsed_at = ThreadCpuMicroseconds();
    { const ir::Module module = rpl::Lower(text, lexed, parsed.ast, {}); }
    best.lex = std::min(best.lex, lexed_at - begin);
    best.parse = std::min(best.parse, parsed_at - lexed_at);
    best.lower = std::min(best.lower, ThreadCpuMicroseconds() - parsed_at);
  }
  return best;
}

void PrintJson(const Times& times, size_t bytes) {
  fmt::print(
      "{{\"bench\": \"front_bench\", \"source_bytes\": {}, \"lex_us\": {:.2f}, \"parse_us\": "
      "{:.2f}, "
      "\"lower_us\": {:.2f}, \"total_us\": {:.2f}, \"us_per_kb\": {:.3f}, \"goal_us\": {:.0f}, "
      "\"gates\": {{\"front_us\": {{\"value\": {:.2f}, \"gate\": {:.0f}, \"ok\": {}}}}}}}\n",
      bytes, times.lex, times.parse, times.lower, times.whole(),
      times.whole() * 1024 / static_cast<double>(bytes), kGoalMicroseconds, times.whole(),
      kGateMicroseconds, times.whole() <= kGateMicroseconds);
}

int Run(const std::string& path, bool json) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const SourceFile source("uber.rpl", text.str());
  if (!file || !rpl::Parse(source, {}, 0).ok()) {
    fmt::print(stderr, "front_bench: {} cannot be read or has errors\n", path);
    return 2;
  }
  const Times times = Measure(source.text);
  if (json) {
    PrintJson(times, source.text.size());
  } else {
    fmt::print("{} bytes: lex {:.1f} us, parse {:.1f} us, lower {:.1f} us, together {:.1f} us\n",
               source.text.size(), times.lex, times.parse, times.lower, times.whole());
  }
  return times.whole() <= kGateMicroseconds ? 0 : 1;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  bool json = false;
  std::string path = KILN_SOURCE_DIR "/tests/bench/shaders/uber.rpl";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") {
      json = true;
    } else {
      path = argv[i];
    }
  }
  return kiln::bench::Run(path, json);
}
