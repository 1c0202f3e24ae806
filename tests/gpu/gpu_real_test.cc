// SPDX-License-Identifier: MIT
// What only the driver of a real GPU shows: a cache that hits, creation that succeeds from it
// alone, links that are replaced by what is optimised, real times of first draws. Skipped where
// there is no GPU. deploy/gpu-real runs it and keeps the result. See spec/pso 11.6
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/pipeline/sample_metadata.h"
#include "runtime/pipeline/sample_shaders.h"
#include "runtime/preview/preview.h"
#include "runtime/vk/queue.h"

namespace kiln::runtime {
namespace {

constexpr std::chrono::minutes kLongest{2};

class GpuReal : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Device::Create({});  // the fastest kind
    if (!made.ok() || made->identity().type == VK_PHYSICAL_DEVICE_TYPE_CPU) {
      GTEST_SKIP() << "a GPU";
    }
    device.emplace(std::move(made).value());
    std::printf("gpu-real ran on: %s (%s)\n", device->identity().name.c_str(),
                device->identity().driver_info.c_str());
  }

  // One run of a program: its pipelines over what an earlier run has kept.
  std::unique_ptr<Pipelines> Run(PipelinesConfig config) {
    config.threads = 1;
    config.cache_folder = folder.path().string();
    auto made = Pipelines::Create(*device, config);
    EXPECT_TRUE(made.ok()) << ErrorText(made.error());
    return std::move(made).value();
  }

  // Variants of the sample that a driver cannot take for one another.
  static std::vector<PipelineId> AddSamples(Pipelines& pipelines) {
    const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
    const std::vector<uint32_t> fragment = Assemble(kSampleFragment);
    const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                   {artifact::Stage::kFragment, fragment}};
    std::vector<PipelineId> ids;
    for (const artifact::CompareOperation compare :
         {artifact::CompareOperation::kLess, artifact::CompareOperation::kGreater}) {
      for (const bool blend : {false, true}) {
        PipelineMetadata metadata = SampleMetadata();
        metadata.settings.depth_compare_operation = compare;
        metadata.color_outputs[0].use_blend = blend;
        const auto id = pipelines.Add("sample", metadata, modules, SampleSignature());
        EXPECT_TRUE(id.ok()) << ErrorText(id.error());
        ids.push_back(*id);
      }
    }
    return ids;
  }

  static WarmReport Warm(Pipelines& pipelines) {
    const auto report = pipelines.Wait(pipelines.Warm({}), kLongest);
    EXPECT_TRUE(report.ok()) << ErrorText(report.error());
    EXPECT_TRUE(report->failures.empty());
    return *report;
  }

  const TestDirectory folder;
  std::optional<Device> device;
};

TEST_F(GpuReal, DriverCache_HitsInTheNextRun) {
  size_t count = 0;
  {
    const auto first = Run({});
    count = AddSamples(*first).size();
    Warm(*first);
    first->EndFrame(1);
  }
  const auto second = Run({});
  AddSamples(*second);
  EXPECT_EQ(Warm(*second).progress.from_cache, count);
}

TEST_F(GpuReal, CompileRequired_IsNotSaidOfWhatTheCacheHas) {
  if (!device->caps().HasFeature("pipeline_creation_cache_control")) {
    GTEST_SKIP() << "a GPU with pipeline_creation_cache_control";
  }
  {
    const auto first = Run({});
    AddSamples(*first);
    Warm(*first);
    first->EndFrame(1);
  }
  const auto second = Run({.hitch = std::chrono::seconds(1)});
  const std::vector<PipelineId> ids = AddSamples(*second);
  // One is built, which shows the truth about the driver; the others are had at their first draw.
  const auto report = second->Wait(second->Warm({.pipelines = {ids[0]}}), kLongest);
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  auto queue = vk::Queue::Create(*device);
  ASSERT_TRUE(queue.ok());
  const auto commands = queue->Begin();
  ASSERT_TRUE(commands.ok());
  for (const PipelineId id : ids) {
    EXPECT_TRUE(second->Bind(*commands, id, OnMissing::Skip()).drawable);
  }
  EXPECT_EQ(second->Stats().missing, 0U);
  const auto value = queue->Submit(*commands);
  ASSERT_TRUE(value.ok() && queue->Wait(*value).ok());
}

TEST_F(GpuReal, FastLinks_AreReplacedByWhatIsOptimised) {
  if (!device->caps().fast_linking) {
    GTEST_SKIP() << "a GPU with fast linking";
  }
  const auto pipelines = Run({.link_fast = true});
  const std::vector<PipelineId> ids = AddSamples(*pipelines);
  Warm(*pipelines);
  for (const PipelineId id : ids) {
    EXPECT_TRUE(IsReady(pipelines->State(id)));
  }
  // What waits in the last lane is optimised while nothing else is to be done.
  EXPECT_TRUE(WaitUntil([&] { return pipelines->Stats().ready == ids.size(); }));
  EXPECT_GT(pipelines->Stats().libraries, 0U);
}

// Times are told, not judged: what they are is the driver's affair.
TEST_F(GpuReal, FirstDraw_IsMeasured) {
  PipelineMetadata metadata = SampleMetadata();
  metadata.sets[1].buffers[0].main_parameters = {
      {.name = "tint", .type = artifact::ParameterType::kF4}};
  metadata.push_constant = {.name = "push",
                            .members = {{.name = "add", .type = artifact::ParameterType::kF4}}};
  const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
  const std::vector<uint32_t> fragment = Assemble(kSampleFragment);
  const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                 {artifact::Stage::kFragment, fragment}};
  const auto drawn = preview::Render(*device, "sample", metadata, modules, {.size = {256, 256}});
  ASSERT_TRUE(drawn.ok()) << ErrorText(drawn.error());
  EXPECT_GT(drawn->covered, 256U * 256 / 6);
  EXPECT_GT(drawn->first_use_ms, 0.0);
  std::printf("creation %.2f ms, first frame %.2f ms, next %.2f ms\n", drawn->creation_ms,
              drawn->first_use_ms, drawn->draw_ms);
}

}  // namespace
}  // namespace kiln::runtime
