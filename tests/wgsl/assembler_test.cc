// SPDX-License-Identifier: MIT
// Whatever an assembler has built before, it makes the text that the direct path makes, over random
// programs and values of their options. See spec/wgsl 1.3.
#include <gtest/gtest.h>

#include "compiler/driver/variant_assembler.h"
#include "tests/property/random_program.h"
#include "tests/wgsl/emitted_program.h"

namespace kiln::wgsl {
namespace {

const std::vector<resolve::EntryPoint> kEntries{
    {.stage = ir::Stage::kVertex, .function = "vertex_main"},
    {.stage = ir::Stage::kFragment, .function = "fragment_main"}};

std::string TextOf(const driver::BuildResult& built) {
  std::string text;
  for (const Diagnostic& found : built.diagnostics) {
    text += std::string(CodeText(found.code)) + " " + std::to_string(found.primary.module) + ":" +
            std::to_string(found.primary.bytes.begin) + " " + Message(found) + "\n";
  }
  if (built.ok()) {
    for (const driver::StageCode& stage : built.products->code) {
      text += stage.text;
    }
    text += HashBytes(built.products->metadata).hex();
  }
  return text;
}

TEST(WgslAssembler, EveryVariant_IsAsTheDirectPathMakesIt) {
  uint32_t good = 0;
  for (const bool combined : {false, true}) {
    target::Target target = WgslTarget();
    target.combined = combined;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      const SourceFile source("random.rpl", property::RandomProgram(seed));
      Diagnosed<driver::LinkedProgram> linked =
          driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
      ASSERT_TRUE(linked.ok());
      driver::VariantAssembler assembler(*linked.value, kEntries, target);
      driver::DirectBuilder builder(*linked.value, kEntries, target);
      property::Random random(seed);
      resolve::OptionValues values = property::RandomValues(linked.value->program, random);
      for (uint32_t i = 0; i < 12; ++i) {
        const driver::BuildResult direct =
            driver::BuildDirect(*linked.value, values, kEntries, target);
        ASSERT_EQ(TextOf(assembler.BuildCopy(values)), TextOf(direct)) << source.text;
        ASSERT_EQ(TextOf(builder.Build(values)), TextOf(direct)) << source.text;
        good += direct.ok() ? 1 : 0;
        property::Mutate(linked.value->program, random, values);
      }
    }
  }
  EXPECT_GT(good, 500u) << "the generator makes hardly any program that is right";
}

TEST(WgslAssembler, UnrelatedOption_MakesNoTextAnew) {
  const SourceFile source(
      "test.rpl",
      "instance fog: flag false;\nsetting depth_test = true;\nconditional (fog) setting cull_mode "
      "= \"none\";\n"
      "color_output_container t { f4 c; };\nvoid fragment_main (void) { t.c = f4 {1.0}; }\n");
  Diagnosed<driver::LinkedProgram> linked =
      driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
  ASSERT_TRUE(linked.ok());
  driver::VariantAssembler assembler(*linked.value, std::span(kEntries).subspan(1), WgslTarget());
  resolve::OptionValues values = resolve::CheckOptions(linked.value->program, {}).value.value();
  EXPECT_TRUE(assembler.Build(values).code[0].is_new);
  values.bits[0] = 1;
  EXPECT_FALSE(assembler.Build(values).code[0].is_new);
}

}  // namespace
}  // namespace kiln::wgsl
