// SPDX-License-Identifier: MIT
#include "tests/hlsl/device_images.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/support/pixel_rig_gpu.h"

namespace kiln::hlsl {
namespace {

constexpr preview::ImageUse kReadByCompute = {VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                              VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                              VK_ACCESS_2_SHADER_SAMPLED_READ_BIT};
constexpr preview::ImageUse kWrittenByCompute = {
    VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
    VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT};

bool IsFloat(VkFormat format) {
  return format == VK_FORMAT_R32_SFLOAT || format == VK_FORMAT_D32_SFLOAT;
}

// All formats here have one component of 32 bits.
uint32_t TexelOf(VkFormat format, uint32_t number) {
  const float scale = format == VK_FORMAT_D32_SFLOAT ? 0.001F : 1.0F;
  return IsFloat(format) ? std::bit_cast<uint32_t>(static_cast<float>(number) * scale) : number;
}

}  // namespace

Result<void> DeviceImages::Copy(VkCommandBuffer commands, const DeviceImageInfo& info,
                                preview::Target& target, vk::Buffer& staging) {
  std::vector<uint32_t> texels;
  for (uint32_t layer = 0; layer < info.layers; ++layer) {
    for (uint32_t z = 0; z < info.extent.depth; ++z) {
      for (uint32_t y = 0; y < info.extent.height; ++y) {
        for (uint32_t x = 0; x < info.extent.width; ++x) {
          texels.push_back(TexelOf(info.format, layer * 100 + z * 50 + y * 10 + x));
        }
      }
    }
  }
  KILN_TRY(staging, vk::CreateBuffer(rig_.device(), rig_.gpu().memory, texels.size() * 4,
                                     VK_BUFFER_USAGE_TRANSFER_SRC_BIT, vk::MemoryUse::kUpload));
  std::memcpy(staging.mapped().data(), texels.data(), texels.size() * 4);
  VkBufferImageCopy region{};
  region.imageSubresource = {target.image.aspects(), 0, 0, info.layers};
  region.imageExtent = info.extent;
  rig_.device().table().CmdCopyBufferToImage(
      commands, staging.handle.get(), target.image.handle.get(), target.last.layout, 1, &region);
  return {};
}

void DeviceImages::Clear(VkCommandBuffer commands, const DeviceImageInfo& info,
                         preview::Target& target) {
  const vk::Table& table = rig_.device().table();
  for (uint32_t layer = 0; layer < info.layers; ++layer) {
    const uint32_t texel = TexelOf(info.format, layer * 100 + 7);
    const VkImageSubresourceRange range = {target.image.aspects(), 0, 1, layer, 1};
    if (info.format == VK_FORMAT_D32_SFLOAT) {
      const VkClearDepthStencilValue value = {std::bit_cast<float>(texel), 0};
      table.CmdClearDepthStencilImage(commands, target.image.handle.get(), target.last.layout,
                                      &value, 1, &range);
    } else {
      VkClearColorValue value{};
      value.uint32[0] = texel;
      table.CmdClearColorImage(commands, target.image.handle.get(), target.last.layout, &value, 1,
                               &range);
    }
  }
}

Result<std::vector<VkImageView>> DeviceImages::Make(const DeviceImageInfo& info) {
  preview::Target target;
  const VkImageUsageFlags use =
      info.storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT;
  KILN_TRY(target.image, vk::CreateImage(rig_.device(), rig_.gpu().memory,
                                         {.view_type = info.view,
                                          .format = info.format,
                                          .extent = info.extent,
                                          .layers = info.layers,
                                          .samples = info.multisampled ? VK_SAMPLE_COUNT_4_BIT
                                                                       : VK_SAMPLE_COUNT_1_BIT,
                                          .usage = use | VK_IMAGE_USAGE_TRANSFER_DST_BIT}));
  const vk::Table& table = rig_.device().table();
  KILN_TRY(const VkCommandBuffer commands, rig_.gpu().queue.Begin());
  preview::Transition(table, commands, target, preview::kCopyDestination);
  vk::Buffer staging;
  if (info.multisampled) {
    Clear(commands, info, target);
  } else {
    KILN_TRY_VOID(Copy(commands, info, target, staging));
  }
  preview::Transition(table, commands, target, info.storage ? kWrittenByCompute : kReadByCompute);
  KILN_TRY(const uint64_t done, rig_.gpu().queue.Submit(commands));
  KILN_TRY_VOID(rig_.gpu().queue.Wait(done));
  table.DeviceWaitIdle(rig_.device().handle());  // for the layer: it sees no waits on timelines
  images_.push_back(std::move(target));
  return std::vector{images_.back().image.view.get()};
}

Result<std::vector<VkBufferView>> DeviceImages::MakeTexels(const std::vector<uint32_t>& words,
                                                           VkFormat format, bool storage) {
  KILN_TRY(vk::Buffer buffer, vk::CreateBuffer(rig_.device(), rig_.gpu().memory, words.size() * 4,
                                               storage ? VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT
                                                       : VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT,
                                               vk::MemoryUse::kReadback));
  std::memcpy(buffer.mapped().data(), words.data(), words.size() * 4);
  buffers_.push_back(std::move(buffer));
  KILN_TRY(vk::UniqueBufferView view,
           vk::CreateTexelView(rig_.device(), buffers_.back(), format, VK_WHOLE_SIZE));
  views_.push_back(std::move(view));
  return std::vector{views_.back().get()};
}

std::vector<uint32_t> DeviceImages::Words(size_t index) const {
  std::vector<uint32_t> words(buffers_[index].size / 4);
  std::memcpy(words.data(), buffers_[index].mapped().data(), words.size() * 4);
  return words;
}

}  // namespace kiln::hlsl
