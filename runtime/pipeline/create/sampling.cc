// SPDX-License-Identifier: MIT
// Whether a device can filter all images of a pipeline linearly, which decides over the samplers
// that a warm-up draw binds.
#include "runtime/pipeline/create/sampling.h"

#include <algorithm>

namespace kiln::runtime {
namespace {

bool IsDepthImage(const BindingDesc& binding) {
  return (binding.type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE ||
          binding.type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER) &&
         FactsOf(binding.image).role == artifact::ImageRole::kDepth;
}

}  // namespace

bool CanFilterAll(const PipelineDesc& desc, const DeviceCaps& caps) {
  // One format is asked about for all depth images, because it is the one that a warm-up draw binds
  // if nothing better is known.
  if ((caps.Format(VK_FORMAT_D32_SFLOAT).optimalTilingFeatures &
       VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT) != 0) {
    return true;
  }
  return std::ranges::none_of(
      desc.sets, [](const SetDesc& set) { return std::ranges::any_of(set, IsDepthImage); });
}

}  // namespace kiln::runtime
