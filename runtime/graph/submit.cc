// SPDX-License-Identifier: MIT
// ExecutorState: submission and presentation. See spec/graph 6.11, 8.4, 8.5
#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/execute_state.h"
#include "runtime/graph/synchronization.h"

namespace kiln::graph {

// Values of a timeline grow from frame to frame.
Result<void> ExecutorState::CheckSignals(const Plan& plan, const Declarations& rows) const {
  for (const uint32_t use : plan.signals) {
    const SemaphoreRow& row = rows.semaphore_uses[use];
    for (const SemaphoreSignal& before : signalled) {
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

void ExecutorState::RememberSignals(const Plan& plan, const Declarations& rows) {
  for (const uint32_t use : plan.signals) {
    const SemaphoreRow& row = rows.semaphore_uses[use];
    if (row.value == 0) {
      continue;
    }
    const VkSemaphore semaphore = rows.semaphores[row.semaphore];
    const auto known =
        std::find_if(signalled.begin(), signalled.end(),
                     [&](const SemaphoreSignal& before) { return before.semaphore == semaphore; });
    if (known == signalled.end()) {
      signalled.push_back({semaphore, row.value});
    } else {
      known->value = std::max(known->value, row.value);
    }
  }
}

// The waits or the signals of a batch.
void ExecutorState::AddUses(const Plan& plan, const Declarations& rows, const Batch& batch,
                            bool wait) {
  const uint32_t first = wait ? batch.first_wait : batch.first_signal;
  const uint32_t count = wait ? batch.waits : batch.signals;
  for (uint32_t i = first; i < first + count; ++i) {
    const SemaphoreRow& row = rows.semaphore_uses[wait ? plan.waits[i] : plan.signals[i]];
    VkSemaphoreSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    info.semaphore = rows.semaphores[row.semaphore];
    info.value = row.value;
    info.stageMask = CombinedStages(row.stages);
    (wait ? waits : signals).push_back(info);
  }
}

Result<void> ExecutorState::Submit(const Plan& plan, const Declarations& rows, CommandSlot& slot) {
  submits.clear();
  commands.clear();
  waits.clear();
  signals.clear();
  const size_t count = std::max<size_t>(plan.batches.size(), 1);
  commands.reserve(std::max<size_t>(cuts.size(), 1));
  waits.reserve(plan.waits.size());
  signals.reserve(plan.signals.size() + 1);
  size_t cut = 0;
  for (size_t i = 0; i < count; ++i) {
    VkSubmitInfo2 submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    submit.pWaitSemaphoreInfos = waits.data() + waits.size();
    submit.pSignalSemaphoreInfos = signals.data() + signals.size();
    submit.pCommandBufferInfos = commands.data() + commands.size();
    if (i < plan.batches.size()) {
      const Batch& batch = plan.batches[i];
      AddUses(plan, rows, batch, true);
      AddUses(plan, rows, batch, false);
      for (; cut < cuts.size() && cuts[cut].batch == i; ++cut) {
        VkCommandBufferSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
        info.commandBuffer = cuts[cut].commands;
        commands.push_back(info);
        ++submit.commandBufferInfoCount;
      }
      submit.waitSemaphoreInfoCount = batch.waits;
      submit.signalSemaphoreInfoCount = batch.signals;
    }
    if (i + 1 == count) {
      VkSemaphoreSubmitInfo info{};
      info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
      info.semaphore = timeline.get();
      info.value = value + 1;
      info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
      signals.push_back(info);
      ++submit.signalSemaphoreInfoCount;
    }
    submits.push_back(submit);
  }
  KILN_TRY_VK(device.table().QueueSubmit2(queue, static_cast<uint32_t>(submits.size()),
                                          submits.data(), slot.fence.get()),
              "submit a frame");
  slot.pending = true;
  ++value;
  return {};
}

// Immediate mode: a crash names its pass, and a missing barrier does no harm.
Result<void> ExecutorState::RunImmediately(const Plan& plan, const Graph& graph,
                                           CommandSlot& slot) {
  const Declarations& rows = graph.rows();
  FrameRecorder recorder(device, objects, slot.ring, plan, graph, scratch.front(), config.labels);
  pass_costs.resize(plan.positions.size(), 0);
  for (uint32_t index = 0; index < plan.batches.size(); ++index) {
    const Batch& batch = plan.batches[index];
    for (uint32_t position = batch.first; position <= batch.last; ++position) {
      Cut cut{.batch = index, .first = position, .last = position};
      KILN_TRY_VOID(RecordCut(recorder, plan, slot, cut));
      if (!recorder.errors().empty()) {
        return recorder.errors().front();
      }
      waits.clear();
      signals.clear();
      if (position == batch.first) {
        AddUses(plan, rows, batch, true);
      }
      if (position == batch.last) {
        AddUses(plan, rows, batch, false);
      }
      const Result<void> done = RunOne(slot, cut.commands);
      if (!done.ok()) {
        Error error = done.error();
        error.context += fmt::format(" (pass '{}')", rows.PassName(plan.PassAt(position)));
        return error;
      }
      slot.marks.Submitted();
    }
  }
  metrics.barriers = recorder.barriers;
  return {};
}

Result<void> ExecutorState::RunOne(CommandSlot& slot, VkCommandBuffer buffer) {
  KILN_TRY_VOID(SubmitOne(slot, buffer, value + 1));
  KILN_TRY_VOID(WaitFor(++value, kLongestWait));
  return Recycle(slot);
}

Result<void> ExecutorState::SubmitOne(CommandSlot& slot, VkCommandBuffer buffer, uint64_t signal) {
  VkSemaphoreSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  info.semaphore = timeline.get();
  info.value = signal;
  info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  signals.push_back(info);
  VkCommandBufferSubmitInfo command{};
  command.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  command.commandBuffer = buffer;
  VkSubmitInfo2 submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  submit.waitSemaphoreInfoCount = static_cast<uint32_t>(waits.size());
  submit.pWaitSemaphoreInfos = waits.data();
  submit.commandBufferInfoCount = 1;
  submit.pCommandBufferInfos = &command;
  submit.signalSemaphoreInfoCount = static_cast<uint32_t>(signals.size());
  submit.pSignalSemaphoreInfos = signals.data();
  KILN_TRY_VK(device.table().QueueSubmit2(queue, 1, &submit, slot.fence.get()), "submit a pass");
  slot.pending = true;
  return {};
}

// Presentations without a swapchain are those of tests: the semaphore is all they get.
Result<PresentStatus> ExecutorState::PresentImages(const Declarations& rows) const {
  PresentStatus status = PresentStatus::kNone;
  for (const PresentRow& present : rows.presents) {
    if (present.swapchain == VK_NULL_HANDLE || device.table().QueuePresentKHR == nullptr) {
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
    const VkResult result = device.table().QueuePresentKHR(queue, &info);
    if (result != VK_SUCCESS && result != VK_SUBOPTIMAL_KHR && result != VK_ERROR_OUT_OF_DATE_KHR) {
      return vk::VulkanError(result, "present a frame");
    }
    status = result == VK_SUCCESS          ? PresentStatus::kPresented
             : result == VK_SUBOPTIMAL_KHR ? PresentStatus::kSuboptimal
                                           : PresentStatus::kOutOfDate;
  }
  return status;
}

}  // namespace kiln::graph
