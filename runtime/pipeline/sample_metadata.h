// SPDX-License-Identifier: MIT
// Metadata for tests: a small but complete graphics pipeline and the device that can have it.
#pragma once

#include "compiler/artifact/metadata.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pass_signature.h"

namespace kiln::runtime {

// Vertex and fragment stage, one vertex and one instance source, resources in three sets, one
// output.
inline artifact::PipelineMetadata SampleMetadata() {
  using namespace artifact;  // NOLINT(google-build-using-namespace): the names of what is built
  PipelineMetadata out;
  out.entry_points = {{Stage::kVertex, "vertex_main"}, {Stage::kFragment, "fragment_main"}};
  out.attribute_sources = {{.name = "mesh",
                            .rate = InputRate::kVertex,
                            .binding = 0,
                            .block_size = 16,
                            .attributes = {{.name = "position",
                                            .location = 0,
                                            .offset = 0,
                                            .kind = AttributeClass::kVector3,
                                            .item_format = ItemFormat::kFloat32,
                                            .tags = {"position"}},
                                           {.name = "color",
                                            .location = 1,
                                            .offset = 12,
                                            .kind = AttributeClass::kVector4,
                                            .item_format = ItemFormat::kUnorm8}}},
                           {.name = "placement",
                            .rate = InputRate::kInstance,
                            .binding = 1,
                            .block_size = 64,
                            .attributes = {{.name = "world_from_mesh",
                                            .location = 2,
                                            .offset = 0,
                                            .kind = AttributeClass::kMatrix4x4,
                                            .item_format = ItemFormat::kFloat32,
                                            .location_count = 4,
                                            .column_stride = 16}}}};
  out.sets[0].buffers = {{.name = "view",
                          .binding = 0,
                          .type = BufferType::kUniform,
                          .main_size = 64,
                          .main_parameters = {{.name = "clip_from_world",
                                               .type = ParameterType::kF4x4,
                                               .offset = 0,
                                               .tags = {"clip_transform"},
                                               .matrix_stride = 16}}}};
  out.sets[1].samplers = {{.name = "smooth", .binding = 1}};
  out.sets[1].images = {{.name = "layers",
                         .binding = 2,
                         .type = ImageType::kColor2d,
                         .image_array_size = 3,
                         .is_array = true}};
  out.sets[1].buffers = {{.name = "material", .binding = 0, .main_size = 16}};
  out.sets[3].buffers = {
      {.name = "lamps", .binding = 0, .type = BufferType::kReadOnlyStorage, .main_size = 16}};
  out.push_constant_size = 16;
  out.color_outputs = {{.name = "radiance"}};
  out.fixed_state.dynamic_state = {DynamicState::kViewport, DynamicState::kScissor};
  out.spirv_version = "1.3";
  return out;
}

inline PassSignature SampleSignature() {
  return {.color = {VK_FORMAT_R8G8B8A8_UNORM}, .depth_stencil = VK_FORMAT_D32_SFLOAT};
}

// Offers everything.
inline DeviceCaps AbleDevice() {
  DeviceCaps caps;
  caps.device_name = "fake device";
  caps.features = {"alpha_to_one",        "depth_bounds",        "depth_clamp",
                   "fill_mode_non_solid", "independent_blend",   "logic_op",
                   "multiview",           "sample_rate_shading", "wide_lines"};
  VkPhysicalDeviceLimits& limits = caps.limits;
  limits.maxVertexInputAttributes = 16;
  limits.maxVertexInputBindings = 16;
  limits.maxVertexInputBindingStride = 2048;
  limits.maxVertexInputAttributeOffset = 2047;
  limits.maxColorAttachments = 8;
  limits.maxPerStageDescriptorUniformBuffers = limits.maxDescriptorSetUniformBuffers = 12;
  limits.maxPerStageDescriptorStorageBuffers = limits.maxDescriptorSetStorageBuffers = 4;
  limits.maxPerStageDescriptorSamplers = limits.maxDescriptorSetSamplers = 16;
  limits.maxPerStageDescriptorSampledImages = limits.maxDescriptorSetSampledImages = 16;
  limits.maxPerStageDescriptorStorageImages = limits.maxDescriptorSetStorageImages = 4;
  limits.maxPerStageResources = 128;
  limits.maxBoundDescriptorSets = 4;
  limits.maxPushConstantsSize = 128;
  limits.maxComputeWorkGroupInvocations = 128;
  limits.maxComputeWorkGroupSize[0] = limits.maxComputeWorkGroupSize[1] = 128;
  limits.maxComputeWorkGroupSize[2] = 64;
  for (VkFormatProperties& format : caps.formats) {
    format.bufferFeatures = VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT;
    format.optimalTilingFeatures = VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT |
                                   VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT |
                                   VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT;
  }
  return caps;
}

}  // namespace kiln::runtime
