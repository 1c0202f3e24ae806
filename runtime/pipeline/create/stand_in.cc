// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/stand_in.h"

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::runtime {

using artifact::ImageDim;
using artifact::ImageRole;
using artifact::ImageType;
using artifact::OutputItem;

VkImageViewType ViewTypeOf(ImageType type) {
  const artifact::ImageTypeFacts& facts = FactsOf(type);
  switch (facts.dim) {
    case ImageDim::k1d:
      return facts.arrayed ? VK_IMAGE_VIEW_TYPE_1D_ARRAY : VK_IMAGE_VIEW_TYPE_1D;
    case ImageDim::k2d:
      return facts.arrayed ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
    case ImageDim::k3d:
      return VK_IMAGE_VIEW_TYPE_3D;
    case ImageDim::kCube:
      return facts.arrayed ? VK_IMAGE_VIEW_TYPE_CUBE_ARRAY : VK_IMAGE_VIEW_TYPE_CUBE;
    case ImageDim::kBuffer:
      break;
  }
  KILN_UNREACHABLE();
}

uint32_t LeastLayers(VkImageViewType view) {
  return view == VK_IMAGE_VIEW_TYPE_CUBE || view == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY ? 6 : 1;
}

VkFormat StandInFormat(ImageType type, OutputItem item, VkFormat declared) {
  if (declared != VK_FORMAT_UNDEFINED) {
    return declared;
  }
  const artifact::ImageTypeFacts& facts = FactsOf(type);
  if (facts.role == ImageRole::kDepth) {
    return facts.dim == ImageDim::k3d ? VK_FORMAT_R32_SFLOAT : VK_FORMAT_D32_SFLOAT;
  }
  switch (item) {
    case OutputItem::kFloat:
      return VK_FORMAT_R8G8B8A8_UNORM;
    case OutputItem::kUint:
      return VK_FORMAT_R8G8B8A8_UINT;
    case OutputItem::kSint:
      return VK_FORMAT_R8G8B8A8_SINT;
  }
  KILN_UNREACHABLE();
}

// A shader that reads samples must not meet an image that has one only, so the first bit is left
// out. Bits are powers of two in ascending order.
Result<VkSampleCountFlagBits> StandInSamples(ImageType type, OutputItem item,
                                             const DeviceCaps& caps) {
  const artifact::ImageTypeFacts& facts = FactsOf(type);
  if (!facts.multisampled) {
    return VK_SAMPLE_COUNT_1_BIT;
  }
  const VkPhysicalDeviceLimits& limits = caps.limits;
  VkSampleCountFlags counts = facts.role == ImageRole::kStorage ? limits.storageImageSampleCounts
                              : facts.role == ImageRole::kDepth
                                  ? limits.sampledImageDepthSampleCounts
                              : item == OutputItem::kFloat ? limits.sampledImageColorSampleCounts
                                                           : limits.sampledImageIntegerSampleCounts;
  counts &= ~VkSampleCountFlags{VK_SAMPLE_COUNT_1_BIT};
  if (counts == 0) {
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("{} of {} with several samples are not offered by {}", NameOf(type),
                             NameOf(item), caps.device_name),
                 "UNSUPPORTED"};
  }
  return static_cast<VkSampleCountFlagBits>(counts & (~counts + 1));
}

}  // namespace kiln::runtime
