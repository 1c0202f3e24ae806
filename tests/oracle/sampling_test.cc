// SPDX-License-Identifier: MIT
// `sample` and `sample_dref` of every kind of image: which texel, which layer, which face, which
// item of an array, compared how. Samplers take the nearest texel, so results are exact.
#include <array>
#include <cmath>
#include <cstring>

#include "runtime/preview/sampler.h"
#include "runtime/preview/target.h"
#include "runtime/vk/buffer.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/pixel_rig_gpu.h"

namespace kiln::oracle {
namespace {

constexpr uint32_t kSide = 4;
constexpr uint32_t kLayers = 3;  // of arrays; depth of volumes
constexpr uint32_t kFaces = 6;
constexpr uint32_t kItems = 2;  // of the array of images

struct Kind {
  std::string_view type;
  std::string_view name;
  VkImageViewType view;
  uint32_t depth = 1;
  uint32_t layers = 1;
};
constexpr Kind kKinds[] = {
    {"2d", "flat", VK_IMAGE_VIEW_TYPE_2D},
    {"3d", "solid", VK_IMAGE_VIEW_TYPE_3D, kLayers},
    {"cube", "sky", VK_IMAGE_VIEW_TYPE_CUBE, 1, kFaces},
    {"2d_array", "stack", VK_IMAGE_VIEW_TYPE_2D_ARRAY, 1, kLayers},
};

uint32_t Texels(const Kind& kind) { return kSide * kSide * kind.depth * kind.layers; }

// Texel `i` of an image: its number and what tells images apart. Depth: of [0, 1).
std::array<float, 4> ColorOf(uint32_t i, float image) {
  return {static_cast<float>(i), image, static_cast<float>(i % kSide), 0.5F};
}
float DepthOf(uint32_t i) { return static_cast<float>(i % 16) / 16; }

uint32_t Texel(float coordinate, uint32_t count) {
  const auto texel = static_cast<int32_t>(std::floor(coordinate * static_cast<float>(count)));
  return static_cast<uint32_t>(std::clamp(texel, 0, static_cast<int32_t>(count) - 1));
}

// Face and position on it. Spec: Vulkan 1.3 16.5.4
uint32_t CubeTexel(const std::vector<float>& r) {
  const float x = std::fabs(r[0]);
  const float y = std::fabs(r[1]);
  const float z = std::fabs(r[2]);
  uint32_t face = 0;
  float s = 0;
  float t = 0;
  float major = 0;
  if (z >= x && z >= y) {
    face = r[2] >= 0 ? 4 : 5;
    s = r[2] >= 0 ? r[0] : -r[0];
    t = -r[1];
    major = z;
  } else if (y >= x) {
    face = r[1] >= 0 ? 2 : 3;
    s = r[0];
    t = r[1] >= 0 ? r[2] : -r[2];
    major = y;
  } else {
    face = r[0] >= 0 ? 0 : 1;
    s = r[0] >= 0 ? -r[2] : r[2];
    t = -r[1];
    major = x;
  }
  return (face * kSide + Texel((t / major + 1) / 2, kSide)) * kSide +
         Texel((s / major + 1) / 2, kSide);
}

uint32_t TexelOf(const Kind& kind, const std::vector<float>& coordinate) {
  if (kind.view == VK_IMAGE_VIEW_TYPE_CUBE) {
    return CubeTexel(coordinate);
  }
  uint32_t layer = 0;
  if (kind.view == VK_IMAGE_VIEW_TYPE_3D) {
    layer = Texel(coordinate[2], kind.depth);
  } else if (kind.view == VK_IMAGE_VIEW_TYPE_2D_ARRAY) {
    layer = std::min(static_cast<uint32_t>(coordinate[2]), kind.layers - 1);
  }
  return (layer * kSide + Texel(coordinate[1], kSide)) * kSide + Texel(coordinate[0], kSide);
}

Value SampleOf(const SampleRequest& request) {
  for (const Kind& kind : kKinds) {
    const uint32_t texel = TexelOf(kind, request.coordinate);
    if (request.image == "color_" + std::string(kind.name)) {
      return ExactFloats(ColorOf(texel, 0));
    }
    if (request.image != "depth_" + std::string(kind.name)) {
      continue;
    }
    const float depth = DepthOf(texel);
    if (request.builtin == ir::Builtin::kSampleDref) {
      const float lit[] = {request.reference <= depth ? 1.0F : 0.0F};
      return ExactFloats(lit);
    }
    const float red[] = {depth, 0, 0, 1};
    return ExactFloats(red);
  }
  const std::vector<float> flat(request.coordinate.begin(), request.coordinate.begin() + 2);
  return ExactFloats(ColorOf(TexelOf(kKinds[0], flat), static_cast<float>(request.item + 1)));
}

// Statements that sample "color_flat" and so on, with coordinates from the inputs.
std::string CallText(const Kind& kind, std::string_view function, std::string_view image,
                     std::string_view reference) {
  const bool three = kind.view == VK_IMAGE_VIEW_TYPE_3D || kind.view == VK_IMAGE_VIEW_TYPE_CUBE;
  const bool array = kind.view == VK_IMAGE_VIEW_TYPE_2D_ARRAY;
  return std::string(function) + ", " + std::string(image) + (array ? ", given.u[0].x" : "") +
         (kind.view == VK_IMAGE_VIEW_TYPE_CUBE ? ", given.f[1].xyz"
          : three                              ? ", given.f[0].xyz"
                                               : ", given.f[0].xy") +
         std::string(reference) + ")";
}

constexpr std::string_view kPoint = "set_material sampler point;\n";
constexpr std::string_view kShadow = "set_material sampler shadow;\n";

Samples InputsOf() {
  std::mt19937 random(11);
  Samples samples;
  // Halves of texels away from their edges: a quarter more than a multiple of a texel.
  for (Sample& sample : samples) {
    for (uint32_t i = 0; i < 2; ++i) {
      sample.f[i] =
          (static_cast<float>(random() % kSide) + 0.25F + 0.5F * static_cast<float>(random() % 2)) /
          kSide;
    }
    sample.f[2] = (static_cast<float>(random() % kLayers) + 0.5F) / kLayers;
    // A direction with one major axis and no tie between texels.
    const uint32_t axis = random() % 3;
    for (uint32_t i = 0; i < 3; ++i) {
      const float minor = (static_cast<float>(random() % 4) * 2 - 3) / 4 + 0.0625F;
      sample.f[4 + i] = i == axis ? (random() % 2 == 0 ? 1.0F : -1.0F) : minor;
    }
    sample.f[8] = (static_cast<float>(random() % 16) + 0.5F) / 16;
    sample.u[0] = random() % kLayers;
  }
  return samples;
}

class Sampling : public OperatorFixture {
 protected:
  void TearDown() override {
    images_.clear();
    samplers_.clear();
    OperatorFixture::TearDown();
  }

  // An image of that kind whose texels are `bytes`, ready to be sampled.
  VkImageView Upload(const Kind& kind, VkFormat format, std::span<const std::byte> bytes) {
    PixelRig::Gpu& gpu = bench().gpu();
    const runtime::Device& device = bench().device();
    auto staging = vk::CreateBuffer(device, gpu.memory, bytes.size(),
                                    VK_BUFFER_USAGE_TRANSFER_SRC_BIT, vk::MemoryUse::kUpload);
    std::ranges::copy(bytes, staging->mapped().begin());
    preview::Target target;
    target.image = std::move(vk::CreateImage(device, gpu.memory,
                                             {.view_type = kind.view,
                                              .format = format,
                                              .extent = {kSide, kSide, kind.depth},
                                              .layers = kind.layers,
                                              .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                                                       VK_IMAGE_USAGE_TRANSFER_DST_BIT}))
                       .value();
    const VkCommandBuffer commands = gpu.queue.Begin().value();
    preview::Transition(device.table(), commands, target, preview::kCopyDestination);
    VkBufferImageCopy region{};
    region.imageSubresource = {target.image.aspects(), 0, 0, kind.layers};
    region.imageExtent = {kSide, kSide, kind.depth};
    device.table().CmdCopyBufferToImage(commands, staging->handle.get(), target.image.handle.get(),
                                        target.last.layout, 1, &region);
    preview::Transition(device.table(), commands, target, preview::kSampled);
    EXPECT_TRUE(gpu.queue.Wait(gpu.queue.Submit(commands).value()).ok());
    images_.push_back(std::move(target));
    return images_.back().image.view.get();
  }

  VkImageView Color(const Kind& kind, float image) {
    std::vector<std::array<float, 4>> texels;
    for (uint32_t i = 0; i < Texels(kind); ++i) {
      texels.push_back(ColorOf(i, image));
    }
    return Upload(kind, VK_FORMAT_R32G32B32A32_SFLOAT, std::as_bytes(std::span(texels)));
  }

  VkImageView Depth(const Kind& kind) {
    std::vector<float> texels;
    for (uint32_t i = 0; i < Texels(kind); ++i) {
      texels.push_back(DepthOf(i));
    }
    return Upload(kind, VK_FORMAT_D32_SFLOAT, std::as_bytes(std::span(texels)));
  }

  VkSampler Nearest(bool compares) {
    samplers_.push_back(
        std::move(preview::CreateSampler(bench().device(),
                                         {.filter = VK_FILTER_NEAREST,
                                          .address = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                          .comparison = compares}))
            .value());
    return samplers_.back().get();
  }

  void AgreeOn(const std::string& source, const preview::ResourceTable& resources) {
    SCOPED_TRACE(source);
    const BuiltVariant variant(BenchRequest(source));
    ASSERT_TRUE(variant.ok()) << variant.messages();
    const Samples samples = InputsOf();
    const Result<Pixels> pixels =
        bench().Run(variant, samples, {.resources = resources, .push = {}});
    ASSERT_TRUE(pixels.ok()) << ErrorText(pixels.error());
    Surroundings around;
    around.sample = SampleOf;
    const Comparison comparison =
        Compare(InterpretPixels(variant, samples, around), *pixels, samples);
    EXPECT_EQ(comparison.difference, "");
    EXPECT_EQ(comparison.open, 0U);
  }

 private:
  std::vector<preview::Target> images_;
  std::vector<vk::UniqueSampler> samplers_;
};

TEST_F(Sampling, ColorImages_AgreeWithTheDevice) {
  for (const Kind& kind : kKinds) {
    const std::string image = "color_" + std::string(kind.name);
    AgreeOn(std::string(kPoint) + "set_material image_color_" + std::string(kind.type) + " " +
                image + ";\n" +
                ProbeText("result.f0 = " + CallText(kind, "sample (point", image, "") + ";"),
            {{"point", Nearest(false)}, {image, std::vector{Color(kind, 0)}}});
  }
}

TEST_F(Sampling, DepthImages_AgreeWithTheDevice) {
  for (const Kind& kind : kKinds) {
    if (kind.view == VK_IMAGE_VIEW_TYPE_3D) {
      continue;  // Vulkan has no depth format for 3D images
    }
    const std::string image = "depth_" + std::string(kind.name);
    const std::string declaration =
        "set_material image_depth_" + std::string(kind.type) + " " + image + ";\n";
    const VkImageView view = Depth(kind);
    AgreeOn(std::string(kPoint) + declaration +
                ProbeText("result.f0.x = " + CallText(kind, "sample (point", image, "") + ".x;"),
            {{"point", Nearest(false)}, {image, std::vector{view}}});
    AgreeOn(std::string(kShadow) + declaration +
                ProbeText("result.f0.x = " +
                          CallText(kind, "sample_dref (shadow", image, ", given.f[2].x") + ";"),
            {{"shadow", Nearest(true)}, {image, std::vector{view}}});
  }
}

TEST_F(Sampling, ImageArray_ByConstantIndex_AgreesWithTheDevice) {
  AgreeOn(
      std::string(kPoint) + "instance which: uint 1;\nset_material image_color_2d[2] list;\n" +
          ProbeText("result.f0 = sample (point, list[0], given.f[0].xy);\n"
                    "result.f1 = sample (point, list[which], given.f[0].yx);"),
      {{"point", Nearest(false)}, {"list", std::vector{Color(kKinds[0], 1), Color(kKinds[0], 2)}}});
}

// Handles are arguments, directly and through another function.
TEST_F(Sampling, HandlesAsArguments_AgreeWithTheDevice) {
  AgreeOn(
      std::string(kPoint) + "set_material image_color_2d[2] list;\n" +
          "f4 look (in sampler s, in image_color_2d image, in f2 at) "
          "{ return sample (s, image, at); }\n"
          "f4 twice (in image_color_2d image, in f2 at) { return look (point, image, at) + "
          "look (point, list[0], at); }\n" +
          ProbeText("result.f0 = twice (list[1], given.f[0].xy);"),
      {{"point", Nearest(false)}, {"list", std::vector{Color(kKinds[0], 1), Color(kKinds[0], 2)}}});
}

// What lavapipe lacks (spec/pso 11.2): interpreter and validator alone.
TEST_F(Sampling, ImageArray_ByVariableIndex_InTheInterpreterAlone) {
  const BuiltVariant variant(BenchRequest(
      std::string(kPoint) + "set_material image_color_2d[2] list;\n" +
      ProbeText("result.f0 = sample (point, list[given.u[0].x % 2u], given.f[0].xy);")));
  ASSERT_TRUE(variant.ok()) << variant.messages();
  Surroundings around;
  around.sample = SampleOf;
  const Samples samples = InputsOf();
  const std::vector<Outcome> outcomes = InterpretPixels(variant, samples, around);
  for (uint32_t i = 0; i < kBenchPixels; ++i) {
    const Value& written = outcomes[i].written.at("result.f0");
    EXPECT_EQ(FloatOf(written[1]), static_cast<float>(samples[i].u[0] % kItems + 1));
  }
  const Result<Pixels> pixels =
      bench().Run(variant, samples,
                  {.resources = {{"point", Nearest(false)},
                                 {"list", std::vector{Color(kKinds[0], 1), Color(kKinds[0], 2)}}},
                   .push = {}});
  ASSERT_FALSE(pixels.ok()) << "lavapipe has it now: compare";
  EXPECT_THAT(ErrorText(pixels.error()),
              ::testing::HasSubstr("shader_sampled_image_array_non_uniform_indexing"));
}

}  // namespace
}  // namespace kiln::oracle
