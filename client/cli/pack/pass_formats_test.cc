// SPDX-License-Identifier: MIT
#include "client/cli/pack/pass_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cache/pack/format.h"
#include "client/project/scaffold.h"
#include "runtime/vk/table.h"

namespace kiln::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kManifest = R"(
[project]
manifest = 1
name = "small"
[[program]]
name = "sky"
sources = ["sky.rpl"]
entry_points = { vertex = "v" }
[[pass]]
name = "view"
sources = ["view.rpl"]
color = ["rgba16_float", "swapchain"]
depth = "d24_unorm_s8_uint"
samples = 4
view_mask = 3
[[pass]]
name = "shadow"
sources = ["shadow.rpl"]
depth = "d32_float"
[[pass]]
name = "silent"
sources = ["silent.rpl"]
[[material]]
name = "rock"
sources = ["rock.rpl"]
entry_points = { vertex = "v", fragment = "f" }
passes = ["view", "shadow", "silent"]
)";

project::Manifest Read(const std::string& text) {
  auto manifest = project::ReadManifest(text, "kiln.toml");
  EXPECT_TRUE(manifest.ok()) << ErrorText(manifest.error());
  return std::move(manifest).value();
}

TEST(PassFormats, Words_AreVulkansFormats) {
  const auto passes = PassesOf(Read(kManifest));
  ASSERT_TRUE(passes.ok()) << ErrorText(passes.error());
  ASSERT_EQ(passes->size(), 2U) << "a pass without formats says nothing";
  const pack::Pass& view = (*passes)[0];
  EXPECT_EQ(view.name, "view");
  EXPECT_THAT(view.color_formats,
              ElementsAre(VK_FORMAT_R16G16B16A16_SFLOAT, pack::kSwapchainFormat));
  EXPECT_EQ(view.depth_format, static_cast<uint32_t>(VK_FORMAT_D24_UNORM_S8_UINT));
  EXPECT_EQ(view.samples, 4);
  EXPECT_EQ(view.view_mask, 3U);
  EXPECT_TRUE((*passes)[1].color_formats.empty());
  EXPECT_EQ((*passes)[1].depth_format, static_cast<uint32_t>(VK_FORMAT_D32_SFLOAT));
}

TEST(PassFormats, TableOfWrongWords) {
  struct Row {
    const char* formats;
    const char* said;
  };
  for (const Row& row :
       {Row{"color = [\"rgba16\"]", "pass 'main': 'rgba16' is no color format"},
        {"color = [\"d32_float\"]", "'d32_float' is no color format"},
        {"depth = \"rgba8_unorm\"", "'rgba8_unorm' is no depth or stencil format"},
        {"depth = \"swapchain\"", "'swapchain' is no depth or stencil format"},
        {"color = [\"r8_unorm\", \"r8_unorm\", \"r8_unorm\", \"r8_unorm\", \"r8_unorm\", "
         "\"r8_unorm\", \"r8_unorm\", \"r8_unorm\", \"r8_unorm\"]",
         "at most 8 colors, not 9"}}) {
    const auto passes = PassesOf(
        Read(std::string("[project]\nmanifest = 1\n[[program]]\nname = \"p\"\nsources = "
                         "[\"p.rpl\"]\n[[pass]]\nname = \"main\"\nsources = [\"m.rpl\"]\n") +
             row.formats + "\n"));
    ASSERT_FALSE(passes.ok()) << row.formats;
    EXPECT_THAT(passes.error().context, HasSubstr(row.said));
  }
}

TEST(PassFormats, PipelinesThatAreBuiltFirst_HaveThePassOfTheirProgram) {
  const project::Manifest manifest = Read(kManifest);
  pack::Contents contents;
  contents.programs = {{.name = "rock/shadow", .pipeline = {}, .options = {}},
                       {.name = "rock/silent", .pipeline = {}, .options = {}},
                       {.name = "sky", .pipeline = {}, .options = {}}};
  for (uint32_t i = 0; i < 3; ++i) {
    const Hash128 key = HashBytes(AsBytes(contents.programs[i].name));
    contents.entries.push_back({.id = key, .program = i, .target = "vk", .masks = {}});
    contents.artifacts.push_back({.live_key = key, .entry = i});
    contents.warm.push_back({.live_key = key});
  }
  const auto passes = PassesOf(manifest);
  ASSERT_TRUE(passes.ok());
  AddFormats(manifest, {.passes = *passes}, contents);
  EXPECT_EQ(contents.passes.size(), 2U);
  EXPECT_EQ(contents.warm[0].pass, "shadow");
  EXPECT_EQ(contents.warm[1].pass, "") << "its pass says nothing";
  EXPECT_EQ(contents.warm[2].pass, "") << "it is composed of none";
}

TEST(PassFormats, WhatInitWrites_IsGivenToItsPrograms) {
  const project::Scaffold scaffold = project::MakeScaffold(
      "small", std::vector<project::SourceText>{
                   {"sky.rpl",
                    "color_output_container target { f4 color; u1 id; s2 age; };\n"
                    "setting stencil_test = true;\n"
                    "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n"
                    "void f (void) { target.color = f4 {1.0}; }\n"}});
  const project::Manifest manifest = Read(scaffold.manifest);
  const auto passes = PassesOf(manifest);
  ASSERT_TRUE(passes.ok()) << ErrorText(passes.error());
  pack::Contents contents;
  contents.programs = {{.name = "sky", .pipeline = {}, .options = {}}};
  contents.entries.push_back({.id = HashBytes(AsBytes("e")), .program = 0, .target = "vk"});
  const auto add = [&](const char* name, const char* state, bool has_code) {
    pack::Artifact& artifact = contents.artifacts.emplace_back();
    artifact.live_key = HashBytes(AsBytes(name));
    artifact.state_id = HashBytes(AsBytes(state));
    if (has_code) {
      artifact.code = {{.stage = 1, .digest = {}}};
    }
  };
  add("day", "s", true);
  add("dawn", "s", true);
  add("night", "t", true);
  add("none", "u", false);
  AddFormats(manifest, {.passes = *passes}, contents);
  ASSERT_EQ(contents.warm.size(), 2U) << "pipelines, not artifacts; and nothing without code";
  EXPECT_EQ(contents.warm[0].pass, "sky");
  EXPECT_EQ(contents.warm[1].pass, "sky");
  EXPECT_EQ(contents.warm[1].live_key, HashBytes(AsBytes("night")));
  ASSERT_EQ(contents.passes.size(), 1U);
  EXPECT_THAT(contents.passes[0].color_formats,
              ElementsAre(VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32B32A32_UINT,
                          VK_FORMAT_R32G32B32A32_SINT));
  EXPECT_EQ(contents.passes[0].depth_format, static_cast<uint32_t>(VK_FORMAT_D32_SFLOAT_S8_UINT));
}

TEST(PassFormats, RecordedLines_GiveTheirPassAndHints) {
  const project::Manifest manifest = Read(kManifest);
  pack::Contents contents;
  contents.programs = {{.name = "rock/view", .pipeline = {}, .options = {}},
                       {.name = "sky", .pipeline = {}, .options = {}}};
  for (uint32_t i = 0; i < 2; ++i) {
    const Hash128 key = HashBytes(AsBytes(contents.programs[i].name));
    contents.entries.push_back({.id = key, .program = i, .target = "vk", .masks = {}});
    contents.artifacts.push_back({.live_key = key, .entry = i});
  }
  const auto add = [&](uint32_t program, uint16_t priority) {
    contents.warm.push_back(
        {.live_key = contents.artifacts[program].live_key, .priority = priority});
  };
  add(0, 2);  // of the manifest: before the first line
  add(0, 3);
  add(1, 4);
  add(1, 5);
  const auto pass = [](const char* text) {
    auto read = ListedPass(nlohmann::json::parse(text));
    EXPECT_TRUE(read.has_value()) << text;
    return read;
  };
  const auto on_screen = pass(
      R"({"color": ["rgba16_float", "bgra8_srgb"], "depth": "d24_unorm_s8_uint", "samples": 4,
          "view_mask": 3})");
  const auto other = pass(R"({"color": ["r8_unorm", 158]})");
  const auto passes = PassesOf(manifest);
  ASSERT_TRUE(passes.ok());
  AddFormats(manifest,
             {.passes = *passes,
              .listed = {{.pass = on_screen, .hints = {{.binding = 7, .format = 37}}},
                         {.pass = other, .hints = {}},
                         {.pass = other, .hints = {}}},
              .first_listed = 3},
             contents);
  EXPECT_EQ(contents.warm[0].pass, "view") << "that of its program";
  EXPECT_TRUE(contents.warm[0].hints.empty());
  EXPECT_EQ(contents.warm[1].pass, "view") << "the surface has any format";
  ASSERT_EQ(contents.warm[1].hints.size(), 1U);
  EXPECT_EQ(contents.warm[1].hints[0].format, 37U);
  EXPECT_EQ(contents.warm[2].pass, "list.2");
  EXPECT_EQ(contents.warm[3].pass, "list.2") << "once";
  ASSERT_EQ(contents.passes.size(), 3U);
  EXPECT_THAT(contents.passes[2].color_formats, ElementsAre(VK_FORMAT_R8_UNORM, 158U));
  EXPECT_EQ(contents.passes[2].samples, 1);
}

// The manifest has a pass of the name that would be made up.
TEST(PassFormats, NameThatIsMadeUp_IsNoOtherPass) {
  project::Manifest manifest = Read(kManifest);
  pack::Contents contents;
  contents.programs = {{.name = "sky", .pipeline = {}, .options = {}}};
  const Hash128 key = HashBytes(AsBytes("sky"));
  contents.entries.push_back({.id = key, .program = 0, .target = "vk", .masks = {}});
  contents.artifacts.push_back({.live_key = key, .entry = 0});
  contents.warm.push_back({.live_key = key, .priority = 0});
  auto passes = PassesOf(manifest);
  ASSERT_TRUE(passes.ok());
  passes->at(0).name = "list.2";
  AddFormats(manifest,
             {.passes = *passes,
              .listed = {{.pass = ListedPass(nlohmann::json::parse(R"({"color": ["r8_unorm"]})")),
                          .hints = {}}},
              .first_listed = 0},
             contents);
  EXPECT_EQ(contents.warm[0].pass, "list.3");
  ASSERT_EQ(contents.passes.size(), 3U);
  EXPECT_EQ(contents.passes[2].name, "list.3");
}

TEST(PassFormats, ListedPass_TableOfWrongOnes) {
  for (const char* const text :
       {"3", "{}", R"({"color": "r8_unorm"})", R"({"color": ["r8"]})", R"({"color": [-1]})",
        R"({"color": [], "depth": "deep"})", R"({"color": [], "samples": "4"})",
        R"({"color": [], "view_mask": -1})", R"({"color": [], "samples": 65537})",
        R"({"color": [], "view_mask": 4294967296})", R"({"color": [4294967297]})",
        R"({"color": [], "depth": 4294967297})", R"({"color": [1,1,1,1,1,1,1,1,1]})"}) {
    EXPECT_FALSE(ListedPass(nlohmann::json::parse(text)).has_value()) << text;
  }
}

}  // namespace
}  // namespace kiln::cli
