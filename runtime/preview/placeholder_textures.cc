// SPDX-License-Identifier: MIT
#include "runtime/preview/placeholder_textures.h"

#include <algorithm>
#include <array>

#include "runtime/pipeline/create/stand_in.h"
#include "runtime/pipeline/formats.h"

namespace kiln::preview {
namespace {

using artifact::ImageRole;
using artifact::ImageType;

// A checkerboard shows the texture coordinates, and 64 texels are enough for levels that differ.
constexpr uint32_t kSide = 64;
constexpr uint32_t kSquare = 8;
constexpr VkDeviceSize kTexelBytes = 1024;  // of a buffer of texels
// A tint for each face of a cube or item of an array, so that one can see which of them a shader
// has chosen.
constexpr std::array<std::array<uint8_t, 4>, 6> kTints = {{{255, 128, 128, 255},
                                                           {128, 255, 255, 255},
                                                           {128, 255, 128, 255},
                                                           {255, 128, 255, 255},
                                                           {128, 128, 255, 255},
                                                           {255, 255, 128, 255}}};

std::vector<std::byte> Texel(const std::array<uint8_t, 4>& color) {
  const auto bytes = std::as_bytes(std::span(color));
  return {bytes.begin(), bytes.end()};
}
// Depth 1: nothing is in shadow.
std::vector<std::byte> Far() {
  const float one = 1.0F;
  const auto bytes = std::as_bytes(std::span(&one, 1));
  return {bytes.begin(), bytes.end()};
}

// Half the size, each texel the mean of four.
std::vector<std::byte> HalfLevel(const std::vector<std::byte>& level, uint32_t side) {
  std::vector<std::byte> out;
  for (uint32_t y = 0; y < side; y += 2) {
    for (uint32_t x = 0; x < side; x += 2) {
      for (uint32_t channel = 0; channel < 4; ++channel) {
        // Two more than the sum, so that the division by four rounds.
        uint32_t sum = 2;
        for (const uint32_t at :
             {y * side + x, y * side + x + 1, (y + 1) * side + x, (y + 1) * side + x + 1}) {
          sum += static_cast<uint32_t>(level[size_t{at} * 4 + channel]);
        }
        out.push_back(static_cast<std::byte>(sum / 4));
      }
    }
  }
  return out;
}

}  // namespace

// 0.8 and 0.2, tinted by item of an array.
Result<VkImageView> PlaceholderTextures::Checker(uint32_t item) {
  ImageData data{.extent = {kSide, kSide}};
  std::vector<std::byte> level;
  for (uint32_t y = 0; y < kSide; ++y) {
    for (uint32_t x = 0; x < kSide; ++x) {
      const bool light = (x / kSquare + y / kSquare) % 2 == 0;
      for (uint32_t channel = 0; channel < 4; ++channel) {
        const uint32_t tint = item == 0 ? 255 : kTints[(item - 1) % kTints.size()][channel];
        level.push_back(
            static_cast<std::byte>(channel == 3 ? 255 : (light ? 204U : 51U) * tint / 255));
      }
    }
  }
  // All levels down to one texel, because samplers may read any of them.
  // The last level is a single texel, and then there is nothing left to halve.
  for (uint32_t side = kSide; side >= 1; side /= 2) {
    data.levels.push_back(level);
    level = side > 1 ? HalfLevel(level, side) : std::vector<std::byte>();
  }
  KILN_TRY(Target target, UploadImage(device_, memory_, queue_, data));
  images_.push_back(std::move(target));
  return images_.back().image.view.get();
}

// Storage images stay in the general layout, in which shaders may read and write them.
ImageUse PlaceholderTextures::UseOf(const Layers& layers) {
  if ((layers.usage & VK_IMAGE_USAGE_STORAGE_BIT) == 0) {
    return kSampled;
  }
  return {VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
          VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT};
}

// Buffers cannot be copied to images of several samples, so all samples are cleared alike: gray, or
// depth 1.
void PlaceholderTextures::Clear(VkCommandBuffer commands, const Target& target) const {
  const vk::Table& table = device_.table();
  const VkImageSubresourceRange all = {target.image.aspects(), 0, VK_REMAINING_MIP_LEVELS, 0,
                                       VK_REMAINING_ARRAY_LAYERS};
  if (all.aspectMask == VK_IMAGE_ASPECT_COLOR_BIT) {
    const auto holds = runtime::DescribeColorFormat(target.image.info.format);
    VkClearColorValue gray = {{0.5F, 0.5F, 0.5F, 1.0F}};
    if (holds && holds->item != artifact::OutputItem::kFloat) {
      gray.uint32[0] = gray.uint32[1] = gray.uint32[2] = gray.uint32[3] = 1;
    }
    table.CmdClearColorImage(commands, target.image.handle.get(), target.last.layout, &gray, 1,
                             &all);
  } else {
    const VkClearDepthStencilValue far = {1.0F, 0};
    table.CmdClearDepthStencilImage(commands, target.image.handle.get(), target.last.layout, &far,
                                    1, &all);
  }
}

Result<VkImageView> PlaceholderTextures::Upload(const Layers& layers) {
  const auto count = static_cast<uint32_t>(layers.texels.size());
  Target target;
  KILN_TRY(target.image,
           vk::CreateImage(device_, memory_,
                           {.view_type = layers.type,
                            .format = layers.format,
                            .layers = count,
                            .samples = layers.samples,
                            .usage = layers.usage | VK_IMAGE_USAGE_TRANSFER_DST_BIT}));
  // Offsets in a buffer must be multiples of the texel size, which is 16 at most.
  constexpr VkDeviceSize kStep = 16;
  KILN_TRY(const vk::Buffer staging,
           vk::CreateBuffer(device_, memory_, kStep * count, VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                            vk::MemoryUse::kUpload));
  std::vector<VkBufferImageCopy> regions;
  for (uint32_t layer = 0; layer < count; ++layer) {
    std::ranges::copy(layers.texels[layer],
                      staging.mapped().begin() + static_cast<std::ptrdiff_t>(kStep * layer));
    VkBufferImageCopy region{};
    region.bufferOffset = kStep * layer;
    region.imageSubresource = {target.image.aspects(), 0, layer, 1};
    region.imageExtent = {1, 1, 1};
    regions.push_back(region);
  }
  KILN_TRY(const VkCommandBuffer commands, queue_.Begin());
  Transition(device_.table(), commands, target, kCopyDestination);
  if (layers.samples == VK_SAMPLE_COUNT_1_BIT) {
    device_.table().CmdCopyBufferToImage(commands, staging.handle.get(), target.image.handle.get(),
                                         target.last.layout, static_cast<uint32_t>(regions.size()),
                                         regions.data());
  } else {
    Clear(commands, target);
  }
  Transition(device_.table(), commands, target, UseOf(layers));
  KILN_TRY(const uint64_t done, queue_.Submit(commands));
  // Waited for at once: the staging buffer ends with this function.
  KILN_TRY_VOID(queue_.Wait(done));
  images_.push_back(std::move(target));
  return images_.back().image.view.get();
}

// Only plain color images get the checkerboard. The others have one texel for each layer, which is
// enough to be valid and to have a color.
Result<std::vector<VkImageView>> PlaceholderTextures::Make(const artifact::Image& image) {
  std::vector<VkImageView> views;
  const bool plain =
      image.type == ImageType::kColor2d && image.item == artifact::OutputItem::kFloat;
  const ImageRole role = FactsOf(image.type).role;
  for (uint32_t item = 0; item < image.image_array_size; ++item) {
    // Every item of an array is an image of its own, with its own tint.
    if (plain) {
      KILN_TRY(const VkImageView view, Checker(item));
      views.push_back(view);
      continue;
    }
    Layers layers{.type = runtime::ViewTypeOf(image.type),
                  .format = runtime::StandInFormat(image.type, image.item,
                                                   runtime::StorageFormat(image.format))};
    KILN_TRY(layers.samples, runtime::StandInSamples(image.type, image.item, device_.caps()));
    const uint32_t count = runtime::LeastLayers(layers.type);
    if (role == ImageRole::kStorage) {
      layers.usage = VK_IMAGE_USAGE_STORAGE_BIT;
      // Sixteen zero bytes cover one texel of any format.
      layers.texels.assign(count, std::vector<std::byte>(16));
    } else if (role == ImageRole::kDepth) {
      layers.texels.assign(count, Far());
    } else {
      for (uint32_t face = 0; face < count; ++face) {
        layers.texels.push_back(Texel(kTints[(item + face) % kTints.size()]));
      }
    }
    KILN_TRY(const VkImageView view, Upload(layers));
    views.push_back(view);
  }
  return views;
}

// Texels of a buffer that is read have the tints one after another; one that is written begins with
// zeros.
Result<std::vector<VkBufferView>> PlaceholderTextures::MakeTexels(const artifact::Image& image) {
  const bool storage = FactsOf(image.type).role == ImageRole::kStorage;
  const VkFormat format =
      runtime::StandInFormat(image.type, image.item, runtime::StorageFormat(image.format));
  KILN_TRY(vk::Buffer buffer, vk::CreateBuffer(device_, memory_, kTexelBytes,
                                               storage ? VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT
                                                       : VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT,
                                               vk::MemoryUse::kUpload));
  std::ranges::fill(buffer.mapped(), std::byte{0});
  for (size_t at = 0; !storage && at < kTexelBytes; ++at) {
    buffer.mapped()[at] = std::byte{kTints[at / 4 % kTints.size()][at % 4]};
  }
  KILN_TRY(vk::UniqueBufferView view, vk::CreateTexelView(device_, buffer, format, VK_WHOLE_SIZE));
  buffers_.push_back(std::move(buffer));
  texels_.push_back(std::move(view));
  // One buffer for all items of an array.
  return std::vector<VkBufferView>(image.image_array_size, texels_.back().get());
}

Result<std::vector<VkImageView>> PlaceholderTextures::Use(const artifact::Image& image,
                                                          const Picture& picture) {
  ImageData data{.extent = {picture.width, picture.height}};
  const auto bytes = std::as_bytes(std::span(picture.rgba));
  data.levels.emplace_back(bytes.begin(), bytes.end());
  KILN_TRY(Target target, UploadImage(device_, memory_, queue_, data));
  images_.push_back(std::move(target));
  // One picture for all items of an array.
  return std::vector<VkImageView>(image.image_array_size, images_.back().image.view.get());
}

}  // namespace kiln::preview
