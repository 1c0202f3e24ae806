// SPDX-License-Identifier: MIT
#include "runtime/graph/device_model.h"

#include <algorithm>

namespace kiln::graph {
namespace {

// Every field that the driver's answer may depend on; a field that is added to the description must
// be compared here too.
bool SameDesc(const TextureDesc& a, const TextureDesc& b) {
  return a.type == b.type && a.format == b.format && a.size.width == b.size.width &&
         a.size.height == b.size.height && a.size.depth == b.size.depth && a.mips == b.mips &&
         a.layers == b.layers && a.samples == b.samples && a.extra_usage == b.extra_usage &&
         a.flags == b.flags;
}

// Whether optimal tiling has what the usage asks for.
bool HasUsage(const runtime::Device& device, const TextureDesc& desc) {
  struct Need {
    VkImageUsageFlags usage;
    VkFormatFeatureFlags feature;
  };
  // Transfers are not asked for: what can be an attachment or sampled can be copied.
  constexpr Need kNeeds[] = {
      {VK_IMAGE_USAGE_SAMPLED_BIT, VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT},
      {VK_IMAGE_USAGE_STORAGE_BIT, VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT},
      {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT},
      {VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT},
  };
  const VkFormatFeatureFlags offered = device.caps().Format(desc.format).optimalTilingFeatures;
  // A format that offers nothing is not supported at all.
  return offered != 0 && std::all_of(std::begin(kNeeds), std::end(kNeeds), [&](const Need& need) {
           return (desc.extra_usage & need.usage) == 0 || (offered & need.feature) != 0;
         });
}

}  // namespace

VkImageCreateInfo ImageInfoOf(const TextureDesc& desc) {
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.flags = desc.flags;
  info.imageType = desc.type;
  info.format = desc.format;
  info.extent = desc.size;
  info.mipLevels = desc.mips;
  info.arrayLayers = desc.layers;
  info.samples = desc.samples;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = desc.extra_usage;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  return info;
}

VkImageCreateInfo ImageInfoOf(const ChainRow& chain) { return ImageInfoOf(chain.Texture()); }

DeviceModel::DeviceModel(const runtime::Device& device) : device_(device) {
  const VkPhysicalDeviceLimits& limits = device.caps().limits;
  // One alignment for all uses of a buffer: how a part of it will be used is declared later than it
  // is placed, and the greatest of these limits is small.
  buffer_alignment_ =
      std::max({limits.minStorageBufferOffsetAlignment, limits.minUniformBufferOffsetAlignment,
                limits.minTexelBufferOffsetAlignment, limits.optimalBufferCopyOffsetAlignment,
                limits.nonCoherentAtomSize, VkDeviceSize{16}});
  // The model is part of the structure of a plan. Plans of another device must not be found, and 0
  // and 1 are models without a device.
  identity_ = 2 + (uint64_t{device.identity().device_id} << 32 | device.identity().vendor_id);
}

// Asked for each texture of each frame that is planned, while the driver answers slowly. A frame
// has few different descriptions, so a list is searched.
bool DeviceModel::Texture(const TextureDesc& desc, MemoryNeeds& needs) {
  for (const Row& row : rows_) {
    if (SameDesc(row.desc, desc)) {
      needs = row.needs;
      return row.known;
    }
  }
  // What is not supported is remembered as well: the same wrong declaration comes again in every
  // frame until somebody mends it.
  Row row{.desc = desc, .known = HasUsage(device_, desc), .needs = {}};
  if (row.known) {
    const VkImageCreateInfo image = ImageInfoOf(desc);
    VkDeviceImageMemoryRequirements info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS;
    info.pCreateInfo = &image;
    VkMemoryDedicatedRequirements dedicated{};
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS;
    VkMemoryRequirements2 out{};
    out.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2;
    out.pNext = &dedicated;
    // Asked of the description, without creating an image: a plan only needs numbers.
    device_.table().GetDeviceImageMemoryRequirements(device_.handle(), &info, &out);
    row.needs = {.size = out.memoryRequirements.size,
                 .alignment = out.memoryRequirements.alignment,
                 .types = out.memoryRequirements.memoryTypeBits,
                 // Only what the driver requires; a mere preference for memory of its own would
                 // take textures out of the packing.
                 .dedicated = dedicated.requiresDedicatedAllocation == VK_TRUE};
  }
  rows_.push_back(row);
  needs = row.needs;
  return row.known;
}

MemoryNeeds DeviceModel::Buffer(const BufferDesc& desc) {
  // Sizes are rounded up as well, so that two buffers behind each other both begin aligned.
  const uint64_t units = (desc.size + buffer_alignment_ - 1) / buffer_alignment_;
  return {.size = units * buffer_alignment_,
          .alignment = buffer_alignment_,
          // All types of memory: which one is taken is decided by the memory kind of the buffer.
          .types = 0xFFFFFFFF,
          .dedicated = false};
}

}  // namespace kiln::graph
