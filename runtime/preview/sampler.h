// SPDX-License-Identifier: MIT
// Samplers by what they are for.
#pragma once

#include "runtime/vk/device.h"
#include "runtime/vk/unique.h"

namespace kiln::preview {

struct SamplerInfo {
  VkFilter filter = VK_FILTER_LINEAR;
  VkSamplerAddressMode address = VK_SAMPLER_ADDRESS_MODE_REPEAT;
  bool comparison = false;  // less or equal
};

Result<vk::UniqueSampler> CreateSampler(const runtime::Device& device, const SamplerInfo& info);

}  // namespace kiln::preview
