// SPDX-License-Identifier: MIT
#include "runtime/pipeline/to_vulkan.h"

#include <array>

#include "compiler/base/check.h"

namespace kiln::runtime {
namespace {

// Row i is the value of enumerator i; the length is checked against metadata's table of names.
template <class Vulkan, class E, size_t N>
Vulkan Look(const std::array<Vulkan, N>& table, E value) {
  KILN_CHECK(N == artifact::NamesOf<E>().size(), "{} rows", N);
  return table[static_cast<size_t>(value)];
}

}  // namespace

VkPolygonMode ToVulkan(artifact::PolygonMode mode) {
  static constexpr auto kTable =
      std::to_array<VkPolygonMode>({VK_POLYGON_MODE_FILL, VK_POLYGON_MODE_LINE});
  return Look(kTable, mode);
}

VkCullModeFlags ToVulkan(artifact::CullMode mode) {
  static constexpr auto kTable = std::to_array<VkCullModeFlags>(
      {VK_CULL_MODE_NONE, VK_CULL_MODE_BACK_BIT, VK_CULL_MODE_FRONT_BIT});
  return Look(kTable, mode);
}

VkCompareOp ToVulkan(artifact::CompareOperation operation) {
  static constexpr auto kTable = std::to_array<VkCompareOp>({
      VK_COMPARE_OP_NEVER,
      VK_COMPARE_OP_ALWAYS,
      VK_COMPARE_OP_EQUAL,
      VK_COMPARE_OP_NOT_EQUAL,
      VK_COMPARE_OP_LESS,
      VK_COMPARE_OP_LESS_OR_EQUAL,
      VK_COMPARE_OP_GREATER,
      VK_COMPARE_OP_GREATER_OR_EQUAL,
  });
  return Look(kTable, operation);
}

VkStencilOp ToVulkan(artifact::StencilOperation operation) {
  static constexpr auto kTable = std::to_array<VkStencilOp>({
      VK_STENCIL_OP_KEEP,
      VK_STENCIL_OP_ZERO,
      VK_STENCIL_OP_REPLACE,
      VK_STENCIL_OP_INCREMENT_AND_CLAMP,
      VK_STENCIL_OP_DECREMENT_AND_CLAMP,
      VK_STENCIL_OP_INVERT,
      VK_STENCIL_OP_INCREMENT_AND_WRAP,
      VK_STENCIL_OP_DECREMENT_AND_WRAP,
  });
  return Look(kTable, operation);
}

VkBlendFactor ToVulkan(artifact::BlendFactor factor) {
  static constexpr auto kTable = std::to_array<VkBlendFactor>({
      VK_BLEND_FACTOR_ZERO,
      VK_BLEND_FACTOR_ONE,
      VK_BLEND_FACTOR_SRC_COLOR,
      VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR,
      VK_BLEND_FACTOR_DST_COLOR,
      VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR,
      VK_BLEND_FACTOR_SRC_ALPHA,
      VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
      VK_BLEND_FACTOR_DST_ALPHA,
      VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA,
      VK_BLEND_FACTOR_CONSTANT_COLOR,
      VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR,
      VK_BLEND_FACTOR_CONSTANT_ALPHA,
      VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA,
      VK_BLEND_FACTOR_SRC_ALPHA_SATURATE,
  });
  return Look(kTable, factor);
}

VkBlendOp ToVulkan(artifact::BlendOperation operation) {
  static constexpr auto kTable =
      std::to_array<VkBlendOp>({VK_BLEND_OP_ADD, VK_BLEND_OP_SUBTRACT, VK_BLEND_OP_REVERSE_SUBTRACT,
                                VK_BLEND_OP_MIN, VK_BLEND_OP_MAX});
  return Look(kTable, operation);
}

VkPrimitiveTopology ToVulkan(artifact::Topology topology) {
  static constexpr auto kTable =
      std::to_array<VkPrimitiveTopology>({VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST});
  return Look(kTable, topology);
}

VkFrontFace ToVulkan(artifact::FrontFace face) {
  static constexpr auto kTable =
      std::to_array<VkFrontFace>({VK_FRONT_FACE_CLOCKWISE, VK_FRONT_FACE_COUNTER_CLOCKWISE});
  return Look(kTable, face);
}

VkDynamicState ToVulkan(artifact::DynamicState state) {
  static constexpr auto kTable = std::to_array<VkDynamicState>(
      {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_DEPTH_BOUNDS});
  return Look(kTable, state);
}

VkDescriptorType ToVulkan(artifact::BufferType type) {
  static constexpr auto kTable = std::to_array<VkDescriptorType>(
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
       VK_DESCRIPTOR_TYPE_STORAGE_BUFFER});
  return Look(kTable, type);
}

VkDescriptorType ToVulkan(artifact::ImageType type) {
  return type >= artifact::ImageType::kStorage2d ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                                                 : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
}

VkShaderStageFlagBits ToVulkan(artifact::Stage stage) {
  static constexpr auto kTable = std::to_array<VkShaderStageFlagBits>(
      {VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_FRAGMENT_BIT, VK_SHADER_STAGE_COMPUTE_BIT});
  return Look(kTable, stage);
}

}  // namespace kiln::runtime
