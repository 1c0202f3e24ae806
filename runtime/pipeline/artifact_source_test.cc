// SPDX-License-Identifier: MIT
// Sources of artifacts: a pack file and memory give the same pipelines.
#include <unistd.h>

#include <gtest/gtest.h>

#include "cache/pack/write/writer.h"
#include "compiler/artifact/metadata_json.h"
#include "runtime/pipeline/driver/fake_driver.h"
#include "runtime/pipeline/memory_source.h"
#include "runtime/pipeline/pack_source.h"

namespace kiln::runtime {
namespace {

constexpr std::chrono::seconds kSoonEnough{20};
constexpr const char* kMetadata = R"({
  "pipelineType": "graphics_classic",
  "entryPoints": [{"stage": "vertex", "name": "v"}, {"stage": "fragment", "name": "f"}],
  "settings": {
    "polygonMode": "fill", "cullMode": "back", "depthTest": false, "depthWrite": false,
    "depthCompareOperation": "less", "depthBoundsTest": false, "depthMin": 0, "depthMax": 1,
    "stencilTest": false,
    "stencilFrontOnFail": "keep", "stencilFrontOnDepthFail": "keep", "stencilFrontOnPass": "keep",
    "stencilFrontCompare": "never",
    "stencilBackOnFail": "keep", "stencilBackOnDepthFail": "keep", "stencilBackOnPass": "keep",
    "stencilBackCompare": "never"},
  "fixedState": {
    "topology": "triangle_list", "frontFace": "clockwise", "viewportY": "up", "lineWidth": 1,
    "sampleCount": 1, "dynamicState": ["viewport", "scissor"]},
  "colorOutputs": [{
    "name": "radiance", "item": "float", "componentsCount": 4,
    "writeR": true, "writeG": true, "writeB": true, "writeA": true,
    "sourceColorBlendFactor": "one", "destinationColorBlendFactor": "zero",
    "colorBlendOperation": "add",
    "sourceAlphaBlendFactor": "one", "destinationAlphaBlendFactor": "zero",
    "alphaBlendOperation": "add"}]})";

// Program 'rock' with a flag, an enum and a fixed value: artifacts for fog off and on.
class ArtifactSourceTest : public FakeDriverTest {
 protected:
  ArtifactSourceTest() : path(::testing::TempDir() + "kiln_source_" + std::to_string(getpid())) {
    const auto json = artifact::MetadataFromJson(kMetadata);
    EXPECT_TRUE(json.ok()) << ErrorText(json.error());
    metadata = Keep(*json);
    contents.programs = {{.name = "rock",
                          .pipeline = "graphics_classic",
                          .options = {{.name = "fog", .type = 0},
                                      {.name = "kind", .type = 4, .values = {"off", "on"}}}}};
    contents.entries = {{.id = HashBytes(AsBytes("entry")), .target = "vk", .masks = {{0}}}};
    for (const bool fog : {false, true}) {
      const cache::OptionSetting live[] = {{"fog", cache::TypedValue::Flag(fog)}};
      contents.artifacts.push_back({.live_key = cache::LiveKey(contents.entries[0].id, live),
                                    .state_id = HashBytes(AsBytes(fog ? "foggy" : "clear")),
                                    .code = {{1, KeepWords(0)}, {2, KeepWords(fog ? 2 : 1)}},
                                    .metadata = metadata});
    }
  }
  ~ArtifactSourceTest() override { unlink(path.c_str()); }

  Digest Keep(ByteView bytes) {
    const Digest digest = DigestOf(bytes);
    blobs.emplace(digest, Bytes(bytes.begin(), bytes.end()));
    return digest;
  }
  Digest KeepWords(uint32_t mark) {
    const std::vector<uint32_t> words = {0x07230203, 0x10300, 0, 1, 0, mark};
    return Keep(std::as_bytes(std::span(words)));
  }
  std::shared_ptr<PackSource> Open() {
    const auto written = pack::WritePack(
        contents, [this](const Digest& digest) -> Result<Bytes> { return blobs.at(digest); }, {},
        path);
    EXPECT_TRUE(written.ok()) << ErrorText(written.error());
    auto pack = pack::Pack::Open(path, {});
    EXPECT_TRUE(pack.ok()) << ErrorText(pack.error());
    return std::make_shared<PackSource>(std::move(pack).value(), PackSourceConfig{});
  }
  static PassSignature Signature() { return {.color = {VK_FORMAT_R8G8B8A8_UNORM}}; }

  std::string path;
  std::map<Digest, Bytes> blobs;
  Digest metadata;
  pack::Contents contents;
};

TEST_F(ArtifactSourceTest, Find_IsByNameAndFillsDefaultsIn) {
  const auto source = Open();
  const std::vector<OptionSetting> fog = {{"fog", true}};
  const std::vector<OptionSetting> both = {{"kind", std::string("on")}, {"fog", true}};
  const auto clear = source->Find("rock", {});
  const auto foggy = source->Find("rock", fog);
  ASSERT_TRUE(clear.ok() && foggy.ok());
  EXPECT_EQ(clear->program, "rock");
  EXPECT_EQ(clear->code.size(), 2U);
  EXPECT_EQ(clear->code[1].stage, artifact::Stage::kFragment);
  EXPECT_NE(clear->code[1].digest, foggy->code[1].digest);
  EXPECT_EQ(source->Find("rock", both)->code[1].digest, foggy->code[1].digest);
}

TEST_F(ArtifactSourceTest, WhatIsNotThere_IsNamed) {
  const auto source = Open();
  const auto error = [&](std::string_view program, std::vector<OptionSetting> options) {
    return ErrorText(source->Find(program, options).error());
  };
  EXPECT_EQ(error("stone", {}), "NOT_FOUND: the pack has no program 'stone'");
  EXPECT_EQ(error("rock", {{"rain", true}}), "NOT_FOUND: 'rock': there is no option 'rain'");
  EXPECT_EQ(error("rock", {{"fog", 1U}}),
            "INVALID_ARGUMENT: 'rock': option 'fog' is a flag, not a uint");
  EXPECT_EQ(error("rock", {{"kind", std::string("maybe")}}),
            "NOT_FOUND: 'rock': option 'kind' has no value 'maybe'");
}

TEST_F(ArtifactSourceTest, StartFromAPack_BuildsWhatIsListed) {
  contents.passes = {{.name = "main", .color_formats = {pack::kSwapchainFormat}}};
  contents.warm = {{.live_key = contents.artifacts[1].live_key, .pass = "main", .lane = 0},
                   {.live_key = contents.artifacts[0].live_key, .pass = "main", .lane = 1}};
  const auto source = Open();
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0, .first_use = FirstUse::kOff});
  const LoadReport loaded = pipelines->Load(source);
  EXPECT_EQ(loaded.listed, 2U);
  EXPECT_EQ(loaded.registered, 2U) << (loaded.refused.empty() ? "" : loaded.refused[0].error);
  EXPECT_TRUE(driver.created.empty()) << "loading builds nothing";
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(driver.created, (std::vector<uint32_t>{2, 1}));
  // What the frame asks for by name is there.
  const auto id = pipelines->Find("rock", {}, {.color = {VK_FORMAT_B8G8R8A8_UNORM}});
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(pipelines->State(*id), PipelineState::kReady);
  EXPECT_EQ(driver.created.size(), 2U);
}

TEST_F(ArtifactSourceTest, NoList_EveryPipelineWithEveryPassItFits) {
  contents.passes = {{.name = "shadow", .depth_format = VK_FORMAT_D32_SFLOAT},
                     {.name = "view",
                      .color_formats = {VK_FORMAT_R8G8B8A8_UNORM},
                      .depth_format = VK_FORMAT_D32_SFLOAT}};
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0, .first_use = FirstUse::kOff});
  const LoadReport loaded = pipelines->Load(Open());
  EXPECT_EQ(loaded.listed, 4U);
  EXPECT_EQ(loaded.registered, 2U) << "a pass without color does not fit";
  EXPECT_EQ(loaded.refused.size(), 2U);
}

TEST_F(ArtifactSourceTest, NoListAndAPassOfThatName_ThatPassOnly) {
  contents.programs[0].name = "rock/view/wet";
  contents.passes = {{.name = "shadow", .depth_format = VK_FORMAT_D32_SFLOAT},
                     {.name = "view",
                      .color_formats = {VK_FORMAT_R8G8B8A8_UNORM},
                      .depth_format = VK_FORMAT_D32_SFLOAT}};
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0, .first_use = FirstUse::kOff});
  const LoadReport loaded = pipelines->Load(Open());
  EXPECT_EQ(loaded.listed, 2U);
  EXPECT_EQ(loaded.registered, 2U);
  EXPECT_EQ(pipelines->Desc({0}).signature.depth_stencil, VK_FORMAT_D32_SFLOAT);
}

TEST_F(ArtifactSourceTest, DamagedWords_CostTheirPipelinesOnly) {
  const auto source = std::make_shared<MemorySource>();
  for (const auto& [digest, bytes] : blobs) {
    if (digest != contents.artifacts[0].code[1].digest) {  // lost
      ASSERT_TRUE(source->AddBytes(digest, bytes).ok());
    }
  }
  for (const bool fog : {false, true}) {
    SourceArtifact artifact{.program = "rock", .metadata = metadata, .code = {}};
    for (const pack::StageBlob& code : contents.artifacts[fog ? 1 : 0].code) {
      artifact.code.push_back({static_cast<artifact::Stage>(code.stage - 1), code.digest});
    }
    const std::vector<OptionSetting> options = {{"fog", fog}};
    source->AddArtifact(artifact, options);
  }
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0, .first_use = FirstUse::kOff});
  EXPECT_EQ(pipelines->Load(source).registered, 2U);
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->progress.failed, 1U);
  EXPECT_EQ(driver.created, std::vector<uint32_t>{2});
}

TEST_F(ArtifactSourceTest, Memory_FindsWhatAsksForTheSameValues) {
  const auto artifact = [](const char* program, char name) {
    return SourceArtifact{
        .program = program, .metadata = DigestOf(std::string(1, name)), .code = {}};
  };
  using Settings = std::vector<OptionSetting>;
  MemorySource source;
  source.AddArtifact(artifact("rock", 'a'), Settings{{"wet", true}, {"count", 4U}});
  source.AddArtifact(artifact("rock", 'b'), Settings{{"count", 4U}, {"wet", false}});
  source.AddResult(artifact("rock", 'c'), Settings{{"fog", true}});
  source.AddResult(artifact("rock", 'd'), Settings{{"fog", false}, {"wet", true}});
  source.AddResult(artifact("sky", 'e'), Settings{});
  source.AddArtifact(artifact("rock", 'f'), Settings{{"count", 4U}, {"wet", false}});
  struct Row {
    const char* program;
    Settings options;
    char found;  // 0: none
  };
  const std::vector<Row> rows = {
      {"rock", {{"count", 4U}, {"wet", true}}, 'a'},
      {"rock", {{"wet", true}, {"count", 4U}}, 'a'},
      {"rock", {{"count", 4U}, {"wet", false}}, 'f'},  // the later one
      {"rock", {{"count", 4}, {"wet", false}}, 0},     // a sint is no uint
      {"rock", {{"count", 4U}}, 0},                    // no defaults
      {"rock", {{"fog", true}, {"wet", false}}, 'c'},  // wet is not live there
      {"rock", {{"fog", false}, {"wet", true}}, 'd'},
      {"rock", {{"fog", false}, {"wet", false}}, 0},
      {"rock", {{"fog", false}}, 0},
      {"sky", {{"fog", false}}, 'e'},
      {"sea", {}, 0},
  };
  for (const Row& row : rows) {
    const auto found = source.Find(row.program, row.options);
    const size_t line = static_cast<size_t>(&row - rows.data());
    ASSERT_EQ(found.ok(), row.found != 0) << line;
    if (found.ok()) {
      EXPECT_EQ(found->metadata, DigestOf(std::string(1, row.found))) << line;
    }
  }
  EXPECT_EQ(source.WarmList().size(), 5U);
}

TEST_F(ArtifactSourceTest, Memory_KnowsWhatItHasAndRefusesOtherBytes) {
  MemorySource source;
  const Bytes bytes(3, std::byte{1});
  ASSERT_TRUE(source.AddBytes(DigestOf(bytes), bytes).ok());
  EXPECT_EQ(source.Have(), std::vector<Digest>{DigestOf(bytes)});
  EXPECT_TRUE(source.Has(DigestOf(bytes)));
  EXPECT_EQ(source.AddBytes(metadata, bytes).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(source.Read(metadata).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(source.Find("rock", {}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace kiln::runtime
