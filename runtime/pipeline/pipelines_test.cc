// SPDX-License-Identifier: MIT
// Pipelines over a driver of fakes: what is shared, what fails alone, and that every handle is
// destroyed.
#include "runtime/pipeline/pipelines.h"

#include <vector>

#include <gtest/gtest.h>

#include "runtime/pipeline/driver/fake_driver.h"

namespace kiln::runtime {
namespace {

using PipelinesTest = FakeDriverTest;

TEST_F(PipelinesTest, EqualPipelines_AreBuiltOnce) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  PipelineMetadata metadata = SampleMetadata();
  const PipelineId first = Add(pipelines, metadata);
  metadata.settings.stencil_front.reference = 3;  // cannot matter without the stencil test
  const PipelineId second = Add(pipelines, metadata);
  EXPECT_NE(first, second);  // a reload may tell them apart
  EXPECT_EQ(driver.created.size(), 1U);
  EXPECT_NE(pipelines.Get(first), VkPipeline{});
  EXPECT_EQ(pipelines.Get(first), pipelines.Get(second));
  EXPECT_EQ(pipelines.State(first), PipelineState::kReady);
  EXPECT_EQ(pipelines.ErrorOf(first), nullptr);
  EXPECT_EQ(pipelines.Stats().saved, 1U);
}

TEST_F(PipelinesTest, OneFamily_SharesLayoutsAndModules) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  PipelineMetadata metadata = SampleMetadata();
  const PipelineId first = Add(pipelines, metadata, 1);
  metadata.settings.cull_mode = artifact::CullMode::kNone;
  const PipelineId second = Add(pipelines, metadata, 2);
  EXPECT_NE(first, second);
  EXPECT_EQ(pipelines.Layouts(first).layout, pipelines.Layouts(second).layout);
  EXPECT_EQ(pipelines.Layouts(first).sets, pipelines.Layouts(second).sets);
  const PipelineStats stats = pipelines.Stats();
  EXPECT_EQ(stats.ready, 2U);
  EXPECT_EQ(stats.modules, 3U);  // one vertex, two fragment
  EXPECT_EQ(stats.pipeline_layouts, 1U);
  EXPECT_EQ(stats.set_layouts, 4U);  // pass, material, the gap, shared
}

TEST_F(PipelinesTest, TrailingEmptySets_AreNotInTheLayout) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  PipelineMetadata metadata = SampleMetadata();
  metadata.sets[3] = {};
  const LayoutSet& layouts = pipelines.Layouts(Add(pipelines, metadata));
  EXPECT_EQ(layouts.set_count, 2U);
  EXPECT_EQ(layouts.sets[2], VkDescriptorSetLayout{});
}

TEST_F(PipelinesTest, DriverRefuses_CostsThatPipelineOnly) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  driver.pipeline_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const PipelineId failed = Add(pipelines, SampleMetadata(), 1);
  driver.pipeline_result = VK_SUCCESS;
  const PipelineId fine = Add(pipelines, SampleMetadata(), 2);
  EXPECT_EQ(pipelines.State(failed), PipelineState::kFailed);
  EXPECT_EQ(pipelines.Get(failed), VkPipeline{});
  EXPECT_EQ(ErrorText(*pipelines.ErrorOf(failed)),
            "RESOURCE_EXHAUSTED (PIPELINE_FAILED): cannot create pipeline 'rock' on fake device: "
            "VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)");
  EXPECT_EQ(pipelines.State(fine), PipelineState::kReady);
}

TEST_F(PipelinesTest, LayoutFails_CostsThatPipelineOnly) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  driver.layout_result = VK_ERROR_OUT_OF_HOST_MEMORY;
  EXPECT_EQ(pipelines.State(Add(pipelines, SampleMetadata(), 1)), PipelineState::kFailed);
  EXPECT_TRUE(driver.created.empty());
}

TEST_F(PipelinesTest, DeviceCannot_IsUnsupportedWithoutACall) {
  DeviceCaps caps = AbleDevice();
  caps.limits.maxPushConstantsSize = 8;
  const Device device = MakeDevice(caps);
  Pipelines pipelines(device);
  const PipelineId id = Add(pipelines, SampleMetadata());
  EXPECT_EQ(pipelines.State(id), PipelineState::kUnsupported);
  EXPECT_EQ(pipelines.ErrorOf(id)->reason, "UNSUPPORTED");
  EXPECT_EQ(driver.next, 1U);
}

TEST_F(PipelinesTest, MissingOrWrongWords_AreAnError) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  const std::vector<uint32_t> fine = {0x07230203, 0x10300, 0, 1, 0};
  const std::vector<uint32_t> wrong = {1, 2, 3, 4, 5};
  const ModuleWords vertex_only[] = {{artifact::Stage::kVertex, fine}};
  const ModuleWords not_spirv[] = {{std::nullopt, wrong}};
  EXPECT_EQ(
      ErrorText(pipelines.Add("rock", SampleMetadata(), vertex_only, SampleSignature()).error()),
      "INVALID_ARGUMENT (METADATA_INCOMPLETE): 'rock': there is no SPIR-V for entry point "
      "'fragment_main'");
  EXPECT_EQ(
      ErrorText(pipelines.Add("rock", SampleMetadata(), not_spirv, SampleSignature()).error()),
      "INVALID_ARGUMENT (METADATA_INVALID): 'rock': the words for entry point 'vertex_main' are "
      "not SPIR-V");
}

TEST_F(PipelinesTest, ReleaseModules_DropsThemAndKeepsPipelines) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  const PipelineId id = Add(pipelines, SampleMetadata(), 1);
  const size_t before = driver.live.size();
  pipelines.ReleaseModules();
  EXPECT_EQ(driver.live.size(), before - 2);
  EXPECT_NE(pipelines.Get(id), VkPipeline{});
}

}  // namespace
}  // namespace kiln::runtime
