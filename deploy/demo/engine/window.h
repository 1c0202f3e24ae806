// SPDX-License-Identifier: MIT
// A window that nobody looks at: images and semaphores that behave as those of a swapchain, so that
// the frame presents as it would on a screen.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/vk/image.h"

namespace kiln::demo {

// The device outlives it. Destruction waits for the device.
class Window {
 public:
  static constexpr VkFormat kFormat = VK_FORMAT_B8G8R8A8_UNORM;

  static Result<Window> Create(runtime::Device& device, VkExtent2D extent);
  Window(Window&&) = default;
  Window& operator=(Window&&) = delete;
  ~Window();

  // The next image, with the semaphore that its acquisition signals and the one that presenting it
  // waits for. Requires: what was acquired before was presented.
  Result<graph::Presentation> Acquire();

 private:
  struct Slot {
    vk::Image image;
    vk::UniqueSemaphore acquire;
    vk::UniqueSemaphore present;
  };

  Window(runtime::Device& device, VkExtent2D extent)
      : device_(&device), extent_(extent), memory_(std::make_unique<vk::Memory>(device)) {}
  Result<vk::UniqueSemaphore> MakeSemaphore() const;
  Result<void> Submit(VkSemaphore wait, VkSemaphore signal) const;

  runtime::Device* device_;
  VkExtent2D extent_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::unique_ptr<vk::Memory> memory_;
  std::vector<Slot> slots_;
  uint64_t acquired_ = 0;
};

}  // namespace kiln::demo
