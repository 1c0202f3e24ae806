// SPDX-License-Identifier: MIT
// A buffer with its memory.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/vk/memory.h"

namespace kiln::vk {

struct Buffer {
  Allocation allocation;  // outlives the handle
  UniqueBuffer handle;
  VkDeviceSize size = 0;

  // Requires: made for kUpload or kReadback.
  std::span<std::byte> mapped() const {
    return allocation.mapped().first(static_cast<size_t>(size));
  }
};

// Requires: size > 0.
Result<Buffer> CreateBuffer(const runtime::Device& device, Memory& memory, VkDeviceSize size,
                            VkBufferUsageFlags usage, MemoryUse use);

// The first `bytes` of a buffer as texels. Requires: the buffer was made for texels and outlives
// the view; `bytes` are whole texels, or VK_WHOLE_SIZE.
Result<UniqueBufferView> CreateTexelView(const runtime::Device& device, const Buffer& buffer,
                                         VkFormat format, VkDeviceSize bytes);

}  // namespace kiln::vk
