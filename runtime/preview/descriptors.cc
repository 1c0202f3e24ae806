// SPDX-License-Identifier: MIT
// Descriptor sets of a preview: one pool and one set for each set of the artifact, filled once from
// a table of named resources.
#include "runtime/preview/descriptors.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "runtime/pipeline/create/stand_in.h"
#include "runtime/pipeline/create/to_vulkan.h"

namespace kiln::preview {
namespace {

using runtime::ToVulkan;

// With a sampler an image is a combined image sampler.
VkDescriptorType DescriptorOf(const artifact::Image& image) {
  return image.sampler.empty() ? ToVulkan(image.type) : VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
}

// Collects the writes of one set; the infos stay where they are until the update.
class SetWrites {
 public:
  SetWrites(VkDescriptorSet set, const ResourceTable& resources)
      : set_(set), resources_(resources) {}

  Result<void> AddBuffer(const artifact::Buffer& buffer) {
    const uint32_t count = std::max(buffer.array_size, 1U);
    std::vector<VkDescriptorBufferInfo>& infos = buffers_.emplace_back();
    // Whole buffers are bound, as each was made for this one binding.
    if (const auto* const list = FindIf<std::vector<VkBuffer>>(buffer.name)) {
      KILN_TRY_VOID(CheckCount(buffer.name, "buffer", list->size(), count));
      for (uint32_t i = 0; i < count; ++i) {
        infos.push_back({(*list)[i], 0, VK_WHOLE_SIZE});
      }
    } else {
      KILN_TRY(const VkBuffer handle, Find<VkBuffer>(buffer.name, "buffer"));
      infos.assign(count, {handle, 0, VK_WHOLE_SIZE});
    }
    Add(buffer.binding, ToVulkan(buffer.type), count).pBufferInfo = infos.data();
    return {};
  }
  Result<void> AddSampler(const artifact::Sampler& sampler) {
    KILN_TRY(const VkSampler handle, Find<VkSampler>(sampler.name, "sampler"));
    const uint32_t count = std::max(sampler.array_size, 1U);
    images_.emplace_back(count,
                         VkDescriptorImageInfo{handle, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED});
    Add(sampler.binding, VK_DESCRIPTOR_TYPE_SAMPLER, count).pImageInfo = images_.back().data();
    return {};
  }
  Result<void> AddImage(const artifact::Image& image) {
    const VkDescriptorType type = ToVulkan(image.type);
    if (runtime::IsTexelBuffer(type)) {
      return AddTexels(image, type);
    }
    KILN_TRY(const std::vector<VkImageView> views,
             Find<std::vector<VkImageView>>(image.name, "image"));
    KILN_TRY_VOID(CheckCount(image.name, "image", views.size(), image.image_array_size));
    // The layout has to be that in which the placeholder was left behind.
    const VkImageLayout layout = type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                                     ? VK_IMAGE_LAYOUT_GENERAL
                                     : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    VkSampler sampler = VK_NULL_HANDLE;
    if (!image.sampler.empty()) {
      KILN_TRY(sampler, Find<VkSampler>(image.sampler, "sampler"));
    }
    std::vector<VkDescriptorImageInfo>& infos = images_.emplace_back();
    for (uint32_t i = 0; i < image.image_array_size; ++i) {
      infos.push_back({sampler, views[i], layout});
    }
    Add(image.binding, DescriptorOf(image), image.image_array_size).pImageInfo = infos.data();
    return {};
  }

  void Update(const runtime::Device& device) const {
    device.table().UpdateDescriptorSets(device.handle(), static_cast<uint32_t>(writes_.size()),
                                        writes_.data(), 0, nullptr);
  }

 private:
  Result<void> AddTexels(const artifact::Image& image, VkDescriptorType type) {
    KILN_TRY(const std::vector<VkBufferView> views,
             Find<std::vector<VkBufferView>>(image.name, "texel buffer"));
    KILN_TRY_VOID(CheckCount(image.name, "texel buffer", views.size(), image.image_array_size));
    texels_.push_back(views);
    Add(image.binding, type, image.image_array_size).pTexelBufferView = texels_.back().data();
    return {};
  }
  static Result<void> CheckCount(const std::string& name, std::string_view kind, size_t given,
                                 uint32_t count) {
    if (given < count) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("{} '{}' has {} views of {}", kind, name, given, count), ""};
    }
    return {};
  }

  // Null for a resource of another kind, too.
  template <class T>
  const T* FindIf(const std::string& name) const {
    const auto found = resources_.find(name);
    return found == resources_.end() ? nullptr : std::get_if<T>(&found->second);
  }
  // A resource of another kind under the name is an error as well, since a view in the place of a
  // buffer would crash the driver.
  template <class T>
  Result<T> Find(const std::string& name, std::string_view kind) const {
    if (const T* const found = FindIf<T>(name)) {
      return *found;
    }
    return Error{ErrorCode::kNotFound, fmt::format("no {} is given for '{}'", kind, name), ""};
  }
  VkWriteDescriptorSet& Add(uint32_t binding, VkDescriptorType type, uint32_t count) {
    VkWriteDescriptorSet& write = writes_.emplace_back();
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set_;
    write.dstBinding = binding;
    write.descriptorCount = count;
    write.descriptorType = type;
    return write;
  }

  VkDescriptorSet set_;
  const ResourceTable& resources_;
  std::vector<VkWriteDescriptorSet> writes_;
  // Deques and not vectors: the writes point at the elements, which must not move when more are
  // added.
  std::deque<std::vector<VkDescriptorBufferInfo>> buffers_;
  std::deque<std::vector<VkDescriptorImageInfo>> images_;
  std::deque<std::vector<VkBufferView>> texels_;
};

// One pool per set: previews make a handful of sets, and a pool that fits exactly cannot run out.
std::vector<VkDescriptorPoolSize> PoolSizes(const artifact::Set& set) {
  // Counts by type, as one pool has one size for each type. Ordered, so that equal sets make equal
  // pools.
  std::map<VkDescriptorType, uint32_t> counts;
  for (const artifact::Buffer& buffer : set.buffers) {
    counts[ToVulkan(buffer.type)] += std::max(buffer.array_size, 1U);
  }
  for (const artifact::Image& image : set.images) {
    counts[DescriptorOf(image)] += image.image_array_size;
  }
  for (const artifact::Sampler& sampler : set.samplers) {
    counts[VK_DESCRIPTOR_TYPE_SAMPLER] += std::max(sampler.array_size, 1U);
  }
  std::vector<VkDescriptorPoolSize> sizes;
  for (const auto& [type, count] : counts) {
    if (count > 0) {
      sizes.push_back({type, count});
    }
  }
  // Vulkan wants at least one size, and a set in a gap of the layout has no bindings.
  if (sizes.empty()) {
    sizes.push_back({VK_DESCRIPTOR_TYPE_SAMPLER, 1});
  }
  return sizes;
}

}  // namespace

// A pool for each set: simple, and a preview has a handful of them.
Result<VkDescriptorSet> DescriptorSets::Allocate(VkDescriptorSetLayout layout,
                                                 const artifact::Set& set) {
  const vk::Table& table = device_->table();
  const std::vector<VkDescriptorPoolSize> sizes = PoolSizes(set);
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = static_cast<uint32_t>(sizes.size());
  // The vector lives until the pool has been made, which is all that Vulkan asks.
  pool_info.pPoolSizes = sizes.data();
  VkDescriptorPool pool = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateDescriptorPool(device_->handle(), &pool_info, nullptr, &pool),
              "create a descriptor pool");
  pools_.emplace_back(table, device_->handle(), pool);
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  VkDescriptorSet handle = VK_NULL_HANDLE;
  KILN_TRY_VK(table.AllocateDescriptorSets(device_->handle(), &info, &handle),
              "allocate a descriptor set");
  return handle;
}

// Every resource of the artifact must be in the table; the first that is missing ends the write
// with its name.
Result<void> DescriptorSets::Write(VkDescriptorSet handle, const artifact::Set& set,
                                   const ResourceTable& resources) {
  SetWrites writes(handle, resources);
  for (const artifact::Buffer& buffer : set.buffers) {
    KILN_TRY_VOID(writes.AddBuffer(buffer));
  }
  for (const artifact::Sampler& sampler : set.samplers) {
    KILN_TRY_VOID(writes.AddSampler(sampler));
  }
  for (const artifact::Image& image : set.images) {
    KILN_TRY_VOID(writes.AddImage(image));
  }
  writes.Update(*device_);
  return {};
}

// Sets up to the last one in use are made, empty ones as well, so that they can be bound in one
// call.
Result<std::vector<VkDescriptorSet>> DescriptorSets::Make(
    const artifact::PipelineMetadata& metadata, const runtime::LayoutSet& layouts,
    const ResourceTable& resources) {
  std::vector<VkDescriptorSet> sets;
  for (uint32_t i = 0; i < layouts.set_count; ++i) {
    // The order of the sets is that of their numbers.
    KILN_TRY(const VkDescriptorSet set, Allocate(layouts.sets[i], metadata.sets[i]));
    KILN_TRY_VOID(Write(set, metadata.sets[i], resources));
    sets.push_back(set);
  }
  return sets;
}

}  // namespace kiln::preview
