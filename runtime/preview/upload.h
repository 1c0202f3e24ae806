// SPDX-License-Identifier: MIT
// Bytes of the host as images and buffers of the device.
#pragma once

#include <span>
#include <vector>

#include "runtime/preview/target.h"
#include "runtime/vk/buffer.h"
#include "runtime/vk/queue.h"

namespace kiln::preview {

// Levels of a two-dimensional image, largest first, tightly packed rows from the top; each level is
// half of the one before, rounded down, at least 1.
struct ImageData {
  VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
  VkExtent2D extent = {1, 1};
  std::vector<std::vector<std::byte>> levels;
};

// Uploads, waits, and leaves the image ready to be sampled.
Result<Target> UploadImage(const runtime::Device& device, vk::Memory& memory, vk::Queue& queue,
                           const ImageData& data);

// A buffer that the host has written; for vertices, indices, uniforms and storage. Empty bytes give
// a buffer of 16 zeros, so that it can be bound.
Result<vk::Buffer> UploadBuffer(const runtime::Device& device, vk::Memory& memory,
                                std::span<const std::byte> bytes, VkBufferUsageFlags usage);

}  // namespace kiln::preview
