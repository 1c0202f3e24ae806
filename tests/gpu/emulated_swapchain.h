// SPDX-License-Identifier: MIT
// Images that stand in for those of a swapchain: an empty submission signals what acquiring one
// signals, another waits for what presenting it waits for. vkQueuePresentKHR is not called unless a
// test puts its own into the device's table.
#pragma once

#include <array>

#include <gtest/gtest.h>

#include "runtime/graph/graph.h"
#include "runtime/vk/image.h"

namespace kiln::graph {

// The device outlives it.
class EmulatedSwapchain {
 public:
  static constexpr VkFormat kFormat = VK_FORMAT_B8G8R8A8_UNORM;
  static constexpr uint32_t kImages = 3;

  EmulatedSwapchain(runtime::Device& device, VkExtent2D extent)
      : device_(device), extent_(extent), memory_(device) {
    device.table().GetDeviceQueue(device.handle(), device.queue_family(), 0, &queue_);
    for (Slot& slot : slots_) {
      slot.image = std::move(vk::CreateImage(device, memory_,
                                             {.format = kFormat,
                                              .extent = {extent.width, extent.height, 1},
                                              .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                                       VK_IMAGE_USAGE_SAMPLED_BIT}))
                       .value();
      slot.acquire = MakeSemaphore();
      slot.present = MakeSemaphore();
    }
  }
  ~EmulatedSwapchain() { device_.table().DeviceWaitIdle(device_.handle()); }
  EmulatedSwapchain(const EmulatedSwapchain&) = delete;
  EmulatedSwapchain& operator=(const EmulatedSwapchain&) = delete;

  // The next image. `waited`: something else has waited for what presented it before.
  Presentation Acquire(bool waited = false) {
    const uint32_t index = acquired_ % kImages;
    const Slot& slot = slots_[index];
    if (acquired_ >= kImages && !waited) {
      Submit(slot.present.get(), VK_NULL_HANDLE);  // what was presented in this image
    }
    ++acquired_;
    return AcquireImage(index);
  }

  // An image of which something else has waited for what presented it before.
  Presentation AcquireImage(uint32_t index) {
    const Slot& slot = slots_[index];
    Submit(VK_NULL_HANDLE, slot.acquire.get());
    Presentation out;
    out.image.name = "swapchain";
    out.image.desc = {.format = kFormat, .size = {extent_.width, extent_.height, 1}};
    out.image.image = slot.image.handle.get();
    out.acquire = slot.acquire.get();
    out.present = slot.present.get();
    out.image_index = index;
    return out;
  }

  VkSemaphore PresentSemaphore(uint32_t index) const { return slots_[index].present.get(); }

  // As the presentation engine.
  void Submit(VkSemaphore wait, VkSemaphore signal) {
    VkSemaphoreSubmitInfo waits{};
    waits.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    waits.semaphore = wait;
    waits.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    VkSemaphoreSubmitInfo signals = waits;
    signals.semaphore = signal;
    VkSubmitInfo2 submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    submit.waitSemaphoreInfoCount = wait == VK_NULL_HANDLE ? 0 : 1;
    submit.pWaitSemaphoreInfos = &waits;
    submit.signalSemaphoreInfoCount = signal == VK_NULL_HANDLE ? 0 : 1;
    submit.pSignalSemaphoreInfos = &signals;
    EXPECT_EQ(device_.table().QueueSubmit2(queue_, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
  }

 private:
  struct Slot {
    vk::Image image;
    vk::UniqueSemaphore acquire;
    vk::UniqueSemaphore present;
  };

  vk::UniqueSemaphore MakeSemaphore() {
    VkSemaphoreCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(device_.table().CreateSemaphore(device_.handle(), &info, nullptr, &semaphore),
              VK_SUCCESS);
    return vk::UniqueSemaphore(device_.table(), device_.handle(), semaphore);
  }

  runtime::Device& device_;
  VkExtent2D extent_;
  vk::Memory memory_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::array<Slot, kImages> slots_;
  uint32_t acquired_ = 0;
};

}  // namespace kiln::graph
