// SPDX-License-Identifier: MIT
// Images and texel buffers on a device whose texels say where they are, for tests of every type of
// images that metadata have.
#pragma once

#include <deque>
#include <vector>

#include "runtime/preview/target.h"
#include "runtime/vk/buffer.h"
#include "tests/support/pixel_rig.h"

namespace kiln::hlsl {

struct DeviceImageInfo {
  VkImageViewType view = VK_IMAGE_VIEW_TYPE_2D;
  VkFormat format = VK_FORMAT_R32_SFLOAT;  // or R32_UINT, R32_SINT, D32_SFLOAT
  VkExtent3D extent = {4, 1, 1};
  uint32_t layers = 1;
  bool multisampled = false;
  bool storage = false;
};

// Owns what it makes. A texel is layer x 100 + z x 50 + y x 10 + x, and of depths a thousandth of
// that; all texels of a layer of several samples are layer x 100 + 7.
class DeviceImages {
 public:
  explicit DeviceImages(oracle::PixelRig& rig) : rig_(rig) {}

  Result<std::vector<VkImageView>> Make(const DeviceImageInfo& info);
  // A view of a buffer of these words, kept for reading back.
  Result<std::vector<VkBufferView>> MakeTexels(const std::vector<uint32_t>& words, VkFormat format,
                                               bool storage);
  // What is in the buffer that was made as the `index`th.
  std::vector<uint32_t> Words(size_t index) const;

 private:
  Result<void> Copy(VkCommandBuffer commands, const DeviceImageInfo& info, preview::Target& target,
                    vk::Buffer& staging);
  void Clear(VkCommandBuffer commands, const DeviceImageInfo& info, preview::Target& target);

  oracle::PixelRig& rig_;
  std::deque<preview::Target> images_;
  std::deque<vk::Buffer> buffers_;
  std::deque<vk::UniqueBufferView> views_;
};

}  // namespace kiln::hlsl
