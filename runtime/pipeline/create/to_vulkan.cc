// SPDX-License-Identifier: MIT
// Enumerations of metadata become those of Vulkan, each by a switch without a default: a value that
// is added to the metadata does not compile before somebody decides what it means here. Metadata
// was decoded, which bounds every enumeration, so no value falls out of a switch.
#include "runtime/pipeline/create/to_vulkan.h"

#include "compiler/base/check.h"

namespace kiln::runtime {

VkPolygonMode ToVulkan(artifact::PolygonMode mode) {
  switch (mode) {
    using enum artifact::PolygonMode;
    case kFill:
      return VK_POLYGON_MODE_FILL;
    case kWireframe:
      return VK_POLYGON_MODE_LINE;
  }
  KILN_UNREACHABLE();
}

VkCullModeFlags ToVulkan(artifact::CullMode mode) {
  switch (mode) {
    using enum artifact::CullMode;
    case kNone:
      return VK_CULL_MODE_NONE;
    case kBack:
      return VK_CULL_MODE_BACK_BIT;
    case kFront:
      return VK_CULL_MODE_FRONT_BIT;
  }
  KILN_UNREACHABLE();
}

// The names say what is compared with what: the new value on the left, the stored one on the right,
// as in Vulkan.
VkCompareOp ToVulkan(artifact::CompareOperation operation) {
  switch (operation) {
    using enum artifact::CompareOperation;
    case kNever:
      return VK_COMPARE_OP_NEVER;
    case kAlways:
      return VK_COMPARE_OP_ALWAYS;
    case kEqual:
      return VK_COMPARE_OP_EQUAL;
    case kNotEqual:
      return VK_COMPARE_OP_NOT_EQUAL;
    case kLess:
      return VK_COMPARE_OP_LESS;
    case kLessOrEqual:
      return VK_COMPARE_OP_LESS_OR_EQUAL;
    case kGreater:
      return VK_COMPARE_OP_GREATER;
    case kGreaterOrEqual:
      return VK_COMPARE_OP_GREATER_OR_EQUAL;
  }
  KILN_UNREACHABLE();
}

VkStencilOp ToVulkan(artifact::StencilOperation operation) {
  switch (operation) {
    using enum artifact::StencilOperation;
    case kKeep:
      return VK_STENCIL_OP_KEEP;
    case kZero:
      return VK_STENCIL_OP_ZERO;
    case kReplace:
      return VK_STENCIL_OP_REPLACE;
    case kIncrementAndClamp:
      return VK_STENCIL_OP_INCREMENT_AND_CLAMP;
    case kDecrementAndClamp:
      return VK_STENCIL_OP_DECREMENT_AND_CLAMP;
    case kInvert:
      return VK_STENCIL_OP_INVERT;
    case kIncrementAndWrap:
      return VK_STENCIL_OP_INCREMENT_AND_WRAP;
    case kDecrementAndWrap:
      return VK_STENCIL_OP_DECREMENT_AND_WRAP;
  }
  KILN_UNREACHABLE();
}

// Factors of a second source do not exist in the metadata, so the feature for them is not needed.
VkBlendFactor ToVulkan(artifact::BlendFactor factor) {
  switch (factor) {
    using enum artifact::BlendFactor;
    case kZero:
      return VK_BLEND_FACTOR_ZERO;
    case kOne:
      return VK_BLEND_FACTOR_ONE;
    case kSourceColor:
      return VK_BLEND_FACTOR_SRC_COLOR;
    case kOneMinusSourceColor:
      return VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR;
    case kDestinationColor:
      return VK_BLEND_FACTOR_DST_COLOR;
    case kOneMinusDestinationColor:
      return VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR;
    case kSourceAlpha:
      return VK_BLEND_FACTOR_SRC_ALPHA;
    case kOneMinusSourceAlpha:
      return VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    case kDestinationAlpha:
      return VK_BLEND_FACTOR_DST_ALPHA;
    case kOneMinusDestinationAlpha:
      return VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA;
    case kConstantColor:
      return VK_BLEND_FACTOR_CONSTANT_COLOR;
    case kOneMinusConstantColor:
      return VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR;
    case kConstantAlpha:
      return VK_BLEND_FACTOR_CONSTANT_ALPHA;
    case kOneMinusConstantAlpha:
      return VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
    case kSourceAlphaSaturate:
      return VK_BLEND_FACTOR_SRC_ALPHA_SATURATE;
  }
  KILN_UNREACHABLE();
}

VkBlendOp ToVulkan(artifact::BlendOperation operation) {
  switch (operation) {
    using enum artifact::BlendOperation;
    case kAdd:
      return VK_BLEND_OP_ADD;
    case kSubtract:
      return VK_BLEND_OP_SUBTRACT;
    case kReverseSubtract:
      return VK_BLEND_OP_REVERSE_SUBTRACT;
    case kMin:
      return VK_BLEND_OP_MIN;
    case kMax:
      return VK_BLEND_OP_MAX;
  }
  KILN_UNREACHABLE();
}

// A switch with one case, so that a second topology in the metadata does not compile before it is
// mapped here.
VkPrimitiveTopology ToVulkan(artifact::Topology topology) {
  switch (topology) {
    using enum artifact::Topology;
    case kTriangleList:
      return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  }
  KILN_UNREACHABLE();
}

VkFrontFace ToVulkan(artifact::FrontFace face) {
  switch (face) {
    using enum artifact::FrontFace;
    case kClockwise:
      return VK_FRONT_FACE_CLOCKWISE;
    case kCounterClockwise:
      return VK_FRONT_FACE_COUNTER_CLOCKWISE;
  }
  KILN_UNREACHABLE();
}

VkDynamicState ToVulkan(artifact::DynamicState state) {
  switch (state) {
    using enum artifact::DynamicState;
    case kViewport:
      return VK_DYNAMIC_STATE_VIEWPORT;
    case kScissor:
      return VK_DYNAMIC_STATE_SCISSOR;
    case kDepthBounds:
      return VK_DYNAMIC_STATE_DEPTH_BOUNDS;
  }
  KILN_UNREACHABLE();
}

VkDescriptorType ToVulkan(artifact::BufferType type) {
  switch (type) {
    using enum artifact::BufferType;
    case kUniform:
      return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    // Vulkan has one type for both. That a buffer is only read is said in the shader.
    case kReadOnlyStorage:
    case kReadWriteStorage:
      return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  }
  KILN_UNREACHABLE();
}

// Texels of a buffer are bound as a view of it, everything else as a view of an image.
VkDescriptorType ToVulkan(artifact::ImageType type) {
  const artifact::ImageTypeFacts& facts = FactsOf(type);
  const bool storage = facts.role == artifact::ImageRole::kStorage;
  if (facts.dim == artifact::ImageDim::kBuffer) {
    return storage ? VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER
                   : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
  }
  return storage ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
}

VkShaderStageFlagBits ToVulkan(artifact::Stage stage) {
  switch (stage) {
    using enum artifact::Stage;
    case kVertex:
      return VK_SHADER_STAGE_VERTEX_BIT;
    case kFragment:
      return VK_SHADER_STAGE_FRAGMENT_BIT;
    case kCompute:
      return VK_SHADER_STAGE_COMPUTE_BIT;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::runtime
