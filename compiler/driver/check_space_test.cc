// SPDX-License-Identifier: MIT
#include "compiler/driver/check_space.h"

#include <gtest/gtest.h>

#include "compiler/driver/stages.h"

namespace kiln::driver {
namespace {

// Codes with their last note, one per line.
std::string Check(std::string_view source) {
  const std::vector<SourceFile> sources{SourceFile("space.rpl", std::string(source))};
  const Diagnosed<LinkedProgram> linked = LinkSources(sources, ir::PipelineType::kGraphicsClassic);
  const std::vector<resolve::EntryPoint> entries{{.stage = ir::Stage::kVertex, .function = "v"}};
  const Result<SpaceReport> report =
      CheckSpace(*linked.value, entries, target::MakeTarget(target::Environment::kVulkan11));
  if (!report.ok()) {
    return report.error().context;
  }
  std::string text;
  for (const Diagnostic& diagnostic : report->diagnostics) {
    text += std::string(CodeText(diagnostic.code)) + " ";
    text += diagnostic.notes.empty() ? "" : NoteText(diagnostic.notes.back());
    text += "\n";
  }
  return text;
}

TEST(CheckSpace, AMistakeOfSomeVariants_IsSaidOnceWithItsCondition) {
  EXPECT_EQ(Check("global skinning: flag false; global instancing: flag false;\n"
                  "global quality: enum \"low\" \"high\"; global lights: uint 4;\n"
                  "void v (void)\n"
                  "{\n"
                  "    vertex_stage_output_position (f4 {0.0});\n"
                  "    conditional (skinning && !instancing) { f1 x = 1u; }\n"
                  "    conditional (quality == \"high\") { f2 y = 1.0; }\n"
                  "}\n"),
            "RPL6026 fails when skinning && !instancing, 2 of 8 variants\n"
            "RPL6026 fails when quality == \"high\", 4 of 8 variants\n");
}

TEST(CheckSpace, AMistakeOfAllVariants_SaysSo) {
  EXPECT_EQ(Check("global fog: flag true;\nvoid v (void) { f1 x = 1u; }"),
            "RPL6026 fails in all 2 variants\n");
  EXPECT_EQ(Check("void v (void) { f1 x = 1u; vertex_stage_output_position (f4 {0.0}); }"),
            "RPL6026 accepted: f1 { ... } around the value\n");
}

TEST(CheckSpace, TooManyCombinations_AreRefused) {
  std::string source;
  for (int i = 0; i < 17; ++i) {
    source += "global f" + std::to_string(i) + ": flag true;\n";
  }
  EXPECT_EQ(Check(source), "the options have more than 65536 combinations");
}

}  // namespace
}  // namespace kiln::driver
