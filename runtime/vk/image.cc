// SPDX-License-Identifier: MIT
#include "runtime/vk/image.h"

#include <fmt/format.h>

#include "runtime/vk/pass_signature.h"

namespace kiln::vk {
namespace {

// Cubes are layers of two dimensions.
VkImageType TypeFor(VkImageViewType view_type) {
  if (view_type == VK_IMAGE_VIEW_TYPE_1D || view_type == VK_IMAGE_VIEW_TYPE_1D_ARRAY) {
    return VK_IMAGE_TYPE_1D;
  }
  return view_type == VK_IMAGE_VIEW_TYPE_3D ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
}

Result<UniqueImage> CreateHandle(const runtime::Device& device, const ImageInfo& info) {
  VkImageCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  create.flags = CreateFlagsFor(info.view_type);
  create.imageType = TypeFor(info.view_type);
  create.format = info.format;
  create.extent = info.extent;
  create.mipLevels = info.levels;
  create.arrayLayers = info.layers;
  create.samples = info.samples;
  // Images are filled by copies from buffers, never by the host, so the layout of bytes is the
  // driver's.
  create.tiling = VK_IMAGE_TILING_OPTIMAL;
  create.usage = info.usage;
  create.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  create.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  VkImage handle = VK_NULL_HANDLE;
  KILN_TRY_VK(device.table().CreateImage(device.handle(), &create, nullptr, &handle),
              fmt::format("create an image of {}x{}x{}", info.extent.width, info.extent.height,
                          info.extent.depth));
  return UniqueImage(device.table(), device.handle(), handle);
}

Result<UniqueImageView> CreateView(const runtime::Device& device, const Image& image) {
  VkImageViewCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  create.image = image.handle.get();
  create.viewType = image.info.view_type;
  create.format = image.info.format;
  // A view that is sampled has one aspect; depth-stencil images are sampled for their depth.
  const VkImageAspectFlags aspects = image.aspects();
  const bool sampled = (image.info.usage & VK_IMAGE_USAGE_SAMPLED_BIT) != 0;
  create.subresourceRange.aspectMask = aspects;
  if (sampled && (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) != 0) {
    create.subresourceRange.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT;
  }
  create.subresourceRange.levelCount = image.info.levels;
  create.subresourceRange.layerCount = image.info.layers;
  VkImageView handle = VK_NULL_HANDLE;
  KILN_TRY_VK(device.table().CreateImageView(device.handle(), &create, nullptr, &handle),
              "create an image view");
  return UniqueImageView(device.table(), device.handle(), handle);
}

}  // namespace

VkImageCreateFlags CreateFlagsFor(VkImageViewType view_type) {
  const bool cubes =
      view_type == VK_IMAGE_VIEW_TYPE_CUBE || view_type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
  return cubes ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
}

VkImageAspectFlags Image::aspects() const {
  const VkImageAspectFlags aspects = runtime::DepthStencilAspects(info.format);
  // Whatever has neither depth nor stencil is a colour.
  return aspects != 0 ? aspects : VkImageAspectFlags{VK_IMAGE_ASPECT_COLOR_BIT};
}

Result<Image> CreateImage(const runtime::Device& device, Memory& memory, const ImageInfo& info) {
  Image image;
  image.info = info;
  KILN_TRY(image.handle, CreateHandle(device, info));
  // Memory of images and of buffers may need a gap between them, so the allocator is told which it
  // is.
  VkMemoryRequirements needs{};
  device.table().GetImageMemoryRequirements(device.handle(), image.handle.get(), &needs);
  KILN_TRY(image.allocation, memory.Allocate(needs, MemoryUse::kDevice, MemoryKind::kImage));
  KILN_TRY_VK(device.table().BindImageMemory(device.handle(), image.handle.get(),
                                             image.allocation.memory(), image.allocation.offset()),
              "bind memory to an image");
  // Last: a view can be made only of an image that has memory.
  KILN_TRY(image.view, CreateView(device, image));
  return image;
}

void Transition(const Table& table, VkCommandBuffer commands, const Image& image,
                const ImageUse& from, const ImageUse& to) {
  VkImageMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  barrier.srcStageMask = from.stages;
  barrier.srcAccessMask = from.access;
  barrier.dstStageMask = to.stages;
  barrier.dstAccessMask = to.access;
  barrier.oldLayout = from.layout;
  barrier.newLayout = to.layout;
  // No change of owner: there is one queue family.
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image.handle.get();
  // The image as a whole, all levels and layers: users of this class change nothing in parts.
  barrier.subresourceRange = {image.aspects(), 0, VK_REMAINING_MIP_LEVELS, 0,
                              VK_REMAINING_ARRAY_LAYERS};
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  table.CmdPipelineBarrier2(commands, &dependency);
}

}  // namespace kiln::vk
