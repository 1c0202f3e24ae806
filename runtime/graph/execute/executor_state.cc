// SPDX-License-Identifier: MIT
#include "runtime/graph/execute/executor_state.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kiln::graph {

// The device must be done with everything before anything is destroyed. A device that is lost or
// hangs is not waited for again.
ExecutorState::~ExecutorState() {
  if (submission != nullptr && submission->value() != 0) {
    // What cannot finish cannot be waited for.
    const bool done = submission->WaitFor(submission->value(), kLongestWait).ok();
    for (size_t i = 0; done && i < slots.size(); ++i) {
      (void)ResetFence(device, slots[i]);  // the timeline may be ahead of the fence
    }
  }
  objects.retired().Collect(~uint64_t{0});
}

Result<void> ExecutorState::Start() {
  const vk::Table& table = device.table();
  KILN_TRY(Submission started, Submission::Start(device));
  submission = std::make_unique<Submission>(std::move(started));
  // Zero would leave no slot to record into.
  config.frames_in_flight = std::max(config.frames_in_flight, 1U);
  config.record_threads = std::max(config.record_threads, 1U);
  for (uint32_t slot = 0; slot < config.frames_in_flight; ++slot) {
    KILN_TRY(CommandSlot made, MakeSlot(device, config.record_threads));
    slots.push_back(std::move(made));
  }
  frame_values.assign(config.frames_in_flight, 0);
  // Labels need an extension that only debugging tools have.
  const bool labels = config.labels && table.CmdBeginDebugUtilsLabelEXT != nullptr &&
                      table.CmdEndDebugUtilsLabelEXT != nullptr;
  recording = std::make_unique<FrameRecording>(device, objects, config.record_threads, labels);
  return {};
}

// The slot may be used again when its last frame is done. Its times are read before the queries are
// recorded anew.
Result<void> ExecutorState::Reuse(CommandSlot& slot, uint64_t last_value) {
  KILN_TRY_VOID(submission->WaitFor(last_value, kLongestWait));
  KILN_TRY_VOID(ResetFence(device, slot));
  slot.marks.ReadTimes(device, pass_times);
  return ResetLanes(device, slot);
}

// Adds the pass that finished last to a lost device; the latest frame that knows one decides.
Error ExecutorState::Explain(Error error) const {
  // From the latest frame backwards.
  for (size_t age = 0; error.reason == "DEVICE_LOST" && age < slots.size(); ++age) {
    const CommandSlot& slot = slots[(frame + slots.size() - age) % slots.size()];
    if (const std::optional<std::string> last = slot.marks.LastFinished()) {
      error.context += "; " + *last;
      break;
    }
  }
  return error;
}

// Host memory only grows, in all slots at once, so that a frame that fits once always does. Frames
// in flight keep what they have.
Result<void> ExecutorState::GrowRings(const Plan& plan) {
  constexpr VkBufferUsageFlags kUsages =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
      VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
      VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
      VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  const auto grow = [&](vk::Buffer& buffer, uint64_t bytes, vk::MemoryUse use) -> Result<void> {
    // An old buffer may still be used by frames in flight, so it is retired and not destroyed.
    if (bytes > buffer.size) {
      KILN_TRY(vk::Buffer grown, vk::CreateBuffer(device, objects.memory(), bytes, kUsages, use));
      objects.retired().Add(frame, std::exchange(buffer, std::move(grown)));
    }
    return {};
  };
  for (CommandSlot& slot : slots) {
    KILN_TRY_VOID(grow(slot.ring.upload, plan.metrics.upload_bytes, vk::MemoryUse::kUpload));
    KILN_TRY_VOID(grow(slot.ring.readback, plan.metrics.readback_bytes, vk::MemoryUse::kReadback));
  }
  return {};
}

// Immediate mode: a crash names its pass, and a missing barrier does no harm.
Result<void> ExecutorState::RunImmediately(const Plan& plan, const Graph& graph,
                                           CommandSlot& slot) {
  const auto run = [&](const Batch& batch, uint32_t position,
                       VkCommandBuffer commands) -> Result<void> {
    const Declarations& rows = graph.rows();
    const Result<void> done = submission->RunOne(plan, rows, batch, position, commands, slot);
    if (!done.ok()) {
      Error error = done.error();
      error.context += fmt::format(" (pass '{}')", rows.PassName(plan.PassAt(position)));
      return error;
    }
    slot.marks.Submitted();
    return {};
  };
  return recording->RecordEach(plan, graph, slot, run);
}

// The number of the frame and the carried state change only after the submission, so a frame that
// fails leaves them as they were, and the next one goes on from there.
Result<FrameTicket> ExecutorState::Run(const Plan& plan, const Graph& graph) {
  const Declarations& rows = graph.rows();
  const uint64_t next = frame + 1;
  // Slots are taken in turn; the one that comes now was used `slots.size()` frames ago.
  const size_t index = next % slots.size();
  CommandSlot& slot = slots[index];
  // Checks that need no device come before those that wait for it.
  KILN_TRY_VOID(submission->CheckSignals(plan, rows));
  KILN_TRY_VOID(Reuse(slot, frame_values[index]));
  KILN_TRY_VOID(GrowRings(plan));
  KILN_TRY_VOID(slot.marks.Prepare(device, objects.memory(), plan, rows, config));
  BindObjects(plan, carried, object_numbers);
  KILN_TRY_VOID(objects.Prepare(plan, rows, object_numbers, next));
  // Host passes fill what the device reads, so they run before anything is submitted.
  KILN_TRY_VOID(recording->RunHostPasses(plan, graph, slot));
  if (config.immediate) {
    KILN_TRY_VOID(RunImmediately(plan, graph, slot));
  } else {
    KILN_TRY_VOID(recording->Record(plan, graph, slot, slots));
    KILN_TRY_VOID(submission->Submit(plan, rows, recording->cuts(), slot));
  }
  // Marks are read only for what was submitted.
  slot.marks.Submitted();
  const Result<PresentStatus> present = submission->Present(rows);
  // From here on the frame counts, even if it could not be presented.
  frame = next;
  frame_values[index] = submission->value();
  last_slot = index;
  Remember(plan, rows);
  if (!present.ok()) {
    return present.error();  // what was submitted is carried on all the same
  }
  return FrameTicket{.value = submission->value(), .present = *present};
}

// What the frames after a submitted one need to know of it.
void ExecutorState::Remember(const Plan& plan, const Declarations& rows) {
  ring_offsets.resize(plan.chains.size());
  for (size_t chain = 0; chain < plan.chains.size(); ++chain) {
    ring_offsets[chain] = plan.chains[chain].offset;
  }
  submission->RememberSignals(plan, rows);
  Commit(plan, rows.frame, object_numbers, carried);
  const uint64_t in_flight = slots.size();
  // A frame number is completed as soon as its slot may be used again.
  objects.Collect(frame, frame > in_flight ? frame - in_flight : 0);
  metrics.committed_bytes = objects.committed;
  metrics.images_created = objects.created;
  metrics.images_destroyed = objects.destroyed;
  metrics.batches = static_cast<uint32_t>(plan.batches.size());
  metrics.barriers = recording->barriers();
  metrics.command_buffers = 0;
  for (const CommandLane& lane : slots[last_slot].lanes) {
    metrics.command_buffers += static_cast<uint32_t>(lane.used);
  }
}

}  // namespace kiln::graph
