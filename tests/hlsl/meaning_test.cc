// SPDX-License-Identifier: MIT
// What T0 means: every row of meaning_rows is compiled by kiln and computed for 32 sets of inputs
// on a device and by the interpreter of specialised IR. Rows go through the compiler in batches,
// and each stores its result, so none can be dropped unseen.
#include <algorithm>
#include <fstream>
#include <regex>

#include <fmt/format.h>

#include "tests/hlsl/meaning_rows.h"
#include "tests/hlsl/meaning_run.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"

namespace kiln::hlsl {
namespace {

constexpr size_t kBatch = 16;

// Is the row one of meaning_known.txt?
bool IsKnown(const MeaningRow& row) {
  static const std::vector<std::regex> patterns = [] {
    std::ifstream file(KILN_SOURCE_DIR "/tests/hlsl/meaning_known.txt");
    std::vector<std::regex> read;
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with('#')) {
        read.emplace_back(line.substr(0, line.rfind('|')));
      }
    }
    return read;
  }();
  return std::ranges::any_of(patterns,
                             [&](const std::regex& r) { return std::regex_match(row.name, r); });
}

class Meaning : public oracle::OperatorFixture {
 protected:
  using Row = std::vector<MeaningRow>::const_iterator;

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
    const BuiltVariant variant(MeaningRequest(ProgramOf(begin, end), begin->version));
    if (!variant.ok()) {
      return variant.messages();
    }
    const oracle::ComputeRun run = MeaningRun(static_cast<size_t>(end - begin));
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

  // The rows of one version, in batches whose rows are all decided, or all not; every second batch,
  // with KILN_FULL each.
  static void RunAll(Version version, size_t part, size_t parts) {
    std::vector<MeaningRow> rows = MeaningRows();
    std::erase_if(rows, [&](const MeaningRow& row) { return row.version != version; });
    std::erase_if(rows, IsKnown);
    std::ranges::stable_sort(rows, {}, &MeaningRow::open);
    const size_t stride = parts * (std::getenv("KILN_FULL") != nullptr ? 1 : 2);
    for (size_t first = part * kBatch; first < rows.size(); first += stride * kBatch) {
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

TEST_F(Meaning, KnownFaults_AreStillThere) {
  const std::vector<MeaningRow> rows = MeaningRows();
  uint32_t known = 0;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (IsKnown(*row)) {
      ++known;
      EXPECT_NE(WhatDiffers(row, row + 1), "") << row->name << " holds: take it off the list";
    }
  }
  EXPECT_LE(known, 32U);
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
