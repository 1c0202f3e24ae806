// SPDX-License-Identifier: MIT
// Random programs three ways: as their generator says from rpl.md, as the interpreter runs their
// closed form, and on lavapipe. KILN_ORACLE_SEEDS=first:count runs others than the fixed ones.
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "tests/oracle/bench_test.h"
#include "tests/support/random_program.h"

namespace kiln::oracle {
namespace {

constexpr std::string_view kEnvironments[] = {"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"};

struct Seeds {
  uint32_t first = 1;
  uint32_t count = 32;
};

Seeds SeedsOf(const char* text) {
  Seeds seeds;
  if (text != nullptr) {
    char* rest = nullptr;
    seeds.first = static_cast<uint32_t>(std::strtoul(text, &rest, 10));
    seeds.count = *rest == ':' ? static_cast<uint32_t>(std::strtoul(rest + 1, nullptr, 10)) : 1;
  }
  return seeds;
}

// The first output on which two interpretations differ, or nothing. Errors are part of the meaning.
std::string Difference(const Outcome& meant, const Outcome& closed) {
  if (!meant.undecided.empty() || !closed.undecided.empty()) {
    return meant.undecided.empty() == closed.undecided.empty()
               ? ""
               : fmt::format("'{}' against '{}'", meant.undecided, closed.undecided);
  }
  if (meant.discarded != closed.discarded) {
    return "discarded or not";
  }
  for (const auto& [output, cells] : meant.written) {
    const Value& others = closed.written.find(output)->second;
    for (size_t i = 0; i < cells.size() && !meant.discarded; ++i) {
      const bool open = !std::isfinite(cells[i].error) && !std::isfinite(others[i].error);
      if (!open && (cells[i].bits != others[i].bits || cells[i].error != others[i].error)) {
        return fmt::format("{}[{}]: meant {:#x} within {}, closed {:#x} within {}", output, i,
                           cells[i].bits, cells[i].error, others[i].bits, others[i].error);
      }
    }
  }
  return "";
}

class RandomPrograms : public BenchTest {};

TEST_F(RandomPrograms, SourceInterpreterAndDevice_Agree) {
  const Seeds seeds = SeedsOf(std::getenv("KILN_ORACLE_SEEDS"));
  uint64_t decided = 0;
  uint64_t open = 0;
  for (uint32_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const RandomProgram program = MakeRandomProgram(seed);
    const Samples samples = MakeRandomSamples(seed);
    VariantRequest request = BenchRequest(program.source);
    request.options = program.options;
    request.environment = kEnvironments[seed % std::size(kEnvironments)];
    const BuiltVariant variant(request);
    ASSERT_TRUE(variant.ok()) << variant.messages() << program.source;
    const std::vector<Outcome> closed = InterpretBench(variant, samples);
    for (uint32_t i = 0; i < kBenchPixels; ++i) {
      ASSERT_EQ(Difference(program.run(samples, i), closed[i]), "")
          << "pixel " << i << "\n"
          << ::testing::PrintToString(program.options) << program.source;
    }
    const Result<Pixels> pixels = bench().Run(variant, samples);
    ASSERT_TRUE(pixels.ok()) << ErrorText(pixels.error()) << program.source;
    const Comparison comparison = Compare(closed, *pixels, samples);
    EXPECT_EQ(comparison.difference, "") << program.source;
    decided += comparison.decided;
    open += comparison.open;
  }
  EXPECT_GT(decided, open * 2) << "the generator says too little";
  RecordProperty("decided", std::to_string(decided));
  RecordProperty("open", std::to_string(open));
}

}  // namespace
}  // namespace kiln::oracle
