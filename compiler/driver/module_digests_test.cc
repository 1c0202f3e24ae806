// SPDX-License-Identifier: MIT
// Digests of what an assembler writes: of new modules and of metadata, made together, or left out.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "compiler/resolve/values/options.h"

namespace kiln::driver {
namespace {

struct Form {
  const char* name;
  target::Form form;
};
const std::vector<Form> kForms = {{"words", target::Form::kSpirv}, {"text", target::Form::kWgsl}};

constexpr const char* kText =
    "set_pass uniform_buffer view { f4 light; };\n"
    "color_output_container target { f4 color; };\n"
    "void v (void) { vertex_stage_output_position (view.light); }\n"
    "void f (void) { target.color = view.light; }\n";
const std::vector<resolve::EntryPoint> kEntries = {
    {.stage = ir::Stage::kVertex, .function = "v"},
    {.stage = ir::Stage::kFragment, .function = "f"}};

LinkedProgram Linked() {
  const SourceFile source("p.rpl", kText);
  Diagnosed<LinkedProgram> linked =
      LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
  EXPECT_TRUE(linked.ok());
  return std::move(*linked.value);
}

target::Target TargetOf(const Form& form) {
  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  target.form = form.form;
  return target;
}

Digest DigestOfCode(const StageWords& stage) {
  return stage.text.empty() ? DigestOf(std::as_bytes(stage.words)) : DigestOf(stage.text);
}

TEST(ModuleDigests, OfEveryStageAndOfMetadata_AreThoseOfTheBytes) {
  const LinkedProgram linked = Linked();
  const resolve::OptionValues values = *resolve::CheckOptions(linked.program, {}).value;
  for (const Form& form : kForms) {
    VariantAssembler assembler(linked, kEntries, TargetOf(form));
    for (const char* time : {"first", "second"}) {
      const BuildResult built = assembler.BuildCopy(values);
      ASSERT_TRUE(built.ok()) << form.name;
      ASSERT_EQ(built.products->code.size(), 2u);
      for (const StageCode& stage : built.products->code) {
        EXPECT_EQ(stage.content, DigestOf(stage.bytes())) << form.name << " " << time;
      }
      EXPECT_EQ(built.products->metadata_content, DigestOf(ByteView(built.products->metadata)));
    }
  }
}

// A module that was written without a digest is written again when somebody asks for it, although
// it is not new.
TEST(ModuleDigests, LeftOut_AreMadeWhenSomebodyAsks) {
  const LinkedProgram linked = Linked();
  const resolve::OptionValues values = *resolve::CheckOptions(linked.program, {}).value;
  for (const Form& form : kForms) {
    VariantAssembler assembler(linked, kEntries, TargetOf(form));
    const VariantView& bare =
        assembler.Build(values, ModuleSelection::kAll, ModuleDigests::kLeftOut);
    ASSERT_TRUE(bare.ok) << form.name;
    std::vector<Digest> expected;
    for (const StageWords& stage : bare.code) {
      EXPECT_EQ(stage.content, Digest{});
      EXPECT_TRUE(stage.is_new);
      expected.push_back(DigestOfCode(stage));
    }
    for (const char* time : {"asked", "known"}) {
      const VariantView& view = assembler.Build(values, ModuleSelection::kNew);
      ASSERT_EQ(view.code.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(view.code[i].content, expected[i]) << form.name << " " << time;
        EXPECT_FALSE(view.code[i].is_new);
        EXPECT_EQ(view.code[i].words.empty() && view.code[i].text.empty(), *time == 'k') << time;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::driver
