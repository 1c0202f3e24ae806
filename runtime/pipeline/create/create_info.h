// SPDX-License-Identifier: MIT
// Vulkan's create structures for one pipeline description, pointing into each other.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/pipeline/pipeline_report.h"

namespace kiln::runtime {

// What a graphics pipeline can be linked from. See spec/pso 7.9
enum class LibraryPart : uint8_t {
  kVertexInput,
  kPreRasterization,
  kFragmentShader,
  kFragmentOutput
};
inline constexpr size_t kLibraryParts = 4;

// What the driver tells about a creation.
class CreateInfo {
 public:
  // Views `desc`, which must outlive it. `modules` are in the order of desc.stages.
  // Requires: CheckDevice(desc, caps) succeeded.
  CreateInfo(const PipelineDesc& desc, const DeviceCaps& caps,
             std::span<const VkShaderModule> modules, VkPipelineLayout layout);
  CreateInfo(const CreateInfo&) = delete;
  CreateInfo& operator=(const CreateInfo&) = delete;

  // `flags`: VK_PIPELINE_CREATE_…; `cache` and `feedback` may be null.
  VkResult Create(const runtime::Device& device, VkPipelineCache cache, VkPipelineCreateFlags flags,
                  CreationFeedback* feedback, VkPipeline* pipeline) const;

  // A part of a graphics pipeline, and the pipeline that all four make.
  // Requires: CanLinkFast(caps).
  VkResult CreatePart(const runtime::Device& device, VkPipelineCache cache, LibraryPart part,
                      VkPipeline* pipeline) const;
  VkResult Link(const runtime::Device& device, VkPipelineCache cache,
                const std::array<VkPipeline, kLibraryParts>& parts, VkPipeline* pipeline) const;

 private:
  void FillVertexInput(const PipelineDesc& desc, const DeviceCaps& caps);
  void FillFixedFunction(const PipelineDesc& desc);
  void FillTargets(const PipelineDesc& desc);

  VkPipelineBindPoint bind_point_;
  VkSpecializationInfo specialization_ = {};
  std::vector<VkPipelineShaderStageCreateInfo> stages_;
  std::vector<VkVertexInputAttributeDescription> attributes_;
  VkPipelineVertexInputStateCreateInfo vertex_input_ = {};
  VkPipelineInputAssemblyStateCreateInfo input_assembly_ = {};
  VkPipelineViewportStateCreateInfo viewport_ = {};
  VkPipelineRasterizationStateCreateInfo raster_ = {};
  VkPipelineMultisampleStateCreateInfo multisample_ = {};
  VkPipelineDepthStencilStateCreateInfo depth_stencil_ = {};
  VkPipelineColorBlendStateCreateInfo blend_ = {};
  VkPipelineDynamicStateCreateInfo dynamic_ = {};
  VkPipelineRenderingCreateInfo rendering_ = {};
  VkGraphicsPipelineCreateInfo graphics_ = {};
  VkComputePipelineCreateInfo compute_ = {};
};

}  // namespace kiln::runtime
