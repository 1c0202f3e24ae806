// SPDX-License-Identifier: MIT
// What pipelines tell others, over a driver of fakes.
#include <algorithm>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/artifact/metadata_json.h"
#include "compiler/base/test_directory.h"
#include "runtime/pipeline/driver/fake_driver.h"
#include "runtime/pipeline/memory_source.h"

namespace kiln::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

class PipelinesTell : public FakeDriverTest {
 protected:
  static PipelinesConfig Config() { return {.threads = 0, .first_use = FirstUse::kOff}; }
};

TEST_F(PipelinesTell, WarmList_IsWhatWasDrawnInItsOrder) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  const auto json = artifact::MetadataFromJson(kMetadata);
  ASSERT_TRUE(json.ok()) << ErrorText(json.error());
  auto source = std::make_shared<MemorySource>();
  const Digest metadata = DigestOf(*json);
  ASSERT_TRUE(source->AddBytes(metadata, *json).ok());
  std::vector<OptionSetting> fog = {{"fog", true}, {"kind", std::string("a\"b")}, {"count", 3U}};
  std::vector<PipelineId> ids;
  for (uint32_t mark = 1; mark <= 3; ++mark) {
    const std::vector<uint32_t> words = {0x07230203, 0x10300, 0, 1, 0, mark};
    const auto bytes = std::as_bytes(std::span(words));
    const Digest code = DigestOf(bytes);
    ASSERT_TRUE(source->AddBytes(code, Bytes(bytes.begin(), bytes.end())).ok());
    fog[2].value = mark;
    source->AddArtifact({.program = "rock", .metadata = metadata, .code = {{std::nullopt, code}}},
                        fog);
  }
  pipelines->AddSource(source);
  for (uint32_t mark = 1; mark <= 3; ++mark) {
    fog[2].value = mark;
    const auto id = pipelines->Find("rock", fog, SampleSignature());
    ASSERT_TRUE(id.ok()) << ErrorText(id.error());
    ids.push_back(*id);
  }
  const PipelineId unnamed = Add(*pipelines, SampleMetadata(), 9);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  EXPECT_EQ(pipelines->WriteWarmList(), "") << "nothing was drawn";
  for (const PipelineId id : {ids[2], unnamed, ids[0], ids[2]}) {
    EXPECT_TRUE(pipelines->Bind(Commands(), id, OnMissing::Skip()).drawable);
  }
  const std::string list = pipelines->WriteWarmList();
  const size_t end = list.find('\n');
  EXPECT_THAT(
      list.substr(0, end),
      ::testing::StartsWith(
          R"({"program":"rock","options":{"fog":true,"kind":"a\"b","count":3},"pass":{"color":)"
          R"(["rgba8_unorm"],"depth":"d32_float","samples":1,"view_mask":0},"creation_us":)"));
  EXPECT_THAT(list.substr(end + 1), HasSubstr(R"("count":1)"));
  EXPECT_EQ(std::ranges::count(list, '\n'), 2);
}

// An engine may keep artifacts under any value; the line stays JSON, which has no infinities.
TEST_F(PipelinesTell, WarmListOfAnInfinity_IsStillJson) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  const auto json = artifact::MetadataFromJson(kMetadata);
  ASSERT_TRUE(json.ok()) << ErrorText(json.error());
  auto source = std::make_shared<MemorySource>();
  const Digest metadata = DigestOf(*json);
  ASSERT_TRUE(source->AddBytes(metadata, *json).ok());
  const std::vector<OptionSetting> options = {{"large", std::numeric_limits<float>::infinity()},
                                              {"small", 0.5F}};
  const std::vector<uint32_t> words = {0x07230203, 0x10300, 0, 1, 0, 1};
  const auto bytes = std::as_bytes(std::span(words));
  const Digest code = DigestOf(bytes);
  ASSERT_TRUE(source->AddBytes(code, Bytes(bytes.begin(), bytes.end())).ok());
  source->AddArtifact({.program = "rock", .metadata = metadata, .code = {{std::nullopt, code}}},
                      options);
  pipelines->AddSource(source);
  const auto id = pipelines->Find("rock", options, SampleSignature());
  ASSERT_TRUE(id.ok()) << ErrorText(id.error());
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  EXPECT_TRUE(pipelines->Bind(Commands(), *id, OnMissing::Skip()).drawable);
  EXPECT_THAT(pipelines->WriteWarmList(), HasSubstr(R"("options":{"large":null,"small":0.5})"));
}

TEST_F(PipelinesTell, BindInAPassOfOtherFormats_IsRefused) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  PassSignature pass = SampleSignature();
  EXPECT_TRUE(pipelines->Bind(Commands(), id, OnMissing::Skip(), pass).drawable);
  for (const auto& edit : std::vector<std::function<void(PassSignature&)>>{
           [](PassSignature& p) { p.color[0] = VK_FORMAT_R16G16B16A16_SFLOAT; },
           [](PassSignature& p) { p.color.push_back(VK_FORMAT_R8_UNORM); },
           [](PassSignature& p) { p.depth_stencil = VK_FORMAT_UNDEFINED; },
           [](PassSignature& p) { p.samples = VK_SAMPLE_COUNT_4_BIT; },
           [](PassSignature& p) { p.view_mask = 3; }}) {
    pass = SampleSignature();
    edit(pass);
    EXPECT_FALSE(pipelines->Bind(Commands(), id, OnMissing::Skip(), pass).drawable);
  }
  EXPECT_EQ(pipelines->Stats().refused, 5U);
  EXPECT_EQ(driver.drawn.size(), 1U);
}

TEST_F(PipelinesTell, Times_SayWhoAskedAndWhatTheDriverSaid) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  const PipelineId packed = Add(*pipelines, SampleMetadata(), 1);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  const PipelineId demanded = Add(*pipelines, SampleMetadata(), 2);
  EXPECT_TRUE(pipelines->Bind(Commands(), demanded, OnMissing::Block()).drawable);
  const PipelineId reloaded = Add(*pipelines, SampleMetadata(), 3);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  const Words words(4);
  ASSERT_TRUE(pipelines->Replace(reloaded, SampleMetadata(), words.Modules()).ok());
  pipelines->EndFrame(1);
  const std::vector<PipelineTimes> times = pipelines->Times();
  EXPECT_EQ(NameOf(times[packed.index].source), "pack");
  EXPECT_EQ(NameOf(times[demanded.index].source), "demand");
  EXPECT_EQ(NameOf(times[reloaded.index].source), "reload");
  const CreationFeedback& told = times[packed.index].feedback;
  EXPECT_TRUE(told.valid && told.stages[0].valid && told.stages[1].valid);
  EXPECT_FALSE(told.cache_hit || told.base_acceleration);
  EXPECT_EQ(told.duration, std::chrono::microseconds(5));
  EXPECT_EQ(told.stages[0].duration, std::chrono::microseconds(1));
  EXPECT_EQ(told.stages[1].duration, std::chrono::microseconds(2));
}

TEST_F(PipelinesTell, Metrics_SayWhatTheCountsSay) {
  const TestDirectory folder;
  const Device device = MakeDevice();
  PipelinesConfig config = Config();
  config.cache_folder = folder.path().string();
  const auto pipelines = MakePipelines(device, config);
  driver.on_create = [](uint32_t mark, VkPipelineCreateFlags) {
    return mark == 2 ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
  };
  for (const uint32_t mark : {1U, 1U, 2U, 3U}) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  const PipelineId late = Add(*pipelines, SampleMetadata(), 4);
  EXPECT_FALSE(pipelines->Bind(Commands(), late, OnMissing::Skip()).drawable);
  const std::string text = pipelines->PrintMetrics();
  for (const char* const line :
       {"# TYPE kiln_runtime_pipelines gauge\n", "kiln_runtime_pipelines{state=\"ready\"} 2\n",
        "kiln_runtime_pipelines{state=\"failed\"} 1\n",
        "kiln_runtime_pipelines{state=\"queued\"} 1\n", "kiln_runtime_pipelines_saved_total 1\n",
        "kiln_runtime_pipeline_layouts 1\n", "kiln_runtime_creation_seconds_count 2\n",
        "kiln_runtime_creation_seconds_bucket{le=\"+Inf\"} 2\n",
        "kiln_runtime_first_use_seconds_count 0\n",
        "kiln_runtime_missing_total{pipeline=\"rock\"} 1\n",
        "kiln_runtime_queue_length{lane=\"critical\"} 1\n", "kiln_runtime_quarantined 0\n",
        "kiln_runtime_cache_hits_total 0\n", "kiln_runtime_cache_file_bytes ",
        "kiln_runtime_cache_file_age_seconds ",
        "kiln_runtime_warm_start_seconds{part=\"total\"} "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("kiln_runtime_hitches_total{")));
}

}  // namespace
}  // namespace kiln::runtime
