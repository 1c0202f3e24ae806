// SPDX-License-Identifier: MIT
// A pipeline as plain data, one to one with Vulkan's create structures: metadata plus the signature
// of a pass → PipelineDesc, without a Vulkan call. What does not fit is found here, by name.
// See spec/pso 5, 6
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pass_signature.h"

namespace kiln::runtime {

using artifact::kSetCount;
using artifact::PipelineMetadata;

struct StageDesc {
  VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
  std::string entry;
};

// One input location; a matrix has one per column.
struct VertexAttributeDesc {
  std::string name;
  uint32_t location = 0;
  uint32_t binding = 0;
  uint32_t offset = 0;
  artifact::ItemFormat item = artifact::ItemFormat::kFloat32;
  uint32_t components = 1;
};

struct BindingDesc {
  uint32_t binding = 0;
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  uint32_t count = 1;
  // No part of the content: for messages, and for what stands in at a warm-up draw.
  std::string name;
  uint32_t bytes = 0;  // of a buffer: all but the tail, and one item of it
  artifact::ImageType image = artifact::ImageType::kColor2d;
  artifact::OutputItem item = artifact::OutputItem::kFloat;  // of a texel
  VkFormat format =
      VK_FORMAT_UNDEFINED;  // of storage images and texel buffers, if the shader says it
  bool comparison = false;  // of samplers and combined ones
};

using SetDesc = std::vector<BindingDesc>;  // ascending bindings

struct OutputDesc {
  std::string name;
  uint32_t location = 0;
  artifact::OutputItem item = artifact::OutputItem::kFloat;
  uint32_t components = 4;
};

struct RasterDesc {
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  bool primitive_restart = false;
  VkPolygonMode polygon_mode = VK_POLYGON_MODE_FILL;
  VkCullModeFlags cull_mode = VK_CULL_MODE_BACK_BIT;
  VkFrontFace front_face = VK_FRONT_FACE_CLOCKWISE;
  bool depth_clamp = false;
  bool discard = false;
  bool depth_bias = false;
  float line_width = 1.0F;
};

struct MultisampleDesc {
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  bool sample_shading = false;
  bool alpha_to_coverage = false;
  bool alpha_to_one = false;
};

struct DepthStencilDesc {
  bool depth_test = false;
  bool depth_write = false;
  VkCompareOp depth_compare = VK_COMPARE_OP_NEVER;
  bool bounds_test = false;
  float bounds_min = 0.0F;
  float bounds_max = 1.0F;
  bool stencil_test = false;
  VkStencilOpState front = {};
  VkStencilOpState back = {};
};

struct PipelineDesc {
  std::string name;  // of the program, for messages
  VkPipelineBindPoint bind_point = VK_PIPELINE_BIND_POINT_GRAPHICS;
  std::vector<StageDesc> stages;  // vertex, fragment; or compute
  std::vector<VkSpecializationMapEntry> specialization;
  std::vector<uint32_t> specialization_values;

  // Layout; also what descriptor sets and push data must look like.
  std::array<SetDesc, kSetCount> sets;
  uint32_t push_size = 0;  // multiple of 4
  Hash128 layout_hash;     // as metadata tells it; for debug checks, part of no key
  VkShaderStageFlags layout_stages = 0;

  // Graphics.
  std::vector<VkVertexInputBindingDescription> vertex_bindings;
  std::vector<VertexAttributeDesc> vertex_attributes;
  RasterDesc raster;
  MultisampleDesc multisample;
  DepthStencilDesc depth_stencil;
  std::vector<OutputDesc> outputs;
  std::vector<VkPipelineColorBlendAttachmentState> attachments;  // one per color format
  std::array<float, 4> blend_constants = {};
  bool logic_op = false;
  std::vector<VkDynamicState> dynamic_states;
  artifact::ViewportY viewport_y = artifact::ViewportY::kUp;
  PassSignature signature;

  // Compute.
  std::array<uint32_t, 3> workgroup_size = {1, 1, 1};

  std::vector<std::string> required_features;
  std::vector<std::string> required_extensions;
};

// Errors: METADATA_INCOMPLETE, METADATA_INVALID; SIGNATURE_MISMATCH naming output and format.
Result<PipelineDesc> DescFrom(std::string_view name, const PipelineMetadata& metadata,
                              const PassSignature& signature);

// The signature for previews and tests: a format by the item of each output, depth and stencil as
// the settings use them. See spec/pso 5.3
PassSignature DefaultSignature(const PipelineMetadata& metadata);
// The same, with D24_UNORM_S8_UINT where the device lacks D32_SFLOAT_S8_UINT.
PassSignature DefaultSignature(const PipelineMetadata& metadata, const DeviceCaps& caps);

}  // namespace kiln::runtime
