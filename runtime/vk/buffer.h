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

}  // namespace kiln::vk
