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
  Access access;
};

CompletedAccess CompleteAccess(const AccessRequest& request, const ChainRow& chain);

// Answers as CompleteAccess does. A frame has few kinds of access and many accesses: those to whole
// textures that were right are remembered.
class AccessMemo {
 public:
  CompletedAccess Complete(const AccessRequest& request, const ChainRow& chain);

 private:
  struct Answer {
    Stages stages = 0;  // as declared
    Accesses accesses = 0;
    VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
    VkImageAspectFlags aspects = 0;  // 0: nothing is remembered here
    PassKind pass = PassKind::kGraphics;
    AccessRow row = {};
    VkImageUsageFlags usage = 0;
  };

  std::array<Answer, 64> answers_;
};

// Image usage that the accesses need.
VkImageUsageFlags UsageOf(Accesses accesses);

// Aspects of the texture's format; 0 for buffers and unknown formats.
VkImageAspectFlags AspectsOf(const ChainRow& chain);

}  // namespace kiln::graph
