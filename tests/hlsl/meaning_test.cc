// SPDX-License-Identifier: MIT
// What T0 means: every row of meaning_rows is compiled by kiln and computed for 32 sets of inputs
// on a device and by the interpreter of specialised IR. Rows go through the compiler in batches,
// and each stores its result, so none can be dropped unseen.
#include <bit>
#include <random>

#include <fmt/format.h>

#include "tests/hlsl/meaning_rows.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"

namespace kiln::hlsl {
namespace {

constexpr uint32_t kInputs = 32;
constexpr size_t kBatch = 16;
constexpr size_t kMadeBytes = 192;

template <class T>
void Append(std::vector<std::byte>& bytes, T item) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(item);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// In the ranges that meaning_rows.cc promises; floats are multiples of 1/8, so sums and products
// are exact.
std::vector<std::byte> Inputs() {
  std::mt19937 random(20261124);
  std::vector<std::byte> bytes;
  const auto four = [&](auto draw) {
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, draw());
    }
  };
  const auto word = [&] {
    const auto drawn = static_cast<uint32_t>(random());
    const uint32_t kind = random() % 4;
    return kind == 0 ? drawn % 9 : kind == 1 ? ~(drawn % 9) : drawn;
  };
  for (uint32_t item = 0; item < kInputs; ++item) {
    four([&] { return (static_cast<float>(random() % 257) - 128) / 8; });
    four([&] { return static_cast<float>(1 + random() % 64) / 8; });
    four(word);
    four([&] { return static_cast<uint32_t>(1 + random() % 31); });
    four([&] { return static_cast<int32_t>(word()); });
    four([&] { return static_cast<int32_t>(1 + random() % 127); });
  }
  return bytes;
}

class Meaning : public oracle::OperatorFixture {
 protected:
  using Row = std::vector<MeaningRow>::const_iterator;

  static VariantRequest RequestOf(const std::string& source, Version version) {
    VariantRequest request{.sources = {source}, .entries = {"compute:main"}};
    request.inputs.language = ir::Language::kHlsl;
    request.inputs.hlsl.version = version;
    return request;
  }

  // What differs, or nothing. Rows of a batch that fails are run one by one, to name them.
  static void RunBatch(Row begin, Row end) {
    const std::string wrong = WhatDiffers(begin, end);
    if (wrong.empty()) {
      return;
    }
    if (end - begin == 1) {
      ADD_FAILURE() << begin->name << (begin->version == Version::k2018 ? " (2018)" : "") << "\n"
                    << begin->statements << "\n"
                    << wrong;
      return;
    }
    for (Row row = begin; row != end; ++row) {
      RunBatch(row, row + 1);
    }
  }

  static std::string WhatDiffers(Row begin, Row end) {
    const BuiltVariant variant(RequestOf(ProgramOf(begin, end), begin->version));
    if (!variant.ok()) {
      return variant.messages();
    }
    oracle::ComputeRun run{.groups = {kInputs, 1, 1}};
    run.memory.buffers["given"] = Inputs();
    run.memory.buffers["made"] =
        std::vector<std::byte>(kInputs * kMadeBytes * static_cast<size_t>(end - begin));
    std::string why;
    const oracle::Surroundings expected = oracle::InterpretCompute(variant, run, why);
    if (!why.empty()) {
      return why;
    }
    const Result<oracle::ComputeMemory> found = oracle::RunCompute(bench(), variant, run);
    if (!found.ok()) {
      return ErrorText(found.error());
    }
    const oracle::Comparison comparison = oracle::CompareMemory(variant, expected, *found);
    if (!comparison.difference.empty()) {
      return comparison.difference;
    }
    const bool open = std::any_of(begin, end, [](const MeaningRow& row) { return row.open; });
    return open || comparison.open == 0 ? "" : fmt::format("{} results are open", comparison.open);
  }

  // The rows of one version, in batches whose rows are all decided, or all not.
  static void RunAll(Version version, size_t part, size_t parts) {
    std::vector<MeaningRow> rows = MeaningRows();
    std::erase_if(rows, [&](const MeaningRow& row) { return row.version != version; });
    std::ranges::stable_sort(rows, {}, &MeaningRow::open);
    for (size_t first = part * kBatch; first < rows.size(); first += parts * kBatch) {
      const size_t last = std::min(first + kBatch, rows.size());
      RunBatch(rows.begin() + static_cast<std::ptrdiff_t>(first),
               rows.begin() + static_cast<std::ptrdiff_t>(last));
      if (HasFailure() && std::getenv("KILN_FULL") == nullptr) {
        return;  // the first is enough
      }
    }
  }
};

TEST_F(Meaning, Rows_AreMany) {
  const std::vector<MeaningRow> rows = MeaningRows();
  EXPECT_GE(rows.size(), 3000U);
  RecordProperty("rows", static_cast<int>(rows.size()));
}

class MeaningParts : public Meaning, public ::testing::WithParamInterface<size_t> {};
constexpr size_t kParts = 8;

TEST_P(MeaningParts, RowsOf2021_AgreeWithTheInterpreter) {
  RunAll(Version::k2021, GetParam(), kParts);
}
TEST_P(MeaningParts, RowsOf2018_AgreeWithTheInterpreter) {
  RunAll(Version::k2018, GetParam(), kParts);
}

INSTANTIATE_TEST_SUITE_P(All, MeaningParts, ::testing::Range(size_t{0}, kParts));

}  // namespace
}  // namespace kiln::hlsl
