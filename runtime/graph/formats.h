// SPDX-License-Identifier: MIT
// What the graph knows about formats: names, bytes, aspects.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/graph/types.h"

namespace kiln::graph {

struct FormatInfo {
  uint32_t bytes = 0;  // of a texel, or of a block
  uint32_t block = 1;  // edge of a block in texels
  VkImageAspectFlags aspects = VK_IMAGE_ASPECT_COLOR_BIT;
};

// 0 for formats that kiln does not know.
VkImageAspectFlags AspectsOfFormat(VkFormat format);

// nullopt for formats that kiln does not know.
std::optional<FormatInfo> InfoOf(VkFormat format);

// "RGBA8", or "VK_FORMAT_R8G8B8A8_UNORM"; nullopt: not a name.
std::optional<VkFormat> ParseFormat(std::string_view text);
// The short name that is nearest, for messages; empty if none is near.
std::string_view ClosestFormat(std::string_view text);
// The short name, else the number.
std::string FormatText(VkFormat format);

// Whether texels are integers, which nothing converts to others.
bool IsIntegerFormat(VkFormat format);

// Bytes of all levels and layers, without any alignment.
uint64_t TexelBytes(const TextureDesc& desc);

// The number of levels down to one texel.
uint32_t FullMips(VkExtent3D size);

}  // namespace kiln::graph
