// SPDX-License-Identifier: MIT
// On lavapipe, with the validation layer: nothing here may cause a message, except where the test
// is that the layer listens.
#include "runtime/vk/device.h"

#include <algorithm>
#include <dlfcn.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/vk/buffer.h"
#include "runtime/vk/image.h"
#include "runtime/vk/memory.h"
#include "runtime/vk/queue.h"

namespace kiln::vk {
namespace {

using runtime::Device;
using runtime::DeviceConfig;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeviceTest : public ::testing::Test {
 protected:
  Device MakeDevice() {
    auto device = Device::Create(
        {.prefer = "software", .validation = true, .messages = [this](const Message& message) {
           messages.push_back(message.id + ": " + message.text);
         }});
    EXPECT_TRUE(device.ok()) << ErrorText(device.error());
    return std::move(device).value();
  }

  std::vector<std::string> messages;
};

TEST_F(DeviceTest, Create_ReportsWhatItIsAndCan) {
  {
    const Device device = MakeDevice();
    EXPECT_THAT(device.identity().name, HasSubstr("llvmpipe"));
    EXPECT_GE(device.identity().api_version, VK_API_VERSION_1_3);
    EXPECT_TRUE(device.caps().HasFeature("dynamic_rendering"));
    EXPECT_TRUE(device.caps().HasFeature("fill_mode_non_solid"));
    EXPECT_FALSE(device.caps().HasFeature("depth_bounds"));  // lavapipe has none
    EXPECT_GE(device.caps().limits.maxBoundDescriptorSets, 4U);
    EXPECT_NE(device.caps().Format(VK_FORMAT_R32G32B32_SFLOAT).bufferFeatures &
                  VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT,
              0U);
  }
  EXPECT_THAT(messages, IsEmpty());
}

TEST_F(DeviceTest, UnknownPreference_ListsWhatWasFound) {
  const auto device = Device::Create({.prefer = "no such device"});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().reason, "NO_DEVICE");
  EXPECT_THAT(device.error().context, HasSubstr("llvmpipe"));
}

TEST_F(DeviceTest, UnknownExtension_IsAnError) {
  const char* const extensions[] = {"VK_KILN_unheard_of"};
  const auto device = Device::Create({.prefer = "software", .extensions = extensions});
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().context, HasSubstr("VK_ERROR_EXTENSION_NOT_PRESENT"));
}

// Copies bytes into an image and back; the barrier between the copies is there, or not.
enum class Barrier { kKept, kLeftOut };
void RoundTrip(const Device& device, Barrier barrier);

TEST_F(DeviceTest, Adopt_UsesAnEnginesDeviceAndLeavesItAlive) {
  {
    const Device engine = MakeDevice();
    void* const loader = dlopen("libvulkan.so.1", RTLD_NOW);
    ASSERT_NE(loader, nullptr);
    FeatureChain features;
    engine.table().GetPhysicalDeviceFeatures2(engine.physical(), features.Chain());
    features = KnownFeatures(features);
    {
      const auto adopted =
          Device::Adopt({.get_instance_proc_addr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
                             dlsym(loader, "vkGetInstanceProcAddr")),
                         .instance = engine.instance(),
                         .physical_device = engine.physical(),
                         .device = engine.handle(),
                         .queue_family = engine.queue_family(),
                         .enabled_features = &features});
      ASSERT_TRUE(adopted.ok()) << ErrorText(adopted.error());
      EXPECT_EQ(adopted->identity().name, engine.identity().name);
      EXPECT_EQ(adopted->caps().features, engine.caps().features);
      RoundTrip(*adopted, Barrier::kKept);
    }
    RoundTrip(engine, Barrier::kKept);
    dlclose(loader);
  }
  EXPECT_THAT(messages, IsEmpty());
}

void RoundTrip(const Device& device, Barrier barrier) {
  const Table& table = device.table();
  Memory memory(device);
  auto queue = Queue::Create(device);
  ASSERT_TRUE(queue.ok());
  constexpr VkDeviceSize kSize = VkDeviceSize{4} * 4 * 4;
  auto upload =
      CreateBuffer(device, memory, kSize, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, MemoryUse::kUpload);
  auto readback =
      CreateBuffer(device, memory, kSize, VK_BUFFER_USAGE_TRANSFER_DST_BIT, MemoryUse::kReadback);
  auto image = CreateImage(device, memory,
                           {.format = VK_FORMAT_R8G8B8A8_UNORM,
                            .extent = {4, 4, 1},
                            .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                     VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT});
  ASSERT_TRUE(upload.ok() && readback.ok() && image.ok());
  for (size_t i = 0; i < kSize; ++i) {
    upload->mapped()[i] = std::byte(i * 3);
  }
  auto commands = queue->Begin();
  ASSERT_TRUE(commands.ok());
  VkImageMemoryBarrier2 to{};
  to.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  to.dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
  to.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  to.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  to.image = image->handle.get();
  to.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &to;
  table.CmdPipelineBarrier2(*commands, &dependency);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {4, 4, 1};
  table.CmdCopyBufferToImage(*commands, upload->handle.get(), image->handle.get(),
                             VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  if (barrier == Barrier::kKept) {
    to.srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    to.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    to.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT;
    to.oldLayout = VK_IMAGE_LAYOUT_GENERAL;
    table.CmdPipelineBarrier2(*commands, &dependency);
  }
  table.CmdCopyImageToBuffer(*commands, image->handle.get(), VK_IMAGE_LAYOUT_GENERAL,
                             readback->handle.get(), 1, &region);
  auto value = queue->Submit(*commands);
  ASSERT_TRUE(value.ok());
  ASSERT_TRUE(queue->Wait(*value).ok());
  EXPECT_EQ(*queue->Completed(), *value);
  EXPECT_TRUE(std::ranges::equal(readback->mapped(), upload->mapped()));
}

TEST_F(DeviceTest, CopyThroughAnImage_ComesBackWithoutAMessage) {
  {
    const Device device = MakeDevice();
    RoundTrip(device, Barrier::kKept);
  }
  EXPECT_THAT(messages, IsEmpty());
}

TEST_F(DeviceTest, MissingBarrier_IsHeard) {
  {
    const Device device = MakeDevice();
    RoundTrip(device, Barrier::kLeftOut);
  }
  EXPECT_THAT(messages, ::testing::Contains(HasSubstr("SYNC-HAZARD-READ-AFTER-WRITE")));
}

TEST_F(DeviceTest, ObjectLeftBehind_IsHeard) {
  {
    const Device device = MakeDevice();
    VkSamplerCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    VkSampler leaked = VK_NULL_HANDLE;
    ASSERT_EQ(device.table().CreateSampler(device.handle(), &info, nullptr, &leaked), VK_SUCCESS);
  }
  EXPECT_THAT(messages, ::testing::Contains(HasSubstr("VkSampler")));
}

}  // namespace
}  // namespace kiln::vk
