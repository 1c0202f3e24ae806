// SPDX-License-Identifier: MIT
// One timeline semaphore counts what the graph has submitted; its value is the ticket of a frame.
// Whoever waits for a frame waits for a value, and a value that is reached tells about all frames
// before it. Binary and other semaphores are those of the caller, and are passed through with the
// stages that the plan gives them (spec/graph 4.7).
#include "runtime/graph/execute/submission.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/synchronization.h"

namespace kiln::graph {

// One queue of one family: planning orders everything on it, so no ownership is ever transferred.
Result<Submission> Submission::Start(runtime::Device& device) {
  const vk::Table& table = device.table();
  VkQueue queue = VK_NULL_HANDLE;
  table.GetDeviceQueue(device.handle(), device.queue_family(), 0, &queue);
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateSemaphore(device.handle(), &info, nullptr, &semaphore),
              "create the timeline of a graph");
  return Submission(device, queue, vk::UniqueSemaphore(table, device.handle(), semaphore));
}

// Values of a timeline grow from frame to frame.
// Asked before anything waits or records: Vulkan forbids a value that does not grow.
Result<void> Submission::CheckSignals(const Plan& plan, const Declarations& rows) const {
  for (const uint32_t use : plan.signals) {
    const SemaphoreRow& row = rows.semaphore_uses[use];
    for (const Signal& before : signalled_) {
      if (row.value != 0 && before.semaphore == rows.semaphores[row.semaphore] &&
          row.value <= before.value) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("SEMAPHORE_VALUE: pass '{}' signals {} after {}",
                                 rows.PassName(row.pass), row.value, before.value),
                     "SEMAPHORE_VALUE"};
      }
    }
  }
  return {};
}

// After a submission that went well, so a frame that failed may use its values again. A handful of
// semaphores are searched one by one.
void Submission::RememberSignals(const Plan& plan, const Declarations& rows) {
  for (const uint32_t use : plan.signals) {
    const SemaphoreRow& row = rows.semaphore_uses[use];
    if (row.value == 0) {
      continue;
    }
    const VkSemaphore semaphore = rows.semaphores[row.semaphore];
    const auto known =
        std::find_if(signalled_.begin(), signalled_.end(),
                     [&](const Signal& before) { return before.semaphore == semaphore; });
    if (known == signalled_.end()) {
      signalled_.push_back({semaphore, row.value});
    } else {
      known->value = std::max(known->value, row.value);
    }
  }
}

// The waits or the signals of a batch.
// Added to lists for the whole frame; the submits point into them.
void Submission::AddUses(const Plan& plan, const Declarations& rows, const Batch& batch,
                         Uses uses) {
  const bool wait = uses == Uses::kWaits;
  const uint32_t first = wait ? batch.first_wait : batch.first_signal;
  const uint32_t count = wait ? batch.waits : batch.signals;
  for (uint32_t i = first; i < first + count; ++i) {
    const SemaphoreRow& row = rows.semaphore_uses[wait ? plan.waits[i] : plan.signals[i]];
    VkSemaphoreSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    info.semaphore = rows.semaphores[row.semaphore];
    info.value = row.value;
    info.stageMask = CombinedStages(row.stages);
    (wait ? waits_ : signals_).push_back(info);
  }
}

// The timeline of the graph counts frames, or passes in immediate mode. It is signalled behind all
// commands.
VkSemaphoreSubmitInfo Submission::NextValue() const {
  VkSemaphoreSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  info.semaphore = timeline_.get();
  info.value = value_ + 1;
  info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  return info;
}

// All batches go to the queue in one call, because each call costs some microseconds.
Result<void> Submission::Submit(const Plan& plan, const Declarations& rows,
                                std::span<const Cut> cuts, CommandSlot& slot) {
  // Lists keep their memory from frame to frame.
  submits_.clear();
  commands_.clear();
  waits_.clear();
  signals_.clear();
  // A frame without commands is submitted all the same, so that its ticket is reached.
  const size_t count = std::max<size_t>(plan.batches.size(), 1);
  // Reserved before the loop. The submits hold pointers into these arrays, which must not move.
  commands_.reserve(std::max<size_t>(cuts.size(), 1));
  waits_.reserve(plan.waits.size());
  signals_.reserve(plan.signals.size() + 1);
  size_t cut = 0;
  for (size_t i = 0; i < count; ++i) {
    VkSubmitInfo2 submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    submit.pWaitSemaphoreInfos = waits_.data() + waits_.size();
    submit.pSignalSemaphoreInfos = signals_.data() + signals_.size();
    submit.pCommandBufferInfos = commands_.data() + commands_.size();
    if (i < plan.batches.size()) {
      const Batch& batch = plan.batches[i];
      AddUses(plan, rows, batch, Uses::kWaits);
      AddUses(plan, rows, batch, Uses::kSignals);
      for (; cut < cuts.size() && cuts[cut].batch == i; ++cut) {
        VkCommandBufferSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
        info.commandBuffer = cuts[cut].commands;
        commands_.push_back(info);
        ++submit.commandBufferInfoCount;
      }
      submit.waitSemaphoreInfoCount = batch.waits;
      submit.signalSemaphoreInfoCount = batch.signals;
    }
    if (i + 1 == count) {
      signals_.push_back(NextValue());
      ++submit.signalSemaphoreInfoCount;
    }
    submits_.push_back(submit);
  }
  // The fence is for the slot: its command pools may be reset when it is signalled.
  KILN_TRY_VK(device_->table().QueueSubmit2(queue_, static_cast<uint32_t>(submits_.size()),
                                            submits_.data(), slot.fence.get()),
              "submit a frame");
  slot.pending = true;
  ++value_;
  return {};
}

// Immediate mode: a pass is submitted alone and waited for, so that a device that is lost is lost
// in a known pass.
Result<void> Submission::RunOne(const Plan& plan, const Declarations& rows, const Batch& batch,
                                uint32_t position, VkCommandBuffer commands, CommandSlot& slot) {
  waits_.clear();
  signals_.clear();
  if (position == batch.first) {
    AddUses(plan, rows, batch, Uses::kWaits);
  }
  if (position == batch.last) {
    AddUses(plan, rows, batch, Uses::kSignals);
  }
  KILN_TRY_VOID(SubmitOne(slot, commands));
  KILN_TRY_VOID(WaitFor(++value_, kLongestWait));
  return ResetFence(*device_, slot);
}

// Requires: the waits and signals of the pass are in the lists.
Result<void> Submission::SubmitOne(CommandSlot& slot, VkCommandBuffer buffer) {
  signals_.push_back(NextValue());
  VkCommandBufferSubmitInfo command{};
  command.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  command.commandBuffer = buffer;
  VkSubmitInfo2 submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  submit.waitSemaphoreInfoCount = static_cast<uint32_t>(waits_.size());
  submit.pWaitSemaphoreInfos = waits_.data();
  submit.commandBufferInfoCount = 1;
  submit.pCommandBufferInfos = &command;
  submit.signalSemaphoreInfoCount = static_cast<uint32_t>(signals_.size());
  submit.pSignalSemaphoreInfos = signals_.data();
  KILN_TRY_VK(device_->table().QueueSubmit2(queue_, 1, &submit, slot.fence.get()), "submit a pass");
  slot.pending = true;
  return {};
}

// After the submission, because presenting waits for a semaphore that must be on its way.
Result<PresentStatus> Submission::Present(const Declarations& rows) const {
  PresentStatus status = PresentStatus::kNone;
  for (const PresentRow& present : rows.presents) {
    // Without a swapchain, as in tests, the image is left in the layout of presentation.
    if (present.swapchain == VK_NULL_HANDLE || device_->table().QueuePresentKHR == nullptr) {
      status = PresentStatus::kPresented;
      continue;
    }
    VkPresentInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR;
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = &present.present;
    info.swapchainCount = 1;
    info.pSwapchains = &present.swapchain;
    info.pImageIndices = &present.image_index;
    const VkResult result = device_->table().QueuePresentKHR(queue_, &info);
    // A swapchain that is out of date is an answer and no failure: the caller makes a new one.
    if (result != VK_SUCCESS && result != VK_SUBOPTIMAL_KHR && result != VK_ERROR_OUT_OF_DATE_KHR) {
      return vk::VulkanError(result, "present a frame");
    }
    status = result == VK_SUCCESS          ? PresentStatus::kPresented
             : result == VK_SUBOPTIMAL_KHR ? PresentStatus::kSuboptimal
                                           : PresentStatus::kOutOfDate;
  }
  return status;
}

// Never waits, and a lost device has reached nothing.
bool Submission::HasReached(uint64_t value) const {
  uint64_t reached = 0;
  const VkResult result =
      device_->table().GetSemaphoreCounterValue(device_->handle(), timeline_.get(), &reached);
  return result == VK_SUCCESS && reached >= value;
}

// In steps of the caller's patience; a timeout is an error with a name, so that a hang is told
// apart from a lost device.
Result<void> Submission::WaitFor(uint64_t wanted, std::chrono::nanoseconds timeout) const {
  const VkSemaphore semaphore = timeline_.get();
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &wanted;
  const VkResult result = device_->table().WaitSemaphores(device_->handle(), &info,
                                                          static_cast<uint64_t>(timeout.count()));
  if (result == VK_TIMEOUT) {
    return Error{ErrorCode::kDeadlineExceeded,
                 fmt::format("a frame did not finish within {} ms", timeout.count() / 1'000'000),
                 "DEADLINE"};
  }
  KILN_TRY_VK(result, "wait for a frame");
  return {};
}

}  // namespace kiln::graph
