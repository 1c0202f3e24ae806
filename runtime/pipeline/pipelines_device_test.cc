// SPDX-License-Identifier: MIT
// Pipelines on lavapipe with the validation layer, which must stay silent.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "runtime/pipeline/child_builds.h"
#include "runtime/pipeline/driver/driver_identity.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/pipeline/sample_metadata.h"
#include "runtime/pipeline/sample_shaders.h"
#include "runtime/vk/buffer.h"
#include "runtime/vk/queue.h"

namespace kiln::runtime {
namespace {

class PipelinesDeviceTest : public ::testing::Test {
 protected:
  PipelinesDeviceTest() {
    auto created = Device::Create(
        {.prefer = "software", .validation = true, .messages = [this](const vk::Message& message) {
           messages.push_back(message.text);
         }});
    EXPECT_TRUE(created.ok()) << ErrorText(created.error());
    device.emplace(std::move(created).value());
  }
  ~PipelinesDeviceTest() override {
    device.reset();
    EXPECT_THAT(messages, ::testing::IsEmpty());
  }

  PipelineId Add(Pipelines& pipelines, const PipelineMetadata& metadata,
                 const PassSignature& signature) {
    const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
    const std::vector<uint32_t> fragment = Assemble(kSampleFragment);
    const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                   {artifact::Stage::kFragment, fragment}};
    const auto id = pipelines.Add("sample", metadata, modules, signature);
    EXPECT_TRUE(id.ok()) << ErrorText(id.error());
    return *id;
  }

  std::vector<std::string> messages;
  std::optional<Device> device;
};

TEST_F(PipelinesDeviceTest, MadeInAChildFirst_IsReadyHere) {
  // Tests lie in a folder below the programs.
  const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (build.string() + ":" + path).c_str(), 1);
  const TestDirectory folder;
  // Without the layer, which is no part of the driver that the child has.
  auto plain = Device::Create({.prefer = "software"});
  ASSERT_TRUE(plain.ok()) << ErrorText(plain.error());
  {
    auto started = SpawnPipelineChild(*plain)(folder.path().string());
    ASSERT_TRUE(started.ok()) << ErrorText(started.error());
    ChildBuilds children({.start = [&](const std::string&) { return started; },
                          .timeout = std::chrono::seconds(20)});
    ChildJob job{.desc = *DescFrom("sample", SampleMetadata(), SampleSignature())};
    const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
    const std::vector<uint32_t> fragment = Assemble(kSampleFragment);
    job.stages = {artifact::Stage::kVertex, artifact::Stage::kFragment};
    job.words = {vertex, fragment};
    const auto fate = children.Try(job);
    ASSERT_TRUE(fate.ok()) << ErrorText(fate.error());
    EXPECT_EQ(*fate, ChildBuilds::Fate::kLived);
    children.End();
  }
  // The child has kept the driver's cache under the identity that this process computes, too.
  EXPECT_TRUE(std::filesystem::exists(folder.path() / (DriverIdentity(*plain).hex() + ".vkcache")));
  auto pipelines = Pipelines::Create(*plain, {.threads = 1});
  ASSERT_TRUE(pipelines.ok());
  const PipelineId id = Add(**pipelines, SampleMetadata(), SampleSignature());
  const auto report =
      (*pipelines)->Wait((*pipelines)->Warm({.isolate = true}), std::chrono::seconds(20));
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ((*pipelines)->State(id), PipelineState::kReady);
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(PipelinesDeviceTest, EveryKindOfState_BuildsSilently) {
  using artifact::Settings;
  const std::vector<std::function<void(PipelineMetadata&)>> edits = {
      [](auto&) {},
      [](auto& m) { m.settings.polygon_mode = artifact::PolygonMode::kWireframe; },
      [](auto& m) { m.settings.cull_mode = artifact::CullMode::kFront; },
      [](auto& m) {
        m.settings.depth_compare_operation = artifact::CompareOperation::kGreaterOrEqual;
      },
      [](auto& m) {
        m.settings.stencil_test = true;
        m.settings.stencil_front.on_pass = artifact::StencilOperation::kIncrementAndWrap;
        m.settings.stencil_front.compare_mask = 255;
      },
      [](auto& m) {
        m.color_outputs[0].use_blend = true;
        m.color_outputs[0].source_color_blend_factor = artifact::BlendFactor::kSourceAlpha;
        m.color_outputs[0].destination_color_blend_factor =
            artifact::BlendFactor::kOneMinusConstantAlpha;
      },
      [](auto& m) {
        m.color_outputs[0].write = {true, false, true, false};
      },
      [](auto& m) { m.settings.depth_test = false; },
  };
  Pipelines pipelines(*device, DebugChecks::kOn);
  PassSignature signature = SampleSignature();
  signature.depth_stencil = VK_FORMAT_D32_SFLOAT_S8_UINT;
  for (const auto& edit : edits) {
    PipelineMetadata metadata = SampleMetadata();
    edit(metadata);
    const PipelineId id = Add(pipelines, metadata, signature);
    EXPECT_EQ(pipelines.State(id), PipelineState::kReady);
  }
  EXPECT_EQ(pipelines.Stats().ready, edits.size());
  EXPECT_EQ(pipelines.Stats().pipeline_layouts, 1U);
}

// Threads build, the thread that waits draws once; what is linked fast is optimised later.
TEST_F(PipelinesDeviceTest, WarmStart_LeavesNothingForTheFirstDraw) {
  for (const bool link_fast : {false, true}) {
    auto pipelines = Pipelines::Create(
        *device, {.threads = 2, .first_use = FirstUse::kOn, .link_fast = link_fast});
    ASSERT_TRUE(pipelines.ok());
    PipelineMetadata metadata = SampleMetadata();
    const PipelineId plain = Add(**pipelines, metadata, SampleSignature());
    metadata.color_outputs[0].use_blend = true;
    metadata.settings.cull_mode = artifact::CullMode::kNone;
    const PipelineId blended = Add(**pipelines, metadata, SampleSignature());
    EXPECT_EQ((*pipelines)->State(plain), PipelineState::kQueued);
    const auto report = (*pipelines)->Wait((*pipelines)->Warm({}), std::chrono::minutes(2));
    ASSERT_TRUE(report.ok()) << ErrorText(report.error());
    EXPECT_TRUE(report->failures.empty());
    EXPECT_EQ(report->progress.first_uses, 2U);
    EXPECT_TRUE(IsReady((*pipelines)->State(plain)));
    EXPECT_TRUE(IsReady((*pipelines)->State(blended)));
    EXPECT_EQ((*pipelines)->Stats().libraries > 0, link_fast && device->caps().fast_linking);
    EXPECT_TRUE((*pipelines)->Hitches().empty());
  }
}

TEST_F(PipelinesDeviceTest, DriverCache_IsKeptAndTakenBack) {
  const std::string folder = ::testing::TempDir() + "kiln_device_cache_" + std::to_string(getpid());
  RecordingLog log;
  for (int run = 0; run < 2; ++run) {
    auto pipelines = Pipelines::Create(
        *device, {.threads = 1, .cache_folder = folder, .log = &log, .first_use = FirstUse::kOff});
    ASSERT_TRUE(pipelines.ok());
    Add(**pipelines, SampleMetadata(), SampleSignature());
    ASSERT_TRUE((*pipelines)->Wait((*pipelines)->Warm({}), std::chrono::minutes(2)).ok());
    (*pipelines)->EndFrame(1);
  }
  EXPECT_THAT(log.Lines(), ::testing::IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(folder + "/" + DriverIdentity(*device).hex() + ".vkcache"));
  std::filesystem::remove_all(folder);
}

TEST_F(PipelinesDeviceTest, OtherSignatures_AreOtherPipelines) {
  Pipelines pipelines(*device);
  PassSignature wide = SampleSignature();
  wide.color = {VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R8_UNORM};
  PassSignature samples = SampleSignature();
  samples.samples = VK_SAMPLE_COUNT_4_BIT;
  const PipelineId a = Add(pipelines, SampleMetadata(), SampleSignature());
  const PipelineId b = Add(pipelines, SampleMetadata(), wide);
  const PipelineId c = Add(pipelines, SampleMetadata(), samples);
  EXPECT_EQ(pipelines.Stats().ready, 3U);
  EXPECT_NE(pipelines.Get(a), pipelines.Get(b));
  EXPECT_NE(pipelines.Get(a), pipelines.Get(c));
}

TEST_F(PipelinesDeviceTest, DepthBounds_AreUnsupportedHere) {
  Pipelines pipelines(*device);
  PipelineMetadata metadata = SampleMetadata();
  metadata.settings.depth_bounds_test = true;
  const PipelineId id = Add(pipelines, metadata, SampleSignature());
  EXPECT_EQ(pipelines.State(id), PipelineState::kUnsupported);
  EXPECT_THAT(pipelines.ErrorOf(id)->context,
              ::testing::StartsWith("'sample' needs depth_bounds (not offered by llvmpipe"));
}

TEST_F(PipelinesDeviceTest, Compute_RunsWithItsSpecialisedValue) {
  const vk::Table& table = device->table();
  PipelineMetadata metadata;
  metadata.pipeline_type = artifact::PipelineType::kCompute;
  metadata.entry_points = {{artifact::Stage::kCompute, "fill"}};
  metadata.workgroup_size = {4, 1, 1};
  metadata.sets[0].buffers = {
      {.name = "values", .binding = 0, .type = artifact::BufferType::kReadWriteStorage}};
  metadata.specialization = {{"value", 3, artifact::OptionType::kUint, 4, 77}};
  const std::vector<uint32_t> words = Assemble(kSampleCompute);
  const ModuleWords modules[] = {{std::nullopt, words}};
  Pipelines pipelines(*device);
  const auto id = pipelines.Add("fill", metadata, modules, {});
  ASSERT_TRUE(id.ok()) << ErrorText(id.error());
  ASSERT_EQ(pipelines.State(*id), PipelineState::kReady);
  pipelines.ReleaseModules();

  vk::Memory memory(*device);
  auto buffer = vk::CreateBuffer(*device, memory, 16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                 vk::MemoryUse::kReadback);
  auto queue = vk::Queue::Create(*device);
  ASSERT_TRUE(buffer.ok() && queue.ok());
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 1;
  pool_info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(table.CreateDescriptorPool(device->handle(), &pool_info, nullptr, &pool), VK_SUCCESS);
  const vk::UniqueDescriptorPool owner(table, device->handle(), pool);
  VkDescriptorSetAllocateInfo set_info{};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  set_info.descriptorPool = pool;
  set_info.descriptorSetCount = 1;
  set_info.pSetLayouts = pipelines.Layouts(*id).sets.data();
  VkDescriptorSet set = VK_NULL_HANDLE;
  ASSERT_EQ(table.AllocateDescriptorSets(device->handle(), &set_info, &set), VK_SUCCESS);
  const VkDescriptorBufferInfo range{buffer->handle.get(), 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &range;
  table.UpdateDescriptorSets(device->handle(), 1, &write, 0, nullptr);

  auto commands = queue->Begin();
  ASSERT_TRUE(commands.ok());
  table.CmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines.Get(*id));
  table.CmdBindDescriptorSets(*commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                              pipelines.Layouts(*id).layout, 0, 1, &set, 0, nullptr);
  table.CmdDispatch(*commands, 1, 1, 1);
  auto value = queue->Submit(*commands);
  ASSERT_TRUE(value.ok() && queue->Wait(*value).ok());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ReadLittle<uint32_t>(buffer->mapped(), i * 4), 77U);
  }
}

}  // namespace
}  // namespace kiln::runtime
