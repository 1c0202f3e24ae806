// SPDX-License-Identifier: MIT
// Metadata's enumerations as Vulkan's: the enumerator of the same name. See spec/rpl 9
#pragma once

#include "compiler/artifact/metadata_enums.h"
#include "runtime/vk/table.h"

namespace kiln::runtime {

VkPolygonMode ToVulkan(artifact::PolygonMode mode);
VkCullModeFlags ToVulkan(artifact::CullMode mode);
VkCompareOp ToVulkan(artifact::CompareOperation operation);
VkStencilOp ToVulkan(artifact::StencilOperation operation);
VkBlendFactor ToVulkan(artifact::BlendFactor factor);
VkBlendOp ToVulkan(artifact::BlendOperation operation);
VkPrimitiveTopology ToVulkan(artifact::Topology topology);
VkFrontFace ToVulkan(artifact::FrontFace face);
VkDynamicState ToVulkan(artifact::DynamicState state);
VkDescriptorType ToVulkan(artifact::BufferType type);
VkDescriptorType ToVulkan(artifact::ImageType type);
VkShaderStageFlagBits ToVulkan(artifact::Stage stage);

}  // namespace kiln::runtime
