// SPDX-License-Identifier: MIT
// An image that is drawn to and then sampled or read back, with the state that barriers need.
#pragma once

#include "runtime/vk/image.h"

namespace kiln::preview {

using vk::ImageUse;

inline constexpr ImageUse kColorAttachment = {
    VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
inline constexpr ImageUse kDepthAttachment = {
    VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
    VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT};
inline constexpr ImageUse kSampled = {
    VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
    VK_ACCESS_2_SHADER_SAMPLED_READ_BIT};
inline constexpr ImageUse kCopySource = {VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                         VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                         VK_ACCESS_2_TRANSFER_READ_BIT};
inline constexpr ImageUse kCopyDestination = {VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                              VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                              VK_ACCESS_2_TRANSFER_WRITE_BIT};

struct Target {
  vk::Image image;
  ImageUse last;
};

// Color or depth, by the format; can be sampled, read back and filled.
Result<Target> CreateTarget(const runtime::Device& device, vk::Memory& memory, VkFormat format,
                            VkExtent2D extent);

// Records the barrier from the last use of all levels and layers to `next`.
void Transition(const vk::Table& table, VkCommandBuffer commands, Target& target,
                const ImageUse& next);

}  // namespace kiln::preview
