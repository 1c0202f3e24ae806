// SPDX-License-Identifier: MIT
// What lavapipe lacks (spec/pso 11.2): the interpreter and the validator alone say what these
// mean. Each row names the feature that the device refuses them for; one that it has one day fails.
#include <fmt/format.h>

#include "tests/oracle/texture_fixture.h"

namespace kiln::oracle {
namespace {

constexpr std::string_view kDynamic = "shader_sampled_image_array_non_uniform_indexing";

struct Lacking {
  std::string_view name;
  std::string_view expression;  // of type f4; which image is `given.u[0].x % 2u`
  std::string_view feature;
};
constexpr Lacking kLacking[] = {
    {"sample of an image array by a variable index", "sample (point, list[which], at)", kDynamic},
    {"sample_lod of one", "sample_lod (point, list[which], at, 0.0)", kDynamic},
    {"sample_grad of one", "sample_grad (point, list[which], at, f2 { 0.0 }, f2 { 0.0 })",
     kDynamic},
    {"gather of one", "gather (point, list[which], at, 1u)", kDynamic},
    {"fetch of one", "fetch (list[which], u2 { 1u, 2u }, 0u)", kDynamic},
    {"image_size of one", "f4 { f2 { image_size (list[which], 0u) }, 0.0, 0.0 }", kDynamic},
};

class LavapipeLacks : public TextureFixture {
 protected:
  static Samples Inputs() {
    Samples samples{};
    for (uint32_t i = 0; i < kBenchPixels; ++i) {
      samples[i].u[0] = i * 7;
      samples[i].f[0] = (static_cast<float>(i % 8) + 0.5F) / 8;
      samples[i].f[1] = (static_cast<float>(i / 8 % 4) + 0.5F) / 4;
    }
    return samples;
  }

  // The second image has numbers that are 1000 larger, and is twice as wide.
  static Texture ImageOf(uint32_t item) {
    Texture texture = MakeTexture(ir::ImageDim::k2d, false, false, 1);
    if (item == 1) {
      texture.size[0] *= 2;
      std::vector<std::array<float, 4>>& texels = texture.levels[0];
      texels.insert(texels.end(), texels.begin(), texels.end());
      for (std::array<float, 4>& texel : texels) {
        texel[0] += 1000;
        texel[1] += 1000;
      }
    }
    return texture;
  }
};

TEST_F(LavapipeLacks, WhatIsListed_RunsInTheInterpreterAlone) {
  TextureTable table;
  table.samplers["point"] = {};
  table.textures["0"] = ImageOf(0);
  table.textures["1"] = ImageOf(1);
  Surroundings around;
  around.sample = [&](SampleRequest request) {
    request.image = std::to_string(request.item);
    return table.Answer(request);
  };
  Add("point", SamplerState{});
  for (const Lacking& row : kLacking) {
    SCOPED_TRACE(std::string(row.name));
    const auto source = [&](std::string_view which) {
      return "rpl 2;\nset_material sampler point;\nset_material image_color_2d[2] list;\n" +
             ProbeText(fmt::format("f2 at = given.f[0].xy; alias (which, {}) result.f0 = {};",
                                   which, row.expression));
    };
    const Samples samples = Inputs();
    const BuiltVariant variant(BenchRequest(source("given.u[0].x % 2u")));
    ASSERT_TRUE(variant.ok()) << variant.messages();
    const std::vector<Outcome> outcomes = InterpretPixels(variant, samples, around);
    for (uint32_t item = 0; item < 2; ++item) {
      const BuiltVariant constant(BenchRequest(source(fmt::format("{}u", item))));
      ASSERT_TRUE(constant.ok()) << constant.messages();
      const std::vector<Outcome> expected = InterpretPixels(constant, samples, around);
      for (uint32_t i = 0; i < kBenchPixels; ++i) {
        for (size_t j = 0; samples[i].u[0] % 2 == item && j < 4; ++j) {
          EXPECT_EQ(outcomes[i].written.at("result.f0")[j].bits,
                    expected[i].written.at("result.f0")[j].bits);
        }
      }
    }
    const Result<Pixels> pixels = bench().Run(variant, samples);
    ASSERT_FALSE(pixels.ok()) << "lavapipe has it now: compare";
    EXPECT_THAT(ErrorText(pixels.error()), ::testing::HasSubstr(row.feature));
  }
}

}  // namespace
}  // namespace kiln::oracle
