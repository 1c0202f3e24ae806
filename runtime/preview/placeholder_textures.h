// SPDX-License-Identifier: MIT
// Images and texel buffers that stand in for what a material would read: checkers, tints, depth 1.
// See spec/pso 10.5
#pragma once

#include <deque>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "runtime/preview/image_file.h"
#include "runtime/preview/upload.h"

namespace kiln::preview {

// Owns what it makes. The device, the memory and the queue outlive it. One thread.
class PlaceholderTextures {
 public:
  PlaceholderTextures(const runtime::Device& device, vk::Memory& memory, vk::Queue& queue)
      : device_(device), memory_(memory), queue_(queue) {}

  // A view for each item of the image's array, ready to be bound.
  Result<std::vector<VkImageView>> Make(const artifact::Image& image);
  // The same for a texel buffer.
  Result<std::vector<VkBufferView>> MakeTexels(const artifact::Image& image);
  // The picture, for every item of the array.
  Result<std::vector<VkImageView>> Use(const artifact::Image& image, const Picture& picture);

 private:
  struct Layers {
    VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkImageUsageFlags usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
    std::vector<std::vector<std::byte>> texels;  // of each layer, 1 × 1
  };
  static ImageUse UseOf(const Layers& layers);
  void Clear(VkCommandBuffer commands, const Target& target) const;
  Result<VkImageView> Upload(const Layers& layers);
  Result<VkImageView> Checker(uint32_t item);

  const runtime::Device& device_;
  vk::Memory& memory_;
  vk::Queue& queue_;
  std::deque<Target> images_;
  std::deque<vk::Buffer> buffers_;
  std::deque<vk::UniqueBufferView> texels_;
};

}  // namespace kiln::preview
