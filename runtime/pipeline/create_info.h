// SPDX-License-Identifier: MIT
// Vulkan's create structures for one pipeline description, pointing into each other.
#pragma once

#include <span>
#include <vector>

#include "runtime/pipeline/pipeline_desc.h"

namespace kiln::runtime {

class CreateInfo {
 public:
  // Views `desc`, which must outlive it. `modules` are in the order of desc.stages.
  // Requires: CheckDevice(desc, caps) succeeded.
  CreateInfo(const PipelineDesc& desc, const DeviceCaps& caps,
             std::span<const VkShaderModule> modules, VkPipelineLayout layout);
  CreateInfo(const CreateInfo&) = delete;
  CreateInfo& operator=(const CreateInfo&) = delete;

  VkResult Create(const vk::Table& table, VkDevice device, VkPipeline* pipeline) const;

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
