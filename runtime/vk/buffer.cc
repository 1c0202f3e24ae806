// SPDX-License-Identifier: MIT
#include "runtime/vk/buffer.h"

#include <fmt/format.h>

namespace kiln::vk {

Result<Buffer> CreateBuffer(const runtime::Device& device, Memory& memory, VkDeviceSize size,
                            VkBufferUsageFlags usage, MemoryUse use) {
  const Table& table = device.table();
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = size;
  info.usage = usage;
  // One queue family is used, so nothing is shared between families.
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkBuffer handle = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateBuffer(device.handle(), &info, nullptr, &handle),
              fmt::format("create a buffer of {} bytes", size));
  Buffer buffer;
  buffer.handle = UniqueBuffer(table, device.handle(), handle);
  buffer.size = size;
  VkMemoryRequirements needs{};
  // What a buffer needs is asked of the driver after it was created; its size may be larger than
  // `size`.
  table.GetBufferMemoryRequirements(device.handle(), handle, &needs);
  KILN_TRY(buffer.allocation, memory.Allocate(needs, use, MemoryKind::kBuffer));
  KILN_TRY_VK(table.BindBufferMemory(device.handle(), handle, buffer.allocation.memory(),
                                     buffer.allocation.offset()),
              "bind memory to a buffer");
  return buffer;
}

Result<UniqueBufferView> CreateTexelView(const runtime::Device& device, const Buffer& buffer,
                                         VkFormat format, VkDeviceSize bytes) {
  VkBufferViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO;
  info.buffer = buffer.handle.get();
  info.format = format;
  info.range = bytes;
  VkBufferView handle = VK_NULL_HANDLE;
  KILN_TRY_VK(device.table().CreateBufferView(device.handle(), &info, nullptr, &handle),
              "create a view of a buffer");
  return UniqueBufferView(device.table(), device.handle(), handle);
}

}  // namespace kiln::vk
