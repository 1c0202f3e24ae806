// SPDX-License-Identifier: MIT
// What one frame in flight has for its commands: pools, buffers and a fence, all used again when
// the frame is done. Threads record into lanes of their own, so nothing here is locked.
#include "runtime/graph/execute/command_slot.h"

namespace kiln::graph {

// A pool for each thread, because a pool may be used by one thread at a time, and for each frame in
// flight, because it is reset as a whole.
Result<CommandSlot> MakeSlot(const runtime::Device& device, uint32_t lanes) {
  const vk::Table& table = device.table();
  CommandSlot slot;
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  // Buffers live for a frame.
  info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  info.queueFamilyIndex = device.queue_family();
  slot.lanes.resize(lanes);
  for (CommandLane& lane : slot.lanes) {
    VkCommandPool pool = VK_NULL_HANDLE;
    KILN_TRY_VK(table.CreateCommandPool(device.handle(), &info, nullptr, &pool),
                "create a command pool of a graph");
    lane.pool = vk::UniqueCommandPool(table, device.handle(), pool);
  }
  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateFence(device.handle(), &fence_info, nullptr, &fence),
              "create a fence of a graph");
  slot.fence = vk::UniqueFence(table, device.handle(), fence);
  return slot;
}

// One at a time: how many a frame needs shows while it is recorded.
Result<void> AddBuffer(const runtime::Device& device, CommandLane& lane) {
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = lane.pool.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer made = VK_NULL_HANDLE;
  KILN_TRY_VK(device.table().AllocateCommandBuffers(device.handle(), &info, &made),
              "allocate a command buffer of a graph");
  lane.buffers.push_back(made);
  return {};
}

// Buffers are used again after the pool was reset, so a steady frame allocates none.
Result<VkCommandBuffer> BeginBuffer(const runtime::Device& device, CommandLane& lane) {
  if (lane.used == lane.buffers.size()) {
    KILN_TRY_VOID(AddBuffer(device, lane));
  }
  const VkCommandBuffer buffer = lane.buffers[lane.used++];
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  KILN_TRY_VK(device.table().BeginCommandBuffer(buffer, &begin),
              "begin a command buffer of a graph");
  return buffer;
}

// The fence must be signalled before it can be reset, and the timeline may be ahead of it.
Result<void> ResetFence(const runtime::Device& device, CommandSlot& slot) {
  const VkFence fence = slot.fence.get();
  if (slot.pending) {
    KILN_TRY_VK(device.table().WaitForFences(device.handle(), 1, &fence, VK_TRUE, ~uint64_t{0}),
                "wait for a frame's fence");
    KILN_TRY_VK(device.table().ResetFences(device.handle(), 1, &fence), "reset a frame's fence");
    slot.pending = false;
  }
  return {};
}

// Requires: the fence was waited for; buffers of a pool that is reset must not be in use.
Result<void> ResetLanes(const runtime::Device& device, CommandSlot& slot) {
  for (CommandLane& lane : slot.lanes) {
    KILN_TRY_VK(device.table().ResetCommandPool(device.handle(), lane.pool.get(), 0),
                "reset a command pool of a graph");
    lane.used = 0;
  }
  return {};
}

}  // namespace kiln::graph
