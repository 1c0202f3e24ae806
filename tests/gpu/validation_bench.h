// SPDX-License-Identifier: MIT
// Commands for synchronisation tests, as bare as Vulkan has them: who calls them right or wrong is
// the test.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/pipeline/pipelines.h"
#include "runtime/vk/buffer.h"
#include "runtime/vk/image.h"
#include "runtime/vk/queue.h"

namespace kiln::runtime {

inline constexpr VkDeviceSize kBytes = 4096;
inline constexpr VkExtent3D kEdge = {16, 16, 1};

inline constexpr VkPipelineStageFlags2 kCopy = VK_PIPELINE_STAGE_2_COPY_BIT;
// The stage of a fill: layers and versions of Vulkan differ.
inline constexpr VkPipelineStageFlags2 kFill = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
inline constexpr VkAccessFlags2 kRead = VK_ACCESS_2_TRANSFER_READ_BIT;
inline constexpr VkAccessFlags2 kWrite = VK_ACCESS_2_TRANSFER_WRITE_BIT;

// A device and what little the situations need of it: the calls themselves are the test.
class ValidationBench {
 public:
  explicit ValidationBench(const Device& device)
      : device(device), table(device.table()), memory(device), handle(device.handle()) {
    table.GetDeviceQueue(handle, device.queue_family(), 0, &queue);
    VkCommandPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    info.queueFamilyIndex = device.queue_family();
    VkCommandPool made = VK_NULL_HANDLE;
    EXPECT_EQ(table.CreateCommandPool(handle, &info, nullptr, &made), VK_SUCCESS);
    pool_ = vk::UniqueCommandPool(table, handle, made);
    timeline = NewTimeline(0);
    commands = Begin();
  }
  ~ValidationBench() {
    WaitFor(timeline.get(), submitted);
    if (destroy_pass_) {
      destroy_pass_();
    }
  }
  ValidationBench(const ValidationBench&) = delete;
  ValidationBench& operator=(const ValidationBench&) = delete;

  vk::UniqueSemaphore NewTimeline(uint64_t value) const {
    VkSemaphoreTypeCreateInfo type{};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    type.initialValue = value;
    VkSemaphoreCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    info.pNext = &type;
    VkSemaphore made = VK_NULL_HANDLE;
    EXPECT_EQ(table.CreateSemaphore(handle, &info, nullptr, &made), VK_SUCCESS);
    return {table, handle, made};
  }

  VkCommandBuffer Begin() const {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_.get();
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer made = VK_NULL_HANDLE;
    EXPECT_EQ(table.AllocateCommandBuffers(handle, &info, &made), VK_SUCCESS);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    EXPECT_EQ(table.BeginCommandBuffer(made, &begin), VK_SUCCESS);
    return made;
  }

  // One submission of all of them; it waits for `value` of `wait`, if there is one.
  void Submit(std::span<const VkCommandBuffer> all, VkSemaphore wait = VK_NULL_HANDLE,
              uint64_t value = 0) {
    std::vector<VkCommandBufferSubmitInfo> buffers;
    for (const VkCommandBuffer one : all) {
      EXPECT_EQ(table.EndCommandBuffer(one), VK_SUCCESS);
      VkCommandBufferSubmitInfo& info = buffers.emplace_back();
      info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
      info.commandBuffer = one;
    }
    VkSemaphoreSubmitInfo signal{};
    signal.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    signal.semaphore = timeline.get();
    signal.value = ++submitted;
    signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    VkSemaphoreSubmitInfo first = signal;
    first.semaphore = wait;
    first.value = value;
    VkSubmitInfo2 info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    info.waitSemaphoreInfoCount = wait == VK_NULL_HANDLE ? 0 : 1;
    info.pWaitSemaphoreInfos = &first;
    info.commandBufferInfoCount = static_cast<uint32_t>(buffers.size());
    info.pCommandBufferInfos = buffers.data();
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &signal;
    EXPECT_EQ(table.QueueSubmit2(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
  }

  void WaitFor(VkSemaphore semaphore, uint64_t value) const {
    VkSemaphoreWaitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore;
    info.pValues = &value;
    EXPECT_EQ(table.WaitSemaphores(handle, &info, uint64_t{60} * 1'000'000'000), VK_SUCCESS);
  }

  VkBuffer NewBuffer() {
    auto made =
        vk::CreateBuffer(device, memory, kBytes,
                         VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                             VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                         vk::MemoryUse::kDevice);
    EXPECT_TRUE(made.ok());
    return buffers.emplace_back(std::move(made).value()).handle.get();
  }
  VkImage NewImage() {
    auto made = vk::CreateImage(
        device, memory,
        {.format = VK_FORMAT_R8G8B8A8_UNORM,
         .extent = kEdge,
         .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                  VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT});
    EXPECT_TRUE(made.ok());
    const VkImage image = images.emplace_back(std::move(made).value()).handle.get();
    ImageBarrier(
        image, {VK_PIPELINE_STAGE_2_NONE, 0, VK_IMAGE_LAYOUT_UNDEFINED},
        {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
         VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT, VK_IMAGE_LAYOUT_GENERAL});
    return image;
  }

  struct Scope {
    VkPipelineStageFlags2 stages = 0;
    VkAccessFlags2 accesses = 0;
    VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  };
  void ImageBarrier(VkImage image, const Scope& from, const Scope& to) const {
    VkImageMemoryBarrier2 barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
    barrier.srcStageMask = from.stages;
    barrier.srcAccessMask = from.accesses;
    barrier.dstStageMask = to.stages;
    barrier.dstAccessMask = to.accesses;
    barrier.oldLayout = from.layout;
    barrier.newLayout = to.layout;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkDependencyInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    info.imageMemoryBarrierCount = 1;
    info.pImageMemoryBarriers = &barrier;
    table.CmdPipelineBarrier2(commands, &info);
  }
  void Barrier(const Scope& from, const Scope& to) const {
    VkMemoryBarrier2 barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    barrier.srcStageMask = from.stages;
    barrier.srcAccessMask = from.accesses;
    barrier.dstStageMask = to.stages;
    barrier.dstAccessMask = to.accesses;
    VkDependencyInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &barrier;
    table.CmdPipelineBarrier2(commands, &info);
  }

  void Fill(VkBuffer buffer, VkDeviceSize offset = 0, VkDeviceSize size = kBytes) const {
    table.CmdFillBuffer(commands, buffer, offset, size, 7);
  }
  void Copy(VkBuffer from, VkBuffer to, VkDeviceSize offset = 0, VkDeviceSize size = kBytes) const {
    const VkBufferCopy region{offset, offset, size};
    table.CmdCopyBuffer(commands, from, to, 1, &region);
  }
  void CopyImage(VkImage image, VkBuffer to) const {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = kEdge;
    table.CmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_GENERAL, to, 1, &region);
  }
  void CopyToImage(VkBuffer from, VkImage image) const {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = kEdge;
    table.CmdCopyBufferToImage(commands, from, image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  }
  void Blit(VkImage from, VkImage to) const {
    VkImageBlit region{};
    region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.srcOffsets[1] = region.dstOffsets[1] = {16, 16, 1};
    table.CmdBlitImage(commands, from, VK_IMAGE_LAYOUT_GENERAL, to, VK_IMAGE_LAYOUT_GENERAL, 1,
                       &region, VK_FILTER_NEAREST);
  }
  // Clears it as the attachment of a render pass object: this version of the layer does not look at
  // what dynamic rendering does to attachments.
  void Render(const vk::Image& image);
  void Dispatch(VkBuffer buffer);

  const Device& device;
  const vk::Table& table;
  vk::Memory memory;
  VkDevice handle;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;  // what is recorded
  std::deque<vk::Buffer> buffers;
  std::deque<vk::Image> images;
  vk::UniqueSemaphore timeline;
  uint64_t submitted = 0;

 private:
  vk::UniqueCommandPool pool_;
  std::function<void()> destroy_pass_;
  std::optional<Pipelines> pipelines_;
  vk::UniqueDescriptorPool descriptors_;
};

// Buffers on one piece of memory, each used as if it were alone.
struct Shared {
  vk::UniqueMemory memory;
  std::vector<vk::UniqueBuffer> buffers;
  std::vector<vk::UniqueImage> images;
};

enum class Place : uint8_t { kSame, kApart };
Shared BuffersOnOneMemory(const ValidationBench& bench);
Shared ImagesOnOneMemory(const ValidationBench& bench, Place place);

}  // namespace kiln::runtime
