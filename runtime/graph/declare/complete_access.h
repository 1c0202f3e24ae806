// SPDX-License-Identifier: MIT
// An access as declared -> the row that the planner works with: elementary masks, stages, layout
// and range filled in, every rule that concerns one access alone checked.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "runtime/graph/declarations.h"

namespace kiln::graph {

struct CompletedAccess {
  AccessRow row = {};           // without pass, version, result
  VkImageUsageFlags usage = 0;  // that a texture needs for it
  std::string_view error;       // code, empty if the access is right
  std::string detail;           // what is wrong with it, for the message
};

struct AccessRequest {
  PassKind pass = PassKind::kGraphics;
  Op op = Op::kRead;
  const Access& access;
};

CompletedAccess CompleteAccess(const AccessRequest& request, const ChainRow& chain);

// Answers as CompleteAccess does. A frame has few kinds of access and many accesses: those to whole
// resources that were right are remembered.
class AccessMemo {
 public:
  // Valid until the next call.
  const CompletedAccess& Complete(const AccessRequest& request, const ChainRow& chain) {
    const Key key = KeyOf(request, chain);
    Answer& answer = answers_[SlotOf(key)];
    if (!(answer.key == key) || request.access.range != Range{}) {
      return Ask(request, chain, key, answer);
    }
    answer.completed.row.mips = static_cast<uint16_t>(chain.mips);
    answer.completed.row.layers = static_cast<uint16_t>(chain.layers);
    return answer.completed;
  }

 private:
  // Everything that an answer about a whole resource depends on.
  struct Key {
    Stages stages = 0;  // as declared
    Accesses accesses = 0;
    VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
    uint32_t kinds = 0;  // of the pass, the operation and the resource; 0: nothing is remembered

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Answer {
    Key key;
    CompletedAccess completed;
  };
  static constexpr uint32_t kSlotBits = 6;

  static Key KeyOf(const AccessRequest& request, const ChainRow& chain) {
    const uint32_t kinds = 1U << 31 | static_cast<uint32_t>(request.pass) << 24 |
                           static_cast<uint32_t>(request.op) << 20 |
                           static_cast<uint32_t>(chain.kind) << 19 |
                           static_cast<uint32_t>(chain.object) << 16 |
                           static_cast<uint32_t>(chain.memory) << 12 | (chain.aspects & 0xFFF);
    return {request.access.stages, request.access.accesses, request.access.layout, kinds};
  }
  static size_t SlotOf(const Key& key) {
    const uint64_t mixed = (key.stages * 0x9E3779B97F4A7C15ULL) ^
                           (key.accesses * 0xC2B2AE3D27D4EB4FULL) ^
                           (uint64_t{key.kinds} * 0x165667B19E3779F9ULL) ^
                           (uint64_t{static_cast<uint32_t>(key.layout)} << 58);
    return mixed >> (64 - kSlotBits);
  }
  const CompletedAccess& Ask(const AccessRequest& request, const ChainRow& chain, const Key& key,
                             Answer& answer);

  std::array<Answer, size_t{1} << kSlotBits> answers_;
  CompletedAccess other_;  // what is not remembered
};

// Image usage that the accesses need.
VkImageUsageFlags UsageOf(Accesses accesses);

}  // namespace kiln::graph
