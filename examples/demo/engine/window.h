// SPDX-License-Identifier: MIT
// Where frames are presented: a window on a screen (x_window), or one that nobody looks at, whose
// images and semaphores behave as those of a swapchain.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/graph/execute.h"
#include "runtime/graph/graph.h"
#include "runtime/vk/image.h"

namespace kiln::demo {

class Window {
 public:
  virtual ~Window() = default;

  // The next image, with the semaphore that its acquisition signals and the one that presenting it
  // waits for. Requires: what was acquired before was presented.
  virtual Result<graph::Presentation> Acquire() = 0;
  // What became of it.
  virtual Result<void> Presented(graph::PresentStatus status) = 0;
};

// The device outlives it. Destruction waits for the device.
class HiddenWindow final : public Window {
 public:
  static constexpr VkFormat kFormat = VK_FORMAT_B8G8R8A8_UNORM;

  static Result<std::unique_ptr<Window>> Create(runtime::Device& device, VkExtent2D extent);
  ~HiddenWindow() override;

  Result<graph::Presentation> Acquire() override;
  Result<void> Presented(graph::PresentStatus /*status*/) override { return {}; }

 private:
  struct Slot {
    vk::Image image;
    vk::UniqueSemaphore acquire;
    vk::UniqueSemaphore present;
  };

  HiddenWindow(runtime::Device& device, VkExtent2D extent)
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
