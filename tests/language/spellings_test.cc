// SPDX-License-Identifier: MIT
// Every row of spellings.def: what is wrong says what to write instead, what is right compiles, and
// a fix that claims to be sure mends what it was proposed for.
#include "compiler/diag/spellings.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/diag/place.h"
#include "compiler/driver/stages.h"
#include "compiler/resolve/values/options.h"
#include "compiler/target/target.h"

namespace kiln::language {
namespace {

constexpr std::string_view kAround =
    "vertex_attribute_container mesh { f3 position; f2 uv; };\n"
    "state_container surface { f2 uv; };\n"
    "color_output_container target { f4 color; };\n"
    "set_material uniform_buffer material { f4 tint; f4x4 world; };\n"
    "set_material sampler point;\n"
    "set_material image_color_2d albedo;\n";

bool IsCompute(SpellingScene scene) { return scene == SpellingScene::kCompute2; }

std::string SourceOf(const Spelling& row, std::string_view example, bool version2) {
  const std::string header = version2 ? "rpl 2;\n" : "";
  const std::string text(example);
  const std::string body = "    " + text + "\n";
  if (IsCompute(row.scene)) {
    return header + "void c (void)\n{\n" + body + "}\n";
  }
  const bool file = row.scene == SpellingScene::kFile || row.scene == SpellingScene::kFile2;
  const bool fragment =
      row.scene == SpellingScene::kFragment || row.scene == SpellingScene::kFragment2;
  return header + std::string(kAround) + (file ? text + "\n" : "") + "void v (void)\n{\n" +
         (!file && !fragment ? body : "") +
         "    surface.uv = mesh.uv;\n"
         "    vertex_stage_output_position (material.world * f4 {mesh.position, 1.0});\n}\n"
         "void f (void)\n{\n" +
         (fragment ? body : "") +
         "    target.color = sample (point, albedo, surface.uv) * material.tint;\n}\n";
}

// Errors, and warnings about expressions without effect, in the order of the source.
std::vector<PlacedDiagnostic> Compile(const std::string& text, SpellingScene scene) {
  const bool compute = IsCompute(scene);
  const SourceFile source("row.rpl", text);
  Diagnosed<driver::LinkedProgram> linked =
      driver::LinkSources(std::vector{source}, compute ? ir::PipelineType::kCompute
                                                       : ir::PipelineType::kGraphicsClassic);
  std::vector<Diagnostic> found = std::move(linked.diagnostics);
  if (linked.ok()) {
    std::vector<resolve::EntryPoint> entries;
    if (compute) {
      entries = {{.stage = ir::Stage::kCompute, .function = "c"}};
    } else {
      entries = {{.stage = ir::Stage::kVertex, .function = "v"},
                 {.stage = ir::Stage::kFragment, .function = "f"}};
    }
    const resolve::OptionValues values =
        resolve::CheckOptions(linked.value->program, {}).value.value();
    found = driver::BuildDirect(*linked.value, values, entries,
                                target::MakeTarget(target::Environment::kVulkan12))
                .diagnostics;
  }
  std::erase_if(found, [](const Diagnostic& d) { return d.severity != Severity::kError; });
  const SourceFile* modules[] = {&source};
  return Place(found, modules);
}

std::string TextOfAll(const std::vector<PlacedDiagnostic>& found) {
  std::string text;
  for (const PlacedDiagnostic& diagnostic : found) {
    text += diagnostic.code + ": " + diagnostic.message + "\n";
    for (const std::string& note : diagnostic.notes) {
      text += "  " + note + "\n";
    }
  }
  return text;
}

bool NeedsVersion2(const Spelling& row) { return row.needs_version_2(); }

TEST(Spellings, Table_HasManyRowsOfEveryLanguage) {
  EXPECT_GE(AllSpellings().size(), 80u);
  for (const std::string_view language : {"GLSL", "HLSL", "WGSL"}) {
    EXPECT_GE(std::ranges::count_if(AllSpellings(),
                                    [&](const Spelling& row) {
                                      return row.languages.find(language) != std::string_view::npos;
                                    }),
              20)
        << language;
  }
}

TEST(Spellings, EveryWrongExample_SaysWhatToWrite) {
  for (const Spelling& row : AllSpellings()) {
    const std::string source = SourceOf(row, row.wrong, NeedsVersion2(row));
    const std::string said = TextOfAll(Compile(source, row.scene));
    ASSERT_NE(said, "") << row.text;
    if (!row.advice.empty()) {
      EXPECT_THAT(said, testing::HasSubstr("help: " + std::string(row.advice) + "\n")) << source;
    }
    if (!row.replacement.empty()) {
      const size_t stem = row.replacement.size() - (row.is_family() ? 1 : 0);
      const std::string replacement(row.replacement.substr(0, stem));
      EXPECT_THAT(said, testing::HasSubstr("write '" + replacement)) << source;
    }
  }
}

TEST(Spellings, EveryRightExample_Compiles) {
  for (const Spelling& row : AllSpellings()) {
    const std::string source = SourceOf(row, row.right, NeedsVersion2(row));
    EXPECT_EQ(TextOfAll(Compile(source, row.scene)), "") << source;
  }
}

TEST(Spellings, RowsOfVersion2_SaySoInVersion1) {
  for (const Spelling& row : AllSpellings()) {
    const std::string source = SourceOf(row, row.wrong, false);
    const std::string said = TextOfAll(Compile(source, row.scene));
    if (NeedsVersion2(row) && !IsCompute(row.scene)) {
      EXPECT_THAT(said, testing::HasSubstr("rpl 2;")) << source;
    }
  }
}

// Edits from the last to the first, so that places stay where they are.
std::string Apply(std::string text, std::vector<PlacedDiagnostic> found) {
  std::ranges::sort(found, std::ranges::greater{}, [](const PlacedDiagnostic& d) {
    return d.fix.has_value() ? d.fix->where.bytes.begin : 0;
  });
  for (const PlacedDiagnostic& diagnostic : found) {
    if (diagnostic.fix.has_value() && diagnostic.fix->confidence == Confidence::kSure) {
      const Span where = diagnostic.fix->where.bytes;
      text.replace(where.begin, where.end - where.begin, diagnostic.fix->replacement);
    }
  }
  return text;
}

TEST(Spellings, SureFixes_MendWhatTheyAreFor) {
  size_t applied = 0;
  for (const Spelling& row : AllSpellings()) {
    if (row.replacement.empty()) {
      continue;
    }
    const std::string source = SourceOf(row, row.wrong, NeedsVersion2(row));
    const std::string mended = Apply(source, Compile(source, row.scene));
    EXPECT_NE(mended, source) << source;
    EXPECT_EQ(TextOfAll(Compile(mended, row.scene)), "") << mended;
    ++applied;
  }
  EXPECT_GE(applied, 60u);
}

TEST(Spellings, Constructors_GetBraces) {
  for (const Spelling& row : AllSpellings()) {
    if (row.place != SpellingPlace::kType || !row.replacement.starts_with("f") ||
        row.replacement.size() != 2) {
      continue;
    }
    const std::string type(row.replacement);
    Spelling scene = row;
    scene.scene = SpellingScene::kVertex;
    const std::string source =
        SourceOf(scene, type + " a = " + std::string(row.text) + " (1.0);", false);
    const std::vector<PlacedDiagnostic> found = Compile(source, scene.scene);
    ASSERT_EQ(found.size(), 1u) << source;
    EXPECT_THAT(TextOfAll(found),
                testing::HasSubstr("constructors take braces: " + type + " { ... }"));
    ASSERT_TRUE(found[0].fix.has_value()) << source;
    EXPECT_EQ(found[0].fix->replacement, type + " {1.0}");
    EXPECT_EQ(TextOfAll(Compile(Apply(source, found), scene.scene)), "") << source;
  }
}

}  // namespace
}  // namespace kiln::language
