// SPDX-License-Identifier: MIT
// Every row of meaning_rows is compiled and run on a device, and by the interpreter of specialised
// IR where it knows all of it. What is folded is compared with what is computed.
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"
#include "tests/wgsl_front/meaning_rows.h"

namespace kiln::wgsl::front {
namespace {

constexpr size_t kBatch = 24;

class WgslMeaning : public oracle::OperatorFixture {
 protected:
  // What is wrong, by the name of its row; rows of a batch that fails whole are run one by one.
  static void RunBatch(std::span<const MeaningRow> rows) {
    VariantRequest request{.sources = {ProgramOf(rows)}, .entries = {"compute:main"}};
    request.inputs.language = ir::Language::kWgsl;
    const BuiltVariant variant(request);
    if (!variant.ok()) {
      if (rows.size() > 1) {
        for (size_t i = 0; i < rows.size(); ++i) {
          RunBatch(rows.subspan(i, 1));
        }
        return;
      }
      ADD_FAILURE() << rows[0].name << "\n" << rows[0].statements << "\n" << variant.messages();
      return;
    }
    oracle::ComputeRun run;
    run.memory.buffers["made"] = std::vector<std::byte>(rows.size() * 4);
    const Result<oracle::ComputeMemory> found = oracle::RunCompute(bench(), variant, run);
    ASSERT_TRUE(found.ok()) << ErrorText(found.error());
    const std::vector<std::byte>& bytes = found->buffers.find("made")->second;
    for (size_t i = 0; i < rows.size(); ++i) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + i * 4, 4);
      EXPECT_EQ(word, 2u) << rows[i].name << "\n" << rows[i].statements;
    }
    std::string why;
    const oracle::Surroundings expected = oracle::InterpretCompute(variant, run, why);
    if (why.empty()) {
      ++interpreted;
      EXPECT_EQ(oracle::CompareMemory(variant, expected, *found).difference, "");
    }
  }

  static inline size_t interpreted = 0;  // batches
};

TEST_F(WgslMeaning, WhatIsFolded_IsWhatIsComputed) {
  const std::vector<MeaningRow> rows = MeaningRows();
  EXPECT_GE(rows.size(), 500u);
  RecordProperty("rows", static_cast<int>(rows.size()));
  for (size_t first = 0; first < rows.size(); first += kBatch) {
    RunBatch(std::span(rows).subspan(first, std::min(kBatch, rows.size() - first)));
  }
  EXPECT_GT(interpreted, 5u);
}

}  // namespace
}  // namespace kiln::wgsl::front
