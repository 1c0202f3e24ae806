// SPDX-License-Identifier: MIT
// What one frame in flight has for itself: command buffers by recording thread, a fence, host
// memory and marks. Used again when the device is done with its frame. Private to runtime/graph.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/execute/frame_marks.h"
#include "runtime/graph/execute/record_commands.h"

namespace kiln::graph {

// Command buffers that one thread records for one frame in flight; reused after their pool was
// reset.
struct CommandLane {
  vk::UniqueCommandPool pool;
  std::vector<VkCommandBuffer> buffers;
  size_t used = 0;
};

struct CommandSlot {
  std::vector<CommandLane> lanes;  // by recording thread
  // Signalled with the frame's value of the timeline, and waited for after it: the validation
  // layers of 2022 do not learn from timelines what the host has waited for.
  vk::UniqueFence fence;
  bool pending = false;  // the fence was submitted
  RingSlot ring;
  FrameMarks marks;
};

Result<CommandSlot> MakeSlot(const runtime::Device& device, uint32_t lanes);
// One more command buffer, for later.
Result<void> AddBuffer(const runtime::Device& device, CommandLane& lane);
// The next command buffer of the lane, begun.
Result<VkCommandBuffer> BeginBuffer(const runtime::Device& device, CommandLane& lane);
// The fence may be submitted again. Requires: the timeline has reached the slot's value.
Result<void> ResetFence(const runtime::Device& device, CommandSlot& slot);
// The command buffers may be recorded again. Requires: the device is done with them.
Result<void> ResetLanes(const runtime::Device& device, CommandSlot& slot);

}  // namespace kiln::graph
