// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/create_info.h"

#include <algorithm>
#include <chrono>

#include "runtime/pipeline/formats.h"

namespace kiln::runtime {
namespace {

VkBool32 Flag(bool value) { return value ? VK_TRUE : VK_FALSE; }

constexpr VkPipelineCreationFeedbackFlags kBaseAcceleration =
    VK_PIPELINE_CREATION_FEEDBACK_BASE_PIPELINE_ACCELERATION_BIT;

// A driver may leave the feedback out; then the numbers mean nothing, and zero would be taken for a
// fast creation.
StageFeedback FeedbackOf(const VkPipelineCreationFeedback& told) {
  if ((told.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT) == 0) {
    return {};
  }
  constexpr VkPipelineCreationFeedbackFlags kHit =
      VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
  return {.valid = true,
          .cache_hit = (told.flags & kHit) != 0,
          .duration = std::chrono::nanoseconds(told.duration)};
}

}  // namespace

// All structures are members, because Vulkan's point to one another: the object must neither be
// moved nor outlive the description.
CreateInfo::CreateInfo(const PipelineDesc& desc, const DeviceCaps& caps,
                       std::span<const VkShaderModule> modules, VkPipelineLayout layout)
    : bind_point_(desc.bind_point) {
  specialization_.mapEntryCount = static_cast<uint32_t>(desc.specialization.size());
  specialization_.pMapEntries = desc.specialization.data();
  specialization_.dataSize = desc.specialization_values.size() * sizeof(uint32_t);
  specialization_.pData = desc.specialization_values.data();
  // All stages share the specialization: an id that a stage does not have is ignored by Vulkan.
  for (size_t i = 0; i < desc.stages.size(); ++i) {
    VkPipelineShaderStageCreateInfo stage{};
    stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stage.stage = desc.stages[i].stage;
    stage.module = modules[i];
    stage.pName = desc.stages[i].entry.c_str();
    stage.pSpecializationInfo = desc.specialization.empty() ? nullptr : &specialization_;
    stages_.push_back(stage);
  }
  if (bind_point_ == VK_PIPELINE_BIND_POINT_COMPUTE) {
    compute_.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    compute_.stage = stages_[0];
    compute_.layout = layout;
    return;
  }
  FillVertexInput(desc, caps);
  FillFixedFunction(desc);
  FillTargets(desc);
  graphics_.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
  graphics_.pNext = &rendering_;
  graphics_.stageCount = static_cast<uint32_t>(stages_.size());
  graphics_.pStages = stages_.data();
  graphics_.pVertexInputState = &vertex_input_;
  graphics_.pInputAssemblyState = &input_assembly_;
  graphics_.pViewportState = &viewport_;
  graphics_.pRasterizationState = &raster_;
  graphics_.pMultisampleState = &multisample_;
  graphics_.pDepthStencilState =
      desc.signature.depth_stencil == VK_FORMAT_UNDEFINED ? nullptr : &depth_stencil_;
  graphics_.pColorBlendState = &blend_;
  graphics_.pDynamicState = &dynamic_;
  graphics_.layout = layout;
}

// The format may be a wider one than asked for, if the device has no three components. CheckDevice
// has found one already, and so a missing format is a fault of kiln.
void CreateInfo::FillVertexInput(const PipelineDesc& desc, const DeviceCaps& caps) {
  for (const VertexAttributeDesc& attribute : desc.vertex_attributes) {
    const auto source = std::ranges::find(desc.vertex_bindings, attribute.binding,
                                          &VkVertexInputBindingDescription::binding);
    const std::optional<VkFormat> format = DeviceVertexFormat(
        attribute.item, attribute.components, attribute.offset, source->stride, caps);
    KILN_CHECK(format.has_value(), "attribute {}", attribute.name);
    attributes_.push_back({attribute.location, attribute.binding, *format, attribute.offset});
  }
  vertex_input_.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
  vertex_input_.vertexBindingDescriptionCount = static_cast<uint32_t>(desc.vertex_bindings.size());
  vertex_input_.pVertexBindingDescriptions = desc.vertex_bindings.data();
  vertex_input_.vertexAttributeDescriptionCount = static_cast<uint32_t>(attributes_.size());
  vertex_input_.pVertexAttributeDescriptions = attributes_.data();
  input_assembly_.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
  input_assembly_.topology = desc.raster.topology;
  input_assembly_.primitiveRestartEnable = Flag(desc.raster.primitive_restart);
}

void CreateInfo::FillFixedFunction(const PipelineDesc& desc) {
  // Only the counts are part of the pipeline; the values are dynamic state and are set while
  // recording.
  viewport_.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
  // One viewport and one scissor, which are set for each draw.
  viewport_.viewportCount = 1;
  viewport_.scissorCount = 1;

  const RasterDesc& raster = desc.raster;
  raster_.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
  raster_.depthClampEnable = Flag(raster.depth_clamp);
  raster_.rasterizerDiscardEnable = Flag(raster.discard);
  raster_.polygonMode = raster.polygon_mode;
  raster_.cullMode = raster.cull_mode;
  raster_.frontFace = raster.front_face;
  raster_.depthBiasEnable = Flag(raster.depth_bias);
  raster_.lineWidth = raster.line_width;

  const MultisampleDesc& multisample = desc.multisample;
  multisample_.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
  multisample_.rasterizationSamples = multisample.samples;
  multisample_.sampleShadingEnable = Flag(multisample.sample_shading);
  // With sample shading on, each sample is shaded, as a language with a variable per sample expects
  // it.
  multisample_.minSampleShading = 1.0F;
  multisample_.alphaToCoverageEnable = Flag(multisample.alpha_to_coverage);
  multisample_.alphaToOneEnable = Flag(multisample.alpha_to_one);

  dynamic_.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
  dynamic_.dynamicStateCount = static_cast<uint32_t>(desc.dynamic_states.size());
  dynamic_.pDynamicStates = desc.dynamic_states.data();
}

void CreateInfo::FillTargets(const PipelineDesc& desc) {
  const DepthStencilDesc& depth = desc.depth_stencil;
  depth_stencil_.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
  depth_stencil_.depthTestEnable = Flag(depth.depth_test);
  depth_stencil_.depthWriteEnable = Flag(depth.depth_write);
  depth_stencil_.depthCompareOp = depth.depth_compare;
  depth_stencil_.depthBoundsTestEnable = Flag(depth.bounds_test);
  depth_stencil_.stencilTestEnable = Flag(depth.stencil_test);
  depth_stencil_.front = depth.front;
  depth_stencil_.back = depth.back;
  depth_stencil_.minDepthBounds = depth.bounds_min;
  depth_stencil_.maxDepthBounds = depth.bounds_max;

  blend_.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
  blend_.logicOpEnable = Flag(desc.logic_op);
  blend_.attachmentCount = static_cast<uint32_t>(desc.attachments.size());
  blend_.pAttachments = desc.attachments.data();
  std::ranges::copy(desc.blend_constants, blend_.blendConstants);

  const PassSignature& signature = desc.signature;
  const VkImageAspectFlags aspects = DepthStencilAspects(signature.depth_stencil);
  rendering_.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
  rendering_.viewMask = signature.view_mask;
  // All attachments of the pass are named, also those that the program does not write.
  rendering_.colorAttachmentCount = static_cast<uint32_t>(signature.color.size());
  rendering_.pColorAttachmentFormats = signature.color.data();
  // A format with one aspect alone must not be named for the other.
  if ((aspects & VK_IMAGE_ASPECT_DEPTH_BIT) != 0) {
    rendering_.depthAttachmentFormat = signature.depth_stencil;
  }
  if ((aspects & VK_IMAGE_ASPECT_STENCIL_BIT) != 0) {
    rendering_.stencilAttachmentFormat = signature.depth_stencil;
  }
}

// Flags and the chain are set in a copy, so that the object stays as it was built and may create
// once more with other flags.
VkResult CreateInfo::Create(const runtime::Device& device, VkPipelineCache cache,
                            VkPipelineCreateFlags flags, CreationFeedback* feedback,
                            VkPipeline* pipeline) const {
  VkPipelineCreationFeedback whole{};
  // A pipeline of graphics has two stages at most.
  std::array<VkPipelineCreationFeedback, 2> stages{};
  VkPipelineCreationFeedbackCreateInfo told{};
  told.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO;
  told.pPipelineCreationFeedback = &whole;
  told.pipelineStageCreationFeedbackCount = static_cast<uint32_t>(stages_.size());
  told.pPipelineStageCreationFeedbacks = stages.data();
  const vk::Table& table = device.table();
  VkResult result = VK_SUCCESS;
  if (bind_point_ == VK_PIPELINE_BIND_POINT_COMPUTE) {
    VkComputePipelineCreateInfo info = compute_;
    info.flags = flags;
    info.pNext = &told;
    result = table.CreateComputePipelines(device.handle(), cache, 1, &info, nullptr, pipeline);
  } else {
    VkGraphicsPipelineCreateInfo info = graphics_;
    info.flags = flags;
    // The feedback goes in front of the chain and leaves the formats of the targets behind it.
    told.pNext = info.pNext;
    info.pNext = &told;
    result = table.CreateGraphicsPipelines(device.handle(), cache, 1, &info, nullptr, pipeline);
  }
  if (feedback != nullptr) {
    const StageFeedback all = FeedbackOf(whole);
    *feedback = {.valid = all.valid,
                 .cache_hit = all.cache_hit,
                 .base_acceleration = all.valid && (whole.flags & kBaseAcceleration) != 0,
                 .duration = all.duration};
    // Feedback of stages that do not exist stays invalid.
    std::ranges::transform(stages, feedback->stages.begin(), FeedbackOf);
  }
  return result;
}

// Each part gets the state that PartKeys digests for it. Anything else that a part depended on
// would be that of the pipeline which happened to make it first.
VkResult CreateInfo::CreatePart(const runtime::Device& device, VkPipelineCache cache,
                                LibraryPart part, VkPipeline* pipeline) const {
  static constexpr std::array<VkGraphicsPipelineLibraryFlagBitsEXT, kLibraryParts> kFlags = {
      VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT,
      VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
      VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT,
      VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT};
  VkPipelineRenderingCreateInfo rendering = rendering_;
  // The formats belong to the output alone, so that the other parts are shared by passes of all
  // formats.
  if (part != LibraryPart::kFragmentOutput) {  // the others depend on the view mask alone
    rendering = {};
    rendering.sType = rendering_.sType;
    rendering.viewMask = rendering_.viewMask;
  }
  VkGraphicsPipelineLibraryCreateInfoEXT library{};
  library.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT;
  library.pNext = &rendering;
  library.flags = kFlags[static_cast<size_t>(part)];
  VkGraphicsPipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
  info.pNext = &library;
  // The driver has to keep what an optimised link would need. Whether one follows is not known at
  // this point.
  info.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |
               VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT;
  switch (part) {
    case LibraryPart::kVertexInput:
      info.pVertexInputState = &vertex_input_;
      info.pInputAssemblyState = &input_assembly_;
      break;
    case LibraryPart::kPreRasterization:
      info.stageCount = 1;
      info.pStages = stages_.data();
      info.pViewportState = &viewport_;
      info.pRasterizationState = &raster_;
      info.pDynamicState = &dynamic_;
      info.layout = graphics_.layout;
      break;
    case LibraryPart::kFragmentShader:
      // The stages are sorted, and the vertex stage is the first of them; a pipeline without a
      // fragment stage has a part without stages.
      info.stageCount = static_cast<uint32_t>(stages_.size()) - 1;
      info.pStages = stages_.data() + 1;
      info.pMultisampleState = &multisample_;
      info.pDepthStencilState = &depth_stencil_;
      info.pDynamicState = &dynamic_;
      info.layout = graphics_.layout;
      break;
    case LibraryPart::kFragmentOutput:
      info.pMultisampleState = &multisample_;
      info.pDepthStencilState = &depth_stencil_;  // as for Link
      info.pColorBlendState = &blend_;
      break;
  }
  return device.table().CreateGraphicsPipelines(device.handle(), cache, 1, &info, nullptr,
                                                pipeline);
}

// The flag for an optimised link is left out: this link has to be fast, and a full creation follows
// in the background.
VkResult CreateInfo::Link(const runtime::Device& device, VkPipelineCache cache,
                          const std::array<VkPipeline, kLibraryParts>& parts,
                          VkPipeline* pipeline) const {
  VkPipelineLibraryCreateInfoKHR libraries{};
  libraries.sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR;
  libraries.libraryCount = static_cast<uint32_t>(parts.size());
  libraries.pLibraries = parts.data();
  VkGraphicsPipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
  info.pNext = &libraries;
  // Drivers ignore what the parts have; validation 1.3.239 looks for it here all the same.
  info.pDepthStencilState = &depth_stencil_;
  info.pColorBlendState = &blend_;
  info.layout = graphics_.layout;
  return device.table().CreateGraphicsPipelines(device.handle(), cache, 1, &info, nullptr,
                                                pipeline);
}

}  // namespace kiln::runtime
