// SPDX-License-Identifier: MIT
// An image with its memory and one view of all of it.
#pragma once

#include "runtime/vk/memory.h"

namespace kiln::vk {

struct ImageInfo {
  VkImageViewType view_type = VK_IMAGE_VIEW_TYPE_2D;  // any of the seven
  VkFormat format = VK_FORMAT_UNDEFINED;
  VkExtent3D extent = {1, 1, 1};
  uint32_t levels = 1;
  uint32_t layers = 1;  // 6 for cubes, a multiple of it for arrays of them
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  VkImageUsageFlags usage = 0;
};

struct Image {
  Allocation allocation;  // outlives the handles
  UniqueImage handle;
  UniqueImageView view;
  ImageInfo info;

  VkImageAspectFlags aspects() const;  // of the whole image
};

// What an image must be made with so that it has such a view: cubes are layers of a 2D image, which
// must be told of them.
VkImageCreateFlags CreateFlagsFor(VkImageViewType view_type);

Result<Image> CreateImage(const runtime::Device& device, Memory& memory, const ImageInfo& info);

// How an image is used next, or was used last.
struct ImageUse {
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_NONE;
  VkAccessFlags2 access = VK_ACCESS_2_NONE;
};

// Records the barrier from one use of all levels and layers to another.
void Transition(const Table& table, VkCommandBuffer commands, const Image& image,
                const ImageUse& from, const ImageUse& to);

}  // namespace kiln::vk
