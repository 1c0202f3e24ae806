// SPDX-License-Identifier: MIT
// Layouts of sets and pipelines, made once for each content (spec/pso). Pipelines that share a
// layout keep their sets bound when one follows the other. The caller's lock guards both maps;
// nothing in them is removed before the device goes.
#include "runtime/pipeline/pipeline_layouts.h"

#include <utility>

namespace kiln::runtime {

Result<VkDescriptorSetLayout> PipelineLayouts::GetSet(const SetDesc& set,
                                                      VkShaderStageFlags stages) {
  // Names are no part of the key, so programs that name the same bindings differently share a
  // layout.
  SetKey key{stages, {}};
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (const BindingDesc& binding : set) {
    key.second.push_back({binding.binding, static_cast<uint32_t>(binding.type), binding.count});
    // Every binding is visible to the same stages, so those are in the key once.
    bindings.push_back({binding.binding, binding.type, binding.count, stages, nullptr});
  }
  if (const auto known = set_layouts_.find(key); known != set_layouts_.end()) {
    return known->second.get();
  }
  VkDescriptorSetLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  info.bindingCount = static_cast<uint32_t>(bindings.size());
  info.pBindings = bindings.data();
  VkDescriptorSetLayout handle = VK_NULL_HANDLE;
  KILN_TRY_VK(
      device_->table().CreateDescriptorSetLayout(device_->handle(), &info, nullptr, &handle),
      "create a descriptor set layout");
  set_layouts_.emplace(std::move(key),
                       vk::UniqueSetLayout(device_->table(), device_->handle(), handle));
  return handle;
}

// A set that is empty in the middle keeps its number, since shaders name sets by number.
Result<LayoutSet> PipelineLayouts::Get(const PipelineDesc& desc) {
  LayoutSet out{.stages = desc.layout_stages, .push_size = desc.push_size};
  // Sets behind the last one in use are left out, as they would only cost entries in the layout.
  for (uint32_t i = 0; i < kSetCount; ++i) {
    out.set_count = desc.sets[i].empty() ? out.set_count : i + 1;
  }
  for (uint32_t i = 0; i < out.set_count; ++i) {  // a gap gets the one empty layout
    KILN_TRY(out.sets[i], GetSet(desc.sets[i], desc.layout_stages));
  }
  // Handles of set layouts are unique by content, so they can stand for it.
  const LayoutKey key{out.sets, out.push_size, out.stages};
  if (const auto known = pipeline_layouts_.find(key); known != pipeline_layouts_.end()) {
    out.layout = known->second.get();
    return out;
  }
  const VkPushConstantRange push{out.stages, 0, out.push_size};
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.setLayoutCount = out.set_count;
  info.pSetLayouts = out.sets.data();
  // An empty range is invalid in Vulkan.
  info.pushConstantRangeCount = out.push_size == 0 ? 0 : 1;
  info.pPushConstantRanges = &push;
  KILN_TRY_VK(device_->table().CreatePipelineLayout(device_->handle(), &info, nullptr, &out.layout),
              "create a pipeline layout");
  pipeline_layouts_.emplace(
      key, vk::UniquePipelineLayout(device_->table(), device_->handle(), out.layout));
  return out;
}

}  // namespace kiln::runtime
