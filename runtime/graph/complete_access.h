// SPDX-License-Identifier: MIT
// An access as declared -> the row that the planner works with: elementary masks, stages, layout
// and range filled in, every rule that concerns one access alone checked.
#pragma once

#include <string>
#include <string_view>

#include "runtime/graph/declarations.h"

namespace kiln::graph {

struct CompletedAccess {
  AccessRow row = {};      // without pass, version, result
  std::string_view error;  // code, empty if the access is right
  std::string detail;      // what is wrong with it, for the message
};

struct AccessRequest {
  PassKind pass = PassKind::kGraphics;
  Op op = Op::kRead;
  Access access;
};

CompletedAccess CompleteAccess(const AccessRequest& request, const ChainRow& chain);

// Image usage that the accesses need.
VkImageUsageFlags UsageOf(Accesses accesses);

// Aspects of the texture's format; 0 for buffers and unknown formats.
VkImageAspectFlags AspectsOf(const ChainRow& chain);

}  // namespace kiln::graph
