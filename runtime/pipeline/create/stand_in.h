// SPDX-License-Identifier: MIT
// What is bound in the place of an image that nobody has given: views, formats, layers and samples
// by the type of the image in metadata. For warm-up draws and previews.
#pragma once

#include <cstdint>

#include "compiler/artifact/metadata_enums.h"
#include "runtime/vk/device.h"

namespace kiln::runtime {

// Requires: not a texel buffer.
VkImageViewType ViewTypeOf(artifact::ImageType type);

constexpr bool IsTexelBuffer(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER ||
         type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
}

// Layers of the smallest image with such a view: the faces of a cube.
uint32_t LeastLayers(VkImageViewType view);

// `declared` if the shader says one, else four components of the item that every device can have as
// such an image; depths for images of depths, which are no colors but in three dimensions.
VkFormat StandInFormat(artifact::ImageType type, artifact::OutputItem item, VkFormat declared);

// One, and for multisampled images the least of more that the device has.
// Errors: kFailedPrecondition, UNSUPPORTED if it has none.
Result<VkSampleCountFlagBits> StandInSamples(artifact::ImageType type, artifact::OutputItem item,
                                             const DeviceCaps& caps);

}  // namespace kiln::runtime
