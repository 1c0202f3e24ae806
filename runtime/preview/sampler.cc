// SPDX-License-Identifier: MIT
#include "runtime/preview/sampler.h"

namespace kiln::preview {

Result<vk::UniqueSampler> CreateSampler(const runtime::Device& device, const SamplerInfo& info) {
  VkSamplerCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
  create.magFilter = info.filter;
  create.minFilter = info.filter;
  create.mipmapMode = info.filter == VK_FILTER_LINEAR ? VK_SAMPLER_MIPMAP_MODE_LINEAR
                                                      : VK_SAMPLER_MIPMAP_MODE_NEAREST;
  create.addressModeU = info.address;
  create.addressModeV = info.address;
  create.addressModeW = info.address;
  // All levels of a texture may be read.
  create.maxLod = VK_LOD_CLAMP_NONE;
  create.compareEnable = info.comparison ? VK_TRUE : VK_FALSE;
  // Usual for shadow maps; without a comparison it means nothing.
  create.compareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
  VkSampler handle = VK_NULL_HANDLE;
  KILN_TRY_VK(device.table().CreateSampler(device.handle(), &create, nullptr, &handle),
              "create a sampler");
  return vk::UniqueSampler(device.table(), device.handle(), handle);
}

}  // namespace kiln::preview
