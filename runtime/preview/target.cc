// SPDX-License-Identifier: MIT
#include "runtime/preview/target.h"

#include "runtime/vk/pass_signature.h"

namespace kiln::preview {

Result<Target> CreateTarget(const runtime::Device& device, vk::Memory& memory, VkFormat format,
                            VkExtent2D extent) {
  const bool depth = runtime::DepthStencilAspects(format) != 0;
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

void Transition(const vk::Table& table, VkCommandBuffer commands, Target& target,
                const ImageUse& next) {
  VkImageMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  barrier.srcStageMask = target.last.stages;
  barrier.srcAccessMask = target.last.access;
  barrier.dstStageMask = next.stages;
  barrier.dstAccessMask = next.access;
  barrier.oldLayout = target.last.layout;
  barrier.newLayout = next.layout;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = target.image.handle.get();
  barrier.subresourceRange = {target.image.aspects(), 0, VK_REMAINING_MIP_LEVELS, 0,
                              VK_REMAINING_ARRAY_LAYERS};
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  table.CmdPipelineBarrier2(commands, &dependency);
  target.last = next;
}

}  // namespace kiln::preview
