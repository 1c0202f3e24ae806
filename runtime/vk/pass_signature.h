// SPDX-License-Identifier: MIT
// What a pipeline must know about the attachments it will draw to. Materials do not know their
// target, so the caller, a graph pass or the manifest supplies it. See spec/pso 5.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/vk/table.h"

namespace kiln::runtime {

struct PassSignature {
  std::vector<VkFormat> color;                   // by location
  VkFormat depth_stencil = VK_FORMAT_UNDEFINED;  // VK_FORMAT_UNDEFINED: none
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  uint32_t view_mask = 0;

  friend bool operator==(const PassSignature&, const PassSignature&) = default;
};

// Aspects of a depth-stencil format; 0 for color formats.
VkImageAspectFlags DepthStencilAspects(VkFormat format);

}  // namespace kiln::runtime
