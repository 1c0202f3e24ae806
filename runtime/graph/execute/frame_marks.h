// SPDX-License-Identifier: MIT
// What debugging asks of one frame in flight: how long every pass took on the device, and which
// passes had finished when the device was lost. Private to runtime/graph. See spec/graph 8.3, 8.5
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/execute.h"
#include "runtime/vk/buffer.h"
#include "runtime/vk/unique.h"

namespace kiln::graph {

// Of one frame in flight; reused when its slot is. Positions may be marked on several threads.
class FrameMarks {
 public:
  // Room for the plan's positions; forgets the marks of the frame before.
  Result<void> Prepare(const runtime::Device& device, vk::Memory& memory, const Plan& plan,
                       const Declarations& rows, const ExecutorConfig& config);

  // Before anything else of the frame is recorded.
  void Start(const vk::Table& table, VkCommandBuffer commands) const;
  void Before(const vk::Table& table, VkCommandBuffer commands, uint32_t position) const;
  void After(const vk::Table& table, VkCommandBuffer commands, uint32_t position) const;
  // The frame was submitted; before that there is nothing to be read.
  void Submitted() { submitted_ = true; }

  // How long the passes took, in plan order. Requires: the frame is done.
  void ReadTimes(const runtime::Device& device, std::vector<PassTime>& times) const;
  // "last finished pass 'sky'", "no pass had finished"; nullopt without markers or a submission.
  std::optional<std::string> LastFinished() const;

 private:
  struct Name {
    uint32_t offset;
    uint32_t size;
  };

  std::string_view NameAt(size_t position) const {
    return std::string_view(text_.data(), text_.size())
        .substr(names_[position].offset, names_[position].size);
  }
  Result<void> GrowQueries(const runtime::Device& device);

  bool timestamps_ = false;
  bool markers_ = false;
  bool submitted_ = false;
  vk::UniqueQueryPool queries_;  // two per position
  uint32_t query_room_ = 0;
  vk::Buffer marks_;         // two words per position: begun, finished
  std::vector<Name> names_;  // by position
  std::vector<char> text_;
  mutable std::vector<uint64_t> ticks_;
};

}  // namespace kiln::graph
