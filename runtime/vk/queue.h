// SPDX-License-Identifier: MIT
// The queue of a device with its command buffers and one timeline: every submission gets the next
// value, and what was submitted is done when the timeline has reached it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>

#include "runtime/vk/device.h"
#include "runtime/vk/unique.h"

namespace kiln::vk {

// One thread at a time. The device outlives it; destruction waits for what was submitted.
class Queue {
 public:
  static Result<Queue> Create(const runtime::Device& device);

  Queue(Queue&&) noexcept = default;
  Queue& operator=(Queue&&) = delete;
  ~Queue();

  // A command buffer in recording state, to be given to Submit.
  Result<VkCommandBuffer> Begin();

  // Ends and submits it; returns its timeline value.
  Result<uint64_t> Submit(VkCommandBuffer commands);

  // Errors: kDeadlineExceeded, DEVICE_LOST.
  Result<void> Wait(uint64_t value, std::chrono::nanoseconds timeout = std::chrono::seconds(60));

  // The value that the device has reached, and the last one that was submitted.
  Result<uint64_t> Completed() const;
  uint64_t submitted() const { return submitted_; }

 private:
  explicit Queue(const runtime::Device& device) : device_(&device) {}

  const runtime::Device* device_;
  VkQueue handle_ = VK_NULL_HANDLE;
  UniqueCommandPool pool_;
  UniqueSemaphore timeline_;
  uint64_t submitted_ = 0;
  std::deque<std::pair<uint64_t, VkCommandBuffer>> in_flight_;  // ascending
};

}  // namespace kiln::vk
