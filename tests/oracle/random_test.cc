// SPDX-License-Identifier: MIT
// Random programs three ways: as their generator says from spec/rpl, as the interpreter runs their
// specialised form, and on lavapipe, as fragments and as compute programs.
// KILN_ORACLE_SEEDS=first:count runs others than the fixed ones.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"
#include "tests/support/random_program.h"
#include "tests/support/random_workgroup.h"

namespace kiln::oracle {
namespace {

constexpr std::string_view kEnvironments[] = {"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"};
constexpr std::string_view kOutputs[] = {"result.f0", "result.f1", "result.f2",
                                         "result.f3", "result.u0", "result.s0"};
constexpr size_t kRowCells = 24;

constexpr char kComputePrelude[] = R"(rpl 2;
struct bench_sample_t { f4[8] f; u4[3] u; s4[3] s; };
struct result_t { f4 f0; f4 f1; f4 f2; f4 f3; u4 u0; s4 s0; };
set_pass read_only_storage_buffer bench { bench_sample_t... samples; };
set_pass read_write_storage_buffer outcome { result_t... rows; };
setting workgroup_size_x = 64u;
void main (void)
{
    u1 index = compute_stage_global_id ().x;
    f4 zero = f4 { 0.0 };
    result_t result = result_t { zero, zero, zero, zero, u4 { 0u }, s4 { 0 } };
    probe (index, result);
    outcome.rows[index] = result;
}
)";

struct Seeds {
  uint32_t first = 1;
  uint32_t count = 60;
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
// A conditional expression without calls is computed on both sides, so specialised IR may know
// more.
std::string Difference(const Outcome& meant, const Outcome& specialised, bool knows_more) {
  if (!meant.undecided.empty() || !specialised.undecided.empty()) {
    const bool same = meant.undecided.empty() == specialised.undecided.empty();
    return same || (knows_more && specialised.undecided.empty())
               ? ""
               : fmt::format("'{}' against '{}'", meant.undecided, specialised.undecided);
  }
  if (meant.discarded != specialised.discarded) {
    return "discarded or not";
  }
  for (const auto& [output, cells] : meant.written) {
    const Value& others = specialised.written.find(output)->second;
    for (size_t i = 0; i < cells.size() && !meant.discarded; ++i) {
      const bool open = !std::isfinite(cells[i].error) && !std::isfinite(others[i].error);
      if (!open && (cells[i].bits != others[i].bits || cells[i].error != others[i].error)) {
        return fmt::format("{}[{}]: meant {:#x} within {}, specialised {:#x} within {}", output, i,
                           cells[i].bits, cells[i].error, others[i].bits, others[i].error);
      }
    }
  }
  return "";
}

class RandomPrograms : public OperatorFixture {
 protected:
  struct Tally {
    uint64_t decided = 0;
    uint64_t open = 0;

    void Add(const Comparison& comparison) {
      decided += comparison.decided;
      open += comparison.open;
    }
  };

  // Calls `run` with every seed.
  static void ForEachSeed(const std::function<void(uint32_t seed, Tally& tally)>& run) {
    const Seeds seeds = SeedsOf(std::getenv("KILN_ORACLE_SEEDS"));
    Tally tally;
    for (uint32_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
      SCOPED_TRACE(fmt::format("seed {}", seed));
      run(seed, tally);
      if (HasFatalFailure()) {
        return;
      }
    }
    EXPECT_GT(tally.decided, tally.open * 2) << "the generator says too little";
    RecordProperty("decided", std::to_string(tally.decided));
    RecordProperty("open", std::to_string(tally.open));
  }

  static void RunFragments(uint32_t seed, Language language, Tally& tally) {
    const RandomProgram program = MakeRandomProgram(seed, language);
    const Samples samples = MakeRandomSamples(seed);
    VariantRequest request = BenchRequest(program.source);
    request.options = program.options;
    request.environment = kEnvironments[seed % std::size(kEnvironments)];
    const BuiltVariant variant(request);
    ASSERT_TRUE(variant.ok()) << variant.messages() << program.source;
    const std::vector<Outcome> specialised = InterpretPixels(variant, samples);
    const bool later = language != Language::kVersion1;
    for (uint32_t i = 0; i < kBenchPixels; ++i) {
      ASSERT_EQ(Difference(program.run(samples, i), specialised[i], later), "")
          << "pixel " << i << "\n"
          << ::testing::PrintToString(program.options) << program.source;
    }
    const Result<Pixels> pixels = bench().Run(variant, samples);
    ASSERT_TRUE(pixels.ok()) << ErrorText(pixels.error()) << program.source;
    const Comparison comparison = Compare(specialised, *pixels, samples);
    EXPECT_EQ(comparison.difference, "")
        << ::testing::PrintToString(program.options) << program.source;
    tally.Add(comparison);
  }

  // Row `index` of the results as outputs of an invocation.
  static Outcome OutcomeOf(const Value& rows, uint32_t index, std::string undecided) {
    Outcome outcome;
    outcome.undecided = std::move(undecided);
    for (size_t i = 0; i < std::size(kOutputs); ++i) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(index * kRowCells + i * 4);
      outcome.written[std::string(kOutputs[i])] = Value(begin, begin + 4);
    }
    return outcome;
  }

  static void RunCompute(uint32_t seed, Tally& tally) {
    const RandomProgram program = MakeRandomProgram(seed, Language::kVersion2Compute);
    const Samples samples = MakeRandomSamples(seed);
    const BuiltVariant variant(
        {.sources = {kComputePrelude, program.source},
         .entries = {"compute:main"},
         .options = program.options,
         .environment = std::string(kEnvironments[seed % std::size(kEnvironments)])});
    ASSERT_TRUE(variant.ok()) << variant.messages() << program.source;
    Surroundings around;
    std::vector<uint32_t> words(sizeof(Samples) / sizeof(uint32_t));
    std::memcpy(words.data(), samples.data(), sizeof(Samples));
    around.globals["bench"] = ExactValue(words);
    Value& rows = around.globals["outcome"];
    rows.resize(kRowCells * kBenchPixels);
    for (uint32_t i = 0; i < kBenchPixels; ++i) {
      Inputs inputs;
      inputs.stage[ir::StageVariable::kGlobalId] = ExactValue(std::array{i, 0U, 0U});
      const std::string undecided =
          Interpret(variant.specialised(), ir::Stage::kCompute, around, inputs).undecided;
      ASSERT_EQ(Difference(program.run(samples, i), OutcomeOf(rows, i, undecided), true), "")
          << "row " << i << "\n"
          << ::testing::PrintToString(program.options) << program.source;
    }
    ComputeRun run{.groups = {kBenchPixels / 64, 1, 1}};
    const auto bytes = std::as_bytes(std::span(samples));
    run.memory.buffers["bench"].assign(bytes.begin(), bytes.end());
    run.memory.buffers["outcome"].resize(kRowCells * 4 * kBenchPixels);
    const Result<ComputeMemory> found = oracle::RunCompute(bench(), variant, run);
    ASSERT_TRUE(found.ok()) << ErrorText(found.error()) << program.source;
    const Comparison comparison = CompareMemory(variant, around, *found);
    EXPECT_EQ(comparison.difference, "")
        << ::testing::PrintToString(program.options) << program.source;
    tally.Add(comparison);
  }

  // Workgroups that work on shared memory between barriers; there is no third meaning.
  static void RunWorkgroups(uint32_t seed, Tally& tally) {
    const RandomWorkgroup program = MakeRandomWorkgroup(seed);
    const BuiltVariant variant(
        {.sources = {program.source},
         .entries = {"compute:main"},
         .options = {},
         .environment = std::string(kEnvironments[seed % std::size(kEnvironments)])});
    ASSERT_TRUE(variant.ok()) << variant.messages() << program.source;
    std::string why;
    const Surroundings expected = InterpretCompute(variant, program.run, why);
    ASSERT_EQ(why, "") << program.source;
    const Result<ComputeMemory> found = oracle::RunCompute(bench(), variant, program.run);
    ASSERT_TRUE(found.ok()) << ErrorText(found.error()) << program.source;
    const Comparison comparison = CompareMemory(variant, expected, *found);
    EXPECT_EQ(comparison.difference, "") << program.source;
    tally.Add(comparison);
  }
};

TEST_F(RandomPrograms, Version1_SourceInterpreterAndDevice_Agree) {
  ForEachSeed([](uint32_t seed, Tally& tally) { RunFragments(seed, Language::kVersion1, tally); });
}

TEST_F(RandomPrograms, Version2_SourceInterpreterAndDevice_Agree) {
  ForEachSeed([](uint32_t seed, Tally& tally) { RunFragments(seed, Language::kVersion2, tally); });
}

TEST_F(RandomPrograms, Compute_SourceInterpreterAndDevice_Agree) {
  ForEachSeed([](uint32_t seed, Tally& tally) { RunCompute(seed, tally); });
}

TEST_F(RandomPrograms, Workgroups_InterpreterAndDevice_Agree) {
  ForEachSeed([](uint32_t seed, Tally& tally) { RunWorkgroups(seed, tally); });
}

}  // namespace
}  // namespace kiln::oracle
