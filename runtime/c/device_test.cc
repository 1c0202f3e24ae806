// SPDX-License-Identifier: MIT
// Devices and pipelines through kiln.h, on a Vulkan device.
#include <dlfcn.h>
#include <fstream>
#include <string>

#include "runtime/c/test_drawing.h"

namespace kiln::c::testing {
namespace {

TEST_F(Drawing, DeviceThatIsNotThere_IsSaid) {
  kiln_device_info which;
  KILN_INIT(which);
  which.prefer = kiln_text_of("a device that nobody makes");
  kiln_device* none = nullptr;
  EXPECT_EQ(kiln_device_open(context, &which, &none, nullptr), KILN_UNAVAILABLE);
  EXPECT_EQ(none, nullptr);
  which.validation = 2;
  EXPECT_EQ(kiln_device_open(context, &which, &none, nullptr), KILN_INVALID_ARGUMENT);
}

TEST_F(Drawing, DeviceOfTheCaller_IsAdopted) {
  kiln_device_handles handles;
  KILN_INIT(handles);
  ASSERT_EQ(kiln_device_get_handles(device, &handles, nullptr), KILN_OK);
  kiln_adopted_device info;
  KILN_INIT(info);
  kiln_device* adopted = nullptr;
  EXPECT_EQ(kiln_device_adopt(context, &info, &adopted, nullptr), KILN_INVALID_ARGUMENT);
  void* const loader = dlopen("libvulkan.so.1", RTLD_NOW);
  ASSERT_NE(loader, nullptr);
  info.get_instance_proc_addr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
  info.instance = handles.instance;
  info.physical_device = handles.physical_device;
  info.device = handles.device;
  info.queue_family = handles.queue_family;
  VkPhysicalDeviceVulkan13Features vulkan13{};
  vulkan13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &vulkan13;
  info.features = &features;
  ASSERT_EQ(kiln_device_adopt(context, &info, &adopted, nullptr), KILN_OK);
  kiln_device_handles same;
  KILN_INIT(same);
  ASSERT_EQ(kiln_device_get_handles(adopted, &same, nullptr), KILN_OK);
  EXPECT_EQ(same.device, handles.device);
  EXPECT_EQ(same.instance, handles.instance);
  kiln_device_destroy(adopted);
  // A chain that is a circle ends.
  vulkan13.pNext = &features;
  EXPECT_EQ(kiln_device_adopt(context, &info, &adopted, nullptr), KILN_OUT_OF_RANGE);
  EXPECT_NE(kiln_device_function(device, "vkCmdDraw"), nullptr);
  EXPECT_EQ(kiln_device_function(device, nullptr), nullptr);
}

TEST_F(Drawing, ThreadsStart_OnlyWhenTheyAreAskedFor) {
  const size_t before = Threads();
  kiln_pipelines* const none = MakePipelines(0);
  EXPECT_EQ(Threads(), before);
  kiln_pipelines* const two = MakePipelines(2);
  EXPECT_EQ(Threads(), before + 2);
  kiln_pipelines_destroy(two);
  EXPECT_EQ(Threads(), before);
  kiln_graph_info info;
  KILN_INIT(info);
  kiln_graph* graph = nullptr;
  EXPECT_EQ(kiln_graph_create(device, &info, &graph, nullptr), KILN_OK);
  EXPECT_EQ(Threads(), before);
  kiln_graph_destroy(graph);
  kiln_pipelines_destroy(none);
}

TEST_F(Drawing, Pipelines_AreFoundBuiltAndKnown) {
  kiln_pipelines* const pipelines = MakePipelines(1);
  const kiln_pipeline_id plain = Find(pipelines, "plain");
  EXPECT_EQ(kiln_pipelines_state(pipelines, plain), KILN_PIPELINE_QUEUED);
  EXPECT_EQ(kiln_pipelines_check(pipelines, plain, nullptr), KILN_FAILED_PRECONDITION);
  Warm(pipelines);
  EXPECT_EQ(kiln_pipelines_state(pipelines, plain), KILN_PIPELINE_READY);
  EXPECT_EQ(kiln_pipelines_check(pipelines, plain, nullptr), KILN_OK);
  kiln_pipeline_layout layout;
  KILN_INIT(layout);
  ASSERT_EQ(kiln_pipelines_layout(pipelines, plain, &layout, nullptr), KILN_OK);
  EXPECT_NE(layout.layout, VkPipelineLayout{});
  EXPECT_EQ(layout.push_size, 16U);
  EXPECT_NE(layout.sets[1], VkDescriptorSetLayout{});
  kiln_pipeline_stats stats;
  KILN_INIT(stats);
  ASSERT_EQ(kiln_pipelines_get_stats(pipelines, &stats, nullptr), KILN_OK);
  EXPECT_GE(stats.ready, 2U);
  EXPECT_EQ(stats.failed, 0U);
  const kiln_variant wrong = Variant("gold");
  kiln_pipeline_id id{77};
  EXPECT_EQ(kiln_pipelines_find(pipelines, &wrong, &signature, &id, nullptr), KILN_NOT_FOUND);
  EXPECT_EQ(id.index, 77U);
  kiln_pipelines_destroy(pipelines);
}

TEST_F(Drawing, NumbersOfOthers_AreOutOfRange) {
  kiln_pipelines* const pipelines = MakePipelines(0);
  const kiln_pipeline_id foreign{5};
  kiln_pipeline_layout layout;
  KILN_INIT(layout);
  kiln_warm_progress progress;
  KILN_INIT(progress);
  kiln_warm_ticket ticket{};
  const kiln_variant variant = Variant("plain");
  auto* const commands = reinterpret_cast<VkCommandBuffer>(8);  // never touched
  EXPECT_EQ(kiln_pipelines_layout(pipelines, foreign, &layout, nullptr), KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_pipelines_check(pipelines, foreign, nullptr), KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_pipelines_state(pipelines, foreign), KILN_PIPELINE_UNSUPPORTED);
  EXPECT_EQ(kiln_pipelines_set_viewport(pipelines, commands, foreign, {1, 1}, nullptr),
            KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_pipelines_bind(pipelines, commands, foreign, KILN_ON_MISSING_SKIP, foreign), 0U);
  EXPECT_EQ(kiln_pipelines_bind(pipelines, commands, foreign, 9, foreign), 0U);
  EXPECT_EQ(kiln_pipelines_warm(pipelines, &foreign, 1, KILN_LANE_SOON, &ticket, nullptr),
            KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_pipelines_warm(pipelines, nullptr, 0, 9, &ticket, nullptr), KILN_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_pipelines_replace(pipelines, foreign, source, &variant, nullptr),
            KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_pipelines_wait(pipelines, {3}, 0, &progress, nullptr), KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_pipelines_progress(pipelines, {3}, &progress, nullptr), KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_pipelines_cancel(pipelines, {3}, nullptr), KILN_OUT_OF_RANGE);
  kiln_hitch hitch;
  KILN_INIT(hitch);
  EXPECT_EQ(kiln_pipelines_hitch(pipelines, 0, &hitch, nullptr), KILN_OUT_OF_RANGE);
  ASSERT_EQ(kiln_pipelines_warm(pipelines, nullptr, 0, KILN_LANE_SOON, &ticket, nullptr), KILN_OK);
  EXPECT_EQ(kiln_pipelines_cancel(pipelines, ticket, nullptr), KILN_OK);
  kiln_pipelines_destroy(pipelines);

  kiln_pipelines_info info;
  KILN_INIT(info);
  info.threads = 100'000;
  kiln_pipelines* none = nullptr;
  EXPECT_EQ(kiln_pipelines_create(device, &info, &none, nullptr), KILN_INVALID_ARGUMENT);
}

TEST_F(Drawing, DriverCache_IsWrittenWhereItCanBe) {
  const std::string folder = ::testing::TempDir() + "kiln_c_cache_" + std::to_string(getpid());
  kiln_pipelines* pipelines = MakePipelines(0, folder.c_str());
  Warm(pipelines);
  EXPECT_EQ(kiln_pipelines_save_cache(pipelines, nullptr), KILN_OK);
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  std::ofstream(folder) << "a file in its place";
  EXPECT_NE(kiln_pipelines_save_cache(pipelines, nullptr), KILN_OK);
  kiln_pipelines_destroy(pipelines);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kiln::c::testing
