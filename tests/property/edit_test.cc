// SPDX-License-Identifier: MIT
// Assemblers that go on after edits of the sources: they make what BuildDirect makes, and lower
// again only what was edited. The sources are those of the demo.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/digest.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "tests/property/random_program.h"

namespace kiln::property {
namespace {

const std::vector<resolve::EntryPoint> kEntries{
    {.stage = ir::Stage::kVertex, .function = "pbr_vertex"},
    {.stage = ir::Stage::kFragment, .function = "pbr_fragment"}};

std::string ReadText(const std::string& path) {
  std::ifstream file(KILN_SOURCE_DIR "/examples/demo/shaders/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Edit {
  const char* function;  // nothing else is lowered; "": nothing is
  const char* from;
  const char* to;
};

// Each is made on the original text, which comes back after it.
constexpr Edit kEdits[] = {
    {"grazing", "f1 rest = clamp_f1 (1.0 - cos_angle, 0.0, 1.0);",
     "f1 bent = cos_angle * 0.99;\n    f1 rest = clamp_f1 (1.0 - bent, 0.0, 1.0);"},
    {"hazed", "f3 hazed (in f3 color, in f3 world)\n{\n",
     "f3 hazed (in f3 color, in f3 world)\n{\n    f3 lifted = color;\n"
     "    conditional (fog_glow)\n    {\n        lifted = color + f3 {0.01};\n    }\n"},
    {"lit_color", "    sum = sum + ambient_light (point, to_eye) + point.emissive;\n", ""},
    {"", "depth_compare_operation = \"less_or_equal\"", "depth_compare_operation = \"less\""},
    {"", "// Light that leaves towards", "\n\n// What leaves towards"},
};

driver::LinkedProgram Link(const std::string& pass) {
  const SourceFile sources[] = {SourceFile("forward.rpl", pass),
                                SourceFile("pbr.rpl", ReadText("materials/pbr.rpl"))};
  Diagnosed<driver::LinkedProgram> linked =
      driver::LinkSources(sources, ir::PipelineType::kGraphicsClassic);
  return std::move(*linked.value);
}

std::string TextOf(const driver::BuildResult& built) {
  std::string text = std::to_string(built.diagnostics.size());
  if (built.ok()) {
    for (const driver::StageCode& stage : built.products->code) {
      text += " " + HashBytes(std::as_bytes(std::span(stage.words))).hex();
    }
    text += " " + HashBytes(built.products->metadata).hex();
  }
  return text;
}

// Names of functions that were lowered.
std::set<std::string> Functions(const driver::VariantAssembler& assembler) {
  const std::span<const std::string> lowered = assembler.lowered();
  return {lowered.begin(), lowered.end()};
}

class EditTest : public testing::TestWithParam<bool> {
 protected:
  EditTest() { target.combined = GetParam(); }

  // Builds every variant with what the assembler so far has, and compares.
  void Follow(const std::string& text) {
    auto linked = std::make_unique<driver::LinkedProgram>(Link(text));
    auto next = assembler == nullptr
                    ? std::make_unique<driver::VariantAssembler>(*linked, kEntries, target)
                    : std::make_unique<driver::VariantAssembler>(*linked, kEntries, target,
                                                                 std::move(*assembler));
    assembler = std::move(next);
    linked = std::move(linked);
    Random random(7);
    resolve::OptionValues values = RandomValues(linked->program, random);
    for (int i = 0; i < 60; ++i) {
      const driver::BuildResult direct = driver::BuildDirect(*linked, values, kEntries, target);
      const driver::BuildResult built = assembler->BuildCopy(values, driver::ModuleSelection::kNew);
      ASSERT_EQ(built.ok(), direct.ok());
      ExpectKnown(built, direct);
      ASSERT_EQ(TextOf(assembler->BuildCopy(values)), TextOf(direct)) << text;
      good += direct.ok() ? 1 : 0;
      Mutate(linked->program, random, values);
    }
  }

  // Digests are right whether the words were written or not.
  static void ExpectKnown(const driver::BuildResult& built, const driver::BuildResult& direct) {
    for (size_t i = 0; built.ok() && i < built.products->code.size(); ++i) {
      const std::vector<uint32_t>& words = direct.products->code[i].words;
      ASSERT_EQ(built.products->code[i].content, DigestOf(std::as_bytes(std::span(words))));
    }
  }

  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  std::unique_ptr<driver::LinkedProgram> linked;
  std::unique_ptr<driver::VariantAssembler> assembler;  // goes before what it refers to
  uint32_t good = 0;
};

TEST_P(EditTest, EveryEdit_LowersWhatItTouchedAndMakesTheBytesOfTheDirectPath) {
  const std::string original = ReadText("passes/forward.rpl");
  Follow(original);
  EXPECT_GT(Functions(*assembler).size(), 10u);
  for (const Edit& edit : kEdits) {
    SCOPED_TRACE(edit.to);
    std::string text = original;
    ASSERT_NE(text.find(edit.from), std::string::npos);
    text.replace(text.find(edit.from), std::string(edit.from).size(), edit.to);
    Follow(text);
    const std::set<std::string> expected =
        *edit.function == '\0' ? std::set<std::string>{} : std::set<std::string>{edit.function};
    EXPECT_EQ(Functions(*assembler), expected);
    Follow(original);
    EXPECT_TRUE(Functions(*assembler).empty());
  }
  EXPECT_GT(good, 300u);
}

INSTANTIATE_TEST_SUITE_P(, EditTest, testing::Bool(),
                         [](const auto& row) { return row.param ? "Combined" : "Stages"; });

TEST(Edit, ASetting_WritesNoModule) {
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  const std::string original = ReadText("passes/forward.rpl");
  std::string edited = original;
  edited.replace(edited.find("less_or_equal"), 13, "less");
  const driver::LinkedProgram before = Link(original);
  const driver::LinkedProgram after = Link(edited);
  driver::VariantAssembler first(before, kEntries, target);
  std::vector<resolve::OptionValues> variants;
  Random random(3);
  resolve::OptionValues values = RandomValues(before.program, random);
  for (int i = 0; i < 50; ++i) {
    variants.push_back(values);
    (void)first.BuildCopy(values, driver::ModuleSelection::kNew);
    Mutate(before.program, random, values);
  }
  EXPECT_GT(first.counts().modules_written, 10u);
  driver::VariantAssembler second(after, kEntries, target, std::move(first));
  for (const resolve::OptionValues& variant : variants) {
    (void)second.BuildCopy(variant, driver::ModuleSelection::kNew);
  }
  EXPECT_EQ(second.counts().modules_written, 0u);
  EXPECT_EQ(second.counts().regions_lowered, 0u);
}

TEST(Edit, OtherDeclarations_NeedANewAssembler) {
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  const std::string original = ReadText("passes/forward.rpl");
  const driver::LinkedProgram before = Link(original);
  const driver::LinkedProgram after = Link(original + "\nf1 more (void) { return 1.0; }\n");
  const driver::VariantAssembler assembler(before, kEntries, target);
  EXPECT_TRUE(assembler.CanServe(before));
  EXPECT_FALSE(assembler.CanServe(after));
  target::Target full = target;
  full.debug = target::Debug::kFull;  // lines move
  EXPECT_FALSE(driver::VariantAssembler(before, kEntries, full).CanServe(before));
}

}  // namespace
}  // namespace kiln::property
