// SPDX-License-Identifier: MIT
// Descriptor set layouts and pipeline layouts, made once per content: variants of one family get
// the same objects, so their descriptor sets and push data stay bound while pipelines switch.
// See spec/pso 6.3, 6.4
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/vk/unique.h"

namespace kiln::runtime {

// What a draw binds to. Handles belong to PipelineLayouts.
struct LayoutSet {
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::array<VkDescriptorSetLayout, kSetCount> sets = {};  // null beyond set_count
  uint32_t set_count = 0;                                  // up to the highest used set
  VkShaderStageFlags stages = 0;                           // of every binding and of push constants
  uint32_t push_size = 0;
  // Grows when a reload moves the id to other layouts: sets that were written for the old ones must
  // be written anew.
  uint32_t generation = 0;
};

// One thread at a time. The device outlives it.
class PipelineLayouts {
 public:
  explicit PipelineLayouts(const Device& device) : device_(&device) {}

  Result<LayoutSet> Get(const PipelineDesc& desc);

  size_t set_layout_count() const { return set_layouts_.size(); }
  size_t pipeline_layout_count() const { return pipeline_layouts_.size(); }

 private:
  // (binding, type, count), ascending, behind the stage flags.
  using SetKey = std::pair<VkShaderStageFlags, std::vector<std::array<uint32_t, 3>>>;
  using LayoutKey =
      std::tuple<std::array<VkDescriptorSetLayout, kSetCount>, uint32_t, VkShaderStageFlags>;

  Result<VkDescriptorSetLayout> GetSet(const SetDesc& set, VkShaderStageFlags stages);

  const Device* device_;
  std::map<SetKey, vk::UniqueSetLayout> set_layouts_;
  std::map<LayoutKey, vk::UniquePipelineLayout> pipeline_layouts_;
};

}  // namespace kiln::runtime
