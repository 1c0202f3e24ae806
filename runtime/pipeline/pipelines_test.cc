// SPDX-License-Identifier: MIT
// Pipelines over a driver of fakes: what is shared, what fails alone, and that every handle is
// destroyed.
#include "runtime/pipeline/pipelines.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {
namespace {

// Handles are numbers; each is created and destroyed once.
struct FakeDriver {
  uint64_t next = 1;
  std::set<uint64_t> live;
  int pipelines_created = 0;
  VkResult pipeline_result = VK_SUCCESS;
  VkResult layout_result = VK_SUCCESS;
};
FakeDriver driver;

template <class Handle>
VkResult Make(Handle* handle, VkResult result = VK_SUCCESS) {
  if (result == VK_SUCCESS) {
    driver.live.insert(driver.next);
    *handle = reinterpret_cast<Handle>(driver.next++);
  }
  return result;
}

template <class Handle, class Info>
VKAPI_ATTR VkResult VKAPI_CALL FakeCreate(VkDevice /*device*/, const Info* /*info*/,
                                          const VkAllocationCallbacks* /*callbacks*/,
                                          Handle* handle) {
  return Make(handle);
}

VKAPI_ATTR VkResult VKAPI_CALL FakeCreateLayout(VkDevice /*device*/,
                                                const VkPipelineLayoutCreateInfo* /*info*/,
                                                const VkAllocationCallbacks* /*callbacks*/,
                                                VkPipelineLayout* handle) {
  return Make(handle, driver.layout_result);
}

VKAPI_ATTR VkResult VKAPI_CALL FakeCreatePipelines(VkDevice /*device*/, VkPipelineCache /*cache*/,
                                                   uint32_t /*count*/,
                                                   const VkGraphicsPipelineCreateInfo* /*info*/,
                                                   const VkAllocationCallbacks* /*callbacks*/,
                                                   VkPipeline* handle) {
  ++driver.pipelines_created;
  return Make(handle, driver.pipeline_result);
}

template <class Handle>
VKAPI_ATTR void VKAPI_CALL FakeDestroy(VkDevice /*device*/, Handle handle,
                                       const VkAllocationCallbacks* /*callbacks*/) {
  EXPECT_EQ(driver.live.erase(reinterpret_cast<uint64_t>(handle)), 1U) << "destroyed twice";
}

class PipelinesTest : public ::testing::Test {
 protected:
  PipelinesTest() { driver = {}; }
  ~PipelinesTest() override { EXPECT_TRUE(driver.live.empty()); }

  static Device MakeDevice(const DeviceCaps& caps = AbleDevice()) {
    vk::Table table;
    table.CreateShaderModule = FakeCreate<VkShaderModule, VkShaderModuleCreateInfo>;
    table.CreateDescriptorSetLayout =
        FakeCreate<VkDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo>;
    table.CreatePipelineLayout = FakeCreateLayout;
    table.CreateGraphicsPipelines = FakeCreatePipelines;
    table.DestroyShaderModule = FakeDestroy<VkShaderModule>;
    table.DestroyDescriptorSetLayout = FakeDestroy<VkDescriptorSetLayout>;
    table.DestroyPipelineLayout = FakeDestroy<VkPipelineLayout>;
    table.DestroyPipeline = FakeDestroy<VkPipeline>;
    return Device::OverTable(table, caps, {});
  }

  static PipelineId Add(Pipelines& pipelines, const PipelineMetadata& metadata,
                        uint32_t fragment_word = 0) {
    const std::vector<uint32_t> vertex = {0x07230203, 0x10300, 0, 1, 0};
    const std::vector<uint32_t> fragment = {0x07230203, 0x10300, 0, 1, fragment_word};
    const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                   {artifact::Stage::kFragment, fragment}};
    const auto id = pipelines.Add("rock", metadata, modules, SampleSignature());
    EXPECT_TRUE(id.ok()) << ErrorText(id.error());
    return *id;
  }
};

TEST_F(PipelinesTest, EqualPipelines_AreBuiltOnce) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  PipelineMetadata metadata = SampleMetadata();
  const PipelineId first = Add(pipelines, metadata);
  metadata.settings.stencil_front.reference = 3;  // cannot matter without the stencil test
  const PipelineId second = Add(pipelines, metadata);
  EXPECT_EQ(first, second);
  EXPECT_EQ(driver.pipelines_created, 1);
  EXPECT_NE(pipelines.Get(first), VkPipeline{});
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
  EXPECT_EQ(driver.pipelines_created, 0);
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
