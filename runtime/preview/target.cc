// SPDX-License-Identifier: MIT
#include "runtime/preview/target.h"

#include "runtime/vk/pass_signature.h"

namespace kiln::preview {

Result<Target> CreateTarget(const runtime::Device& device, vk::Memory& memory, VkFormat format,
                            VkExtent2D extent) {
  const bool depth = runtime::DepthStencilAspects(format) != 0;
  // Every target may be sampled by a later pass and copied out for a test.
  VkImageUsageFlags usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  usage |=
      depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  Target target;
  KILN_TRY(target.image,
           vk::CreateImage(
               device, memory,
               {.format = format, .extent = {extent.width, extent.height, 1}, .usage = usage}));
  return target;
}

// The target remembers its last use, so callers only say what comes next.
void Transition(const vk::Table& table, VkCommandBuffer commands, Target& target,
                const ImageUse& next) {
  vk::Transition(table, commands, target.image, target.last, next);
  target.last = next;
}

}  // namespace kiln::preview
