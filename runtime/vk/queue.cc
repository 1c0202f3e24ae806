// SPDX-License-Identifier: MIT
// A queue for uploads and previews, with its own command buffers. Used by one thread at a time. Its
// timeline counts submissions from 1, so 0 means that nothing was submitted.
#include "runtime/vk/queue.h"

#include <fmt/format.h>

namespace kiln::vk {

// Each object is owned as soon as it is made, so a failure in the middle leaves nothing behind.
Result<Queue> Queue::Create(const runtime::Device& device) {
  const Table& table = device.table();
  Queue out(device);
  table.GetDeviceQueue(device.handle(), device.queue_family(), 0, &out.handle_);

  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  // Command buffers are reset one by one, since they finish one by one.
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool_info.queueFamilyIndex = device.queue_family();
  VkCommandPool pool = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateCommandPool(device.handle(), &pool_info, nullptr, &pool),
              "create a command pool");
  out.pool_ = UniqueCommandPool(table, device.handle(), pool);

  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphore_info{};
  semaphore_info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  semaphore_info.pNext = &type;
  VkSemaphore timeline = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateSemaphore(device.handle(), &semaphore_info, nullptr, &timeline),
              "create a timeline");
  out.timeline_ = UniqueSemaphore(table, device.handle(), timeline);
  return out;
}

// Command buffers must not be freed while the device works on them.
Queue::~Queue() {
  if (timeline_ && submitted_ != 0) {
    (void)Wait(submitted_);  // what cannot finish cannot be waited for either
  }
}

// The oldest command buffer is used again if the device is done with it. So there are as many as
// were ever in flight at once.
Result<VkCommandBuffer> Queue::Begin() {
  const Table& table = device_->table();
  VkCommandBuffer commands = VK_NULL_HANDLE;
  KILN_TRY(const uint64_t completed, Completed());
  if (!in_flight_.empty() && in_flight_.front().first <= completed) {
    commands = in_flight_.front().second;
    in_flight_.pop_front();
    KILN_TRY_VK(table.ResetCommandBuffer(commands, 0), "reset a command buffer");
  } else {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_.get();
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    KILN_TRY_VK(table.AllocateCommandBuffers(device_->handle(), &info, &commands),
                "allocate a command buffer");
  }
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  KILN_TRY_VK(table.BeginCommandBuffer(commands, &begin), "begin a command buffer");
  return commands;
}

// The timeline counts submissions, and one number tells about all of those before it.
Result<uint64_t> Queue::Submit(VkCommandBuffer commands) {
  const Table& table = device_->table();
  KILN_TRY_VK(table.EndCommandBuffer(commands), "end a command buffer");
  VkCommandBufferSubmitInfo buffer{};
  buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  buffer.commandBuffer = commands;
  VkSemaphoreSubmitInfo signal{};
  signal.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  signal.semaphore = timeline_.get();
  signal.value = submitted_ + 1;
  // The signal waits for everything that was submitted, so the number says that all of it is done.
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &buffer;
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  KILN_TRY_VK(table.QueueSubmit2(handle_, 1, &info, VK_NULL_HANDLE), "submit commands");
  // Numbers ascend, so the front is always the oldest.
  in_flight_.emplace_back(++submitted_, commands);
  return submitted_;
}

// The device may never finish, so every wait has an end.
Result<void> Queue::Wait(uint64_t value, std::chrono::nanoseconds timeout) {
  const VkSemaphore timeline = timeline_.get();
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline;
  info.pValues = &value;
  const VkResult result = device_->table().WaitSemaphores(device_->handle(), &info,
                                                          static_cast<uint64_t>(timeout.count()));
  if (result == VK_TIMEOUT) {
    return Error{ErrorCode::kDeadlineExceeded,
                 fmt::format("the device has not finished submission {}", value), ""};
  }
  KILN_TRY_VK(result, "wait for the device");
  return {};
}

// Never waits. The value is that of the last submission that has finished, and it only grows.
Result<uint64_t> Queue::Completed() const {
  uint64_t value = 0;
  KILN_TRY_VK(device_->table().GetSemaphoreCounterValue(device_->handle(), timeline_.get(), &value),
              "read the timeline");
  return value;
}

}  // namespace kiln::vk
