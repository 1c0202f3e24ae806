// SPDX-License-Identifier: MIT
// Descriptor sets from metadata: every resource of a set is looked up by its name and written to
// the binding that metadata gives it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "runtime/pipeline/pipelines.h"

namespace kiln::preview {

// What a name stands for. Handles belong to the caller and outlive the sets. A buffer or sampler
// alone is every item of an array.
using Resource = std::variant<VkBuffer, VkSampler, std::vector<VkImageView>,
                              std::vector<VkBufferView>, std::vector<VkBuffer>>;

// By the name of the declaration.
using ResourceTable = std::map<std::string, Resource, std::less<>>;

// Allocates sets from pools of its own. The device outlives it. One thread at a time.
class DescriptorSets {
 public:
  explicit DescriptorSets(const runtime::Device& device) : device_(&device) {}

  // The sets 0 to set_count − 1 of the pipeline, written. Empty sets are allocated, too.
  // Errors: kNotFound naming a resource that the table lacks, or that is of another kind; all items
  //         of an array must be there.
  Result<std::vector<VkDescriptorSet>> Make(const artifact::PipelineMetadata& metadata,
                                            const runtime::LayoutSet& layouts,
                                            const ResourceTable& resources);

 private:
  Result<VkDescriptorSet> Allocate(VkDescriptorSetLayout layout, const artifact::Set& set);
  Result<void> Write(VkDescriptorSet handle, const artifact::Set& set,
                     const ResourceTable& resources);

  const runtime::Device* device_;
  std::vector<vk::UniqueDescriptorPool> pools_;  // one per set: few sets, no fragmentation
};

}  // namespace kiln::preview
