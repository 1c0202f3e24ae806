// SPDX-License-Identifier: MIT
// Brings pictures and meshes into device memory.
#include "runtime/preview/upload.h"

#include <algorithm>

namespace kiln::preview {
namespace {

constexpr VkDeviceSize kLevelAlignment = 16;  // of the largest texel

VkDeviceSize AlignUp(VkDeviceSize value) {
  return (value + kLevelAlignment - 1) / kLevelAlignment * kLevelAlignment;
}

}  // namespace

// Waits until the copy is done, so that the staging buffer may go at the end. Right for previews,
// too slow for a frame.
Result<Target> UploadImage(const runtime::Device& device, vk::Memory& memory, vk::Queue& queue,
                           const ImageData& data) {
  // All levels lie one behind the other in one staging buffer, and one command copies them.
  VkDeviceSize size = 0;
  std::vector<VkBufferImageCopy> regions;
  VkExtent3D extent = {data.extent.width, data.extent.height, 1};
  for (size_t level = 0; level < data.levels.size(); ++level) {
    VkBufferImageCopy region{};
    region.bufferOffset = size;
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, static_cast<uint32_t>(level), 0, 1};
    region.imageExtent = extent;
    regions.push_back(region);
    size = AlignUp(size + data.levels[level].size());
    extent = {std::max(extent.width / 2, 1U), std::max(extent.height / 2, 1U), 1};
  }
  KILN_TRY(const vk::Buffer staging,
           vk::CreateBuffer(device, memory, std::max(size, kLevelAlignment),
                            VK_BUFFER_USAGE_TRANSFER_SRC_BIT, vk::MemoryUse::kUpload));
  for (size_t level = 0; level < data.levels.size(); ++level) {
    std::ranges::copy(
        data.levels[level],
        staging.mapped().begin() + static_cast<std::ptrdiff_t>(regions[level].bufferOffset));
  }
  Target target;
  KILN_TRY(target.image, vk::CreateImage(device, memory,
                                         {.format = data.format,
                                          .extent = {data.extent.width, data.extent.height, 1},
                                          .levels = static_cast<uint32_t>(data.levels.size()),
                                          .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                                                   VK_IMAGE_USAGE_TRANSFER_DST_BIT}));
  KILN_TRY(const VkCommandBuffer commands, queue.Begin());
  Transition(device.table(), commands, target, kCopyDestination);
  device.table().CmdCopyBufferToImage(commands, staging.handle.get(), target.image.handle.get(),
                                      target.last.layout, static_cast<uint32_t>(regions.size()),
                                      regions.data());
  Transition(device.table(), commands, target, kSampled);
  KILN_TRY(const uint64_t done, queue.Submit(commands));
  KILN_TRY_VOID(queue.Wait(done));
  return target;
}

// Never empty, as Vulkan has no buffers of zero bytes, and the rest is cleared, because shaders
// read whole vectors.
Result<vk::Buffer> UploadBuffer(const runtime::Device& device, vk::Memory& memory,
                                std::span<const std::byte> bytes, VkBufferUsageFlags usage) {
  constexpr size_t kLeast = 16;
  KILN_TRY(vk::Buffer buffer, vk::CreateBuffer(device, memory, std::max(bytes.size(), kLeast),
                                               usage, vk::MemoryUse::kUpload));
  const auto rest = std::ranges::copy(bytes, buffer.mapped().begin()).out;
  std::fill(rest, buffer.mapped().end(), std::byte{0});
  return buffer;
}

}  // namespace kiln::preview
