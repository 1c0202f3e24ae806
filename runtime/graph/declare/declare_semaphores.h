// SPDX-License-Identifier: MIT
// The semaphores that passes wait for and signal, by ordinal, and the names that they go by in
// messages. See spec/graph 4.4
// Private to runtime/graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/declare/frame_rows.h"
#include "runtime/graph/declare/handle_table.h"

namespace kiln::graph {

class SemaphoreDeclarer {
 public:
  enum class Direction : uint8_t { kWait, kSignal };

  SemaphoreDeclarer(FrameRows& frame, HandleTable& handles)
      : frame_(frame), rows_(frame.rows()), handles_(handles) {}

  // Names stay from frame to frame; the first one of a semaphore is kept.
  void Name(VkSemaphore semaphore, std::string_view name);
  void Add(PassId pass_id, const SemaphoreUse& use, Direction direction, Where where);
  // A semaphore's place in the rows. A timeline without a value, and one that is used both ways,
  // are errors of the frame.
  uint32_t Ordinal(const SemaphoreUse& use, uint32_t pass, Where where);

 private:
  FrameRows& frame_;
  Declarations& rows_;  // of frame_
  HandleTable& handles_;
  std::vector<VkSemaphore> named_;
  std::vector<std::string> names_;  // of named_
};

}  // namespace kiln::graph
