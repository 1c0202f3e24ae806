// SPDX-License-Identifier: MIT
// Metadata's formats and types as Vulkan formats, and what a color format holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/artifact/metadata_enums.h"
#include "runtime/vk/device.h"
#include "runtime/vk/table.h"

namespace kiln::runtime {

// Format of one column: the item format repeated per component.
// Requires: 1 <= components <= 4. See spec/pso 6.2
VkFormat VertexFormat(artifact::ItemFormat item, uint32_t components);

// The format in which the device reads such a column: three-component 8- and 16-bit formats are
// optional in Vulkan, the four-component one serves if it stays inside the element.
// nullopt: neither works. See spec/pso 6.2.2
std::optional<VkFormat> DeviceVertexFormat(artifact::ItemFormat item, uint32_t components,
                                           uint32_t offset, uint32_t stride,
                                           const DeviceCaps& caps);

struct ColorFormat {
  artifact::OutputItem item;
  uint32_t components;
};

// nullopt if nothing can be rendered to the format as a color.
std::optional<ColorFormat> DescribeColorFormat(VkFormat format);

// The format of a storage image by metadata's name ("rgba8_unorm"); VK_FORMAT_UNDEFINED for others.
// See spec/rpl 14
VkFormat StorageFormat(std::string_view name);

// The format of a word of a manifest, which is Vulkan's name in lower case with the components
// first and their width once where it is the same: "rgba16_float", "bgra8_srgb",
// "b10g11r11_ufloat", "d24_unorm_s8_uint". VK_FORMAT_UNDEFINED for others. See spec/pso 5.2
VkFormat FormatNamed(std::string_view word);
// The word, or nothing if there is none.
std::string FormatWord(VkFormat format);

// "VK_FORMAT_R8G8B8A8_UNORM" for formats that kiln names, else the number.
std::string FormatName(VkFormat format);

}  // namespace kiln::runtime
