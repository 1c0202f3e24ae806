// SPDX-License-Identifier: MIT
// What most passes do with a texture, by name: the accesses and contents that an engine would
// otherwise write out for each of its passes.
#pragma once

#include "runtime/graph/types.h"

namespace kiln::graph {

// Draws into it as a colour attachment, blending included.
inline constexpr Access kColorTarget{
    .stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    .accesses = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
    .layout = VK_IMAGE_LAYOUT_UNDEFINED,
    .range = {}};

// Tests against it and writes it as the depth attachment.
inline constexpr Access kDepthTarget{.stages = VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                                               VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                                     .accesses = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                                 VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                                     .layout = VK_IMAGE_LAYOUT_UNDEFINED,
                                     .range = {}};

// Samples it in the fragment stage; one layout for colour and depth, as descriptors have it.
inline constexpr Access kSampledInFragment{.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                           .accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
                                           .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                           .range = {}};

// Attachments that are cleared before the first draw.
inline Contents ClearedTo(float red, float green, float blue, float alpha) {
  return {.kind = ContentKind::kClear, .value = {.color = {.float32 = {red, green, blue, alpha}}}};
}
inline Contents ClearedToDepth(float depth) {
  return {.kind = ContentKind::kClear, .value = {.depthStencil = {depth, 0}}};
}

}  // namespace kiln::graph
