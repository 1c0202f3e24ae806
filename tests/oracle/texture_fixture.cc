// SPDX-License-Identifier: MIT
#include "tests/oracle/texture_fixture.h"

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "runtime/preview/sampler.h"
#include "runtime/vk/buffer.h"
#include "tests/support/pixel_rig_gpu.h"

namespace kiln::oracle {
namespace {

VkImageViewType ViewOf(const Texture& texture) {
  switch (texture.dim) {
    case ir::ImageDim::k2d:
      return texture.arrayed ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
    case ir::ImageDim::k3d:
      return VK_IMAGE_VIEW_TYPE_3D;
    case ir::ImageDim::kCube:
      return VK_IMAGE_VIEW_TYPE_CUBE;
    case ir::ImageDim::k1d:
    case ir::ImageDim::kBuffer:
    case ir::ImageDim::kSubpass:
      break;
  }
  KILN_UNREACHABLE();
}

VkSamplerAddressMode ModeOf(Address address) {
  switch (address) {
    case Address::kRepeat:
      return VK_SAMPLER_ADDRESS_MODE_REPEAT;
    case Address::kMirroredRepeat:
      return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    case Address::kClampToEdge:
      return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    case Address::kClampToBorder:
      return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
  }
  KILN_UNREACHABLE();
}

}  // namespace

std::string DeclarationOf(const Texture& texture, std::string_view name) {
  return fmt::format("set_material image_{}_{}{} {};\n", texture.depth ? "depth" : "color",
                     texture.dim == ir::ImageDim::k2d   ? "2d"
                     : texture.dim == ir::ImageDim::k3d ? "3d"
                                                        : "cube",
                     texture.arrayed ? "_array" : "", name);
}

void TextureFixture::TearDown() {
  images_.clear();
  samplers_.clear();
  OperatorFixture::TearDown();
}

void TextureFixture::Add(const std::string& name, const SamplerState& sampler) {
  samplers_.push_back(std::move(preview::CreateSampler(
                                    bench().device(), {.filter = sampler.linear ? VK_FILTER_LINEAR
                                                                                : VK_FILTER_NEAREST,
                                                       .address = ModeOf(sampler.address),
                                                       .comparison = sampler.compares}))
                          .value());
  resources_[name] = samplers_.back().get();
  table_.samplers[name] = sampler;
}

void TextureFixture::Add(const std::string& name, Texture texture) {
  PixelRig::Gpu& gpu = bench().gpu();
  const runtime::Device& device = bench().device();
  std::vector<float> texels;
  std::vector<VkBufferImageCopy> regions;
  const VkImageAspectFlags aspect =
      texture.depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
  for (uint32_t level = 0; level < texture.level_count; ++level) {
    const auto [width, height, depth] = texture.SizeOf(level);
    VkBufferImageCopy region{};
    region.bufferOffset = texels.size() * sizeof(float);
    region.imageSubresource = {aspect, level, 0, texture.layers};
    region.imageExtent = {width, height, depth};
    regions.push_back(region);
    for (const std::array<float, 4>& texel : texture.levels[level]) {
      texels.insert(texels.end(), texel.begin(), texel.begin() + (texture.depth ? 1 : 4));
    }
  }
  const auto bytes = std::as_bytes(std::span(texels));
  auto staging = vk::CreateBuffer(device, gpu.memory, bytes.size(),
                                  VK_BUFFER_USAGE_TRANSFER_SRC_BIT, vk::MemoryUse::kUpload);
  std::ranges::copy(bytes, staging->mapped().begin());
  preview::Target target;
  target.image =
      std::move(vk::CreateImage(
                    device, gpu.memory,
                    {.view_type = ViewOf(texture),
                     .format = texture.depth ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT,
                     .extent = {texture.size[0], texture.size[1], texture.size[2]},
                     .levels = texture.level_count,
                     .layers = texture.layers,
                     .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT}))
          .value();
  const VkCommandBuffer commands = gpu.queue.Begin().value();
  preview::Transition(device.table(), commands, target, preview::kCopyDestination);
  device.table().CmdCopyBufferToImage(commands, staging->handle.get(), target.image.handle.get(),
                                      target.last.layout, static_cast<uint32_t>(regions.size()),
                                      regions.data());
  preview::Transition(device.table(), commands, target, preview::kSampled);
  EXPECT_TRUE(gpu.queue.Wait(gpu.queue.Submit(commands).value()).ok());
  resources_[name] = std::vector{target.image.view.get()};
  images_.push_back(std::move(target));
  table_.textures[name] = std::move(texture);
}

void TextureFixture::AgreeOnProbe(const std::string& declarations, const std::string& statements,
                                  const Samples& samples) {
  Surroundings around;
  around.sample = [this](const SampleRequest& request) { return table_.Answer(request); };
  PixelRig::Extra extra;
  extra.resources = resources_;
  const Comparison comparison = AgreeOn(
      BenchRequest("rpl 2;\n" + declarations + ProbeText(statements)), samples, extra, around);
  EXPECT_EQ(comparison.open, 0U) << statements;
}

}  // namespace kiln::oracle
