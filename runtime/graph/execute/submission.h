// SPDX-License-Identifier: MIT
// The queue of an executor and its timeline: batches are submitted and waited for, semaphores of
// the outside are waited for and signalled, images are presented. See spec/graph 6.11, 8.4, 8.5
// Private to runtime/graph.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/execute/command_slot.h"
#include "runtime/graph/execute/frame_recording.h"

namespace kiln::graph {

inline constexpr std::chrono::seconds kLongestWait{60};

class Submission {
 public:
  static Result<Submission> Start(runtime::Device& device);

  // Whether the frame signals values that are new: those of a timeline grow from frame to frame.
  Result<void> CheckSignals(const Plan& plan, const Declarations& rows) const;
  void RememberSignals(const Plan& plan, const Declarations& rows);

  // All batches at once; the last one signals the next value of the timeline.
  Result<void> Submit(const Plan& plan, const Declarations& rows, std::span<const Cut> cuts,
                      CommandSlot& slot);
  // One position of a batch, and waits for it.
  Result<void> RunOne(const Plan& plan, const Declarations& rows, const Batch& batch,
                      uint32_t position, VkCommandBuffer commands, CommandSlot& slot);
  // Presentations without a swapchain are those of tests: the semaphore is all they get.
  Result<PresentStatus> Present(const Declarations& rows) const;

  // Of the timeline, submitted last; frames in immediate mode use several.
  uint64_t value() const { return value_; }
  bool HasReached(uint64_t value) const;
  // Errors: kDeadlineExceeded.
  Result<void> WaitFor(uint64_t value, std::chrono::nanoseconds timeout) const;

 private:
  struct Signal {
    VkSemaphore semaphore;
    uint64_t value;
  };
  enum class Uses : uint8_t { kWaits, kSignals };

  Submission(runtime::Device& device, VkQueue queue, vk::UniqueSemaphore timeline)
      : device_(&device), queue_(queue), timeline_(std::move(timeline)) {}
  void AddUses(const Plan& plan, const Declarations& rows, const Batch& batch, Uses uses);
  VkSemaphoreSubmitInfo NextValue() const;
  Result<void> SubmitOne(CommandSlot& slot, VkCommandBuffer buffer);

  runtime::Device* device_;
  VkQueue queue_;
  vk::UniqueSemaphore timeline_;
  uint64_t value_ = 0;
  std::vector<Signal> signalled_;  // by semaphore of the outside: its last value
  // Of the submission in progress; kept for their memory.
  std::vector<VkSubmitInfo2> submits_;
  std::vector<VkCommandBufferSubmitInfo> commands_;
  std::vector<VkSemaphoreSubmitInfo> waits_;
  std::vector<VkSemaphoreSubmitInfo> signals_;
};

}  // namespace kiln::graph
