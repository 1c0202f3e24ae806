// SPDX-License-Identifier: MIT
// Every row of meaning_rows is compiled and run on a device, and by the interpreter of specialised
// IR where it knows all of it. What is folded is compared with what is computed. Then the same of
// the text that kiln writes of each.
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"
#include "tests/wgsl_front/meaning_rows.h"

namespace kiln::wgsl::front {
namespace {

constexpr size_t kBatch = 24;

// The module of WGSL of a source, or what is wrong.
std::string Rewritten(const std::string& text, std::string& messages) {
  const SourceFile source("p.wgsl", text);
  Diagnosed<driver::LinkedProgram> linked =
      driver::LinkSources(std::span(&source, 1), ir::PipelineType::kCompute);
  std::vector<Diagnostic> found = linked.diagnostics;
  std::string written;
  if (linked.ok()) {
    target::Target target = target::MakeTarget(target::Environment::kVulkan11);
    target.form = target::Form::kWgsl;
    const resolve::EntryPoint entry{.stage = ir::Stage::kCompute, .function = "main"};
    driver::BuildResult built = driver::BuildDirect(
        *linked.value, resolve::CheckOptions(linked.value->program, {}).value.value(),
        std::span(&entry, 1), target);
    found.insert(found.end(), built.diagnostics.begin(), built.diagnostics.end());
    written = built.ok() ? built.products->code[0].text : std::string();
  }
  for (const Diagnostic& diagnostic : found) {
    messages += fmt::format("{} {}\n", CodeText(diagnostic.code), Message(diagnostic));
  }
  return written;
}

enum class Way : uint8_t { kSource, kWrittenAgain };

class WgslMeaning : public oracle::OperatorFixture {
 protected:
  // What is wrong, by the name of its row; rows of a batch that fails whole are run one by one.
  static void RunBatch(std::span<const MeaningRow> rows, Way way = Way::kSource) {
    std::string text = ProgramOf(rows);
    std::string refused;
    if (way == Way::kWrittenAgain) {
      text = Rewritten(text, refused);
    }
    VariantRequest request{.sources = {text}, .entries = {"compute:main"}};
    request.inputs.language = ir::Language::kWgsl;
    const BuiltVariant variant(request);
    if (!variant.ok()) {
      if (rows.size() > 1) {
        for (size_t i = 0; i < rows.size(); ++i) {
          RunBatch(rows.subspan(i, 1), way);
        }
        return;
      }
      ADD_FAILURE() << rows[0].name << "\n"
                    << rows[0].statements << "\n"
                    << refused << variant.messages() << text;
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
      EXPECT_EQ(word, 2u) << rows[i].name << "\n"
                          << rows[i].statements << (rows.size() == 1 ? text : std::string());
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

TEST_F(WgslMeaning, WhatIsWrittenAgain_IsWhatIsComputed) {
  const std::vector<MeaningRow> rows = MeaningRows();
  for (size_t first = 0; first < rows.size(); first += kBatch) {
    RunBatch(std::span(rows).subspan(first, std::min(kBatch, rows.size() - first)),
             Way::kWrittenAgain);
  }
}

}  // namespace
}  // namespace kiln::wgsl::front
