// SPDX-License-Identifier: MIT
// Filters, address modes and levels of sampling, and every form of version 2: explicit level,
// gradients, gathering, fetching, questions. See spec/rpl 6.4, 14.2
#include <fmt/format.h>

#include "tests/oracle/texture_fixture.h"

namespace kiln::oracle {
namespace {

constexpr uint32_t kLevels = 4;

struct Kind {
  std::string_view name;
  ir::ImageDim dim;
  bool arrayed;
  std::string_view coordinate;
  std::string_view texel;  // of level `lod`
  std::string_view slopes;
};
constexpr Kind kKinds[] = {
    {"flat", ir::ImageDim::k2d, false, "given.f[0].xy", "at.xy",
     "f2 { given.f[2].y, 0.0 }, f2 { 0.0, given.f[2].z }"},
    {"solid", ir::ImageDim::k3d, false, "given.f[0].xyz", "at",
     "f3 { given.f[2].y, 0.0, 0.0 }, f3 { 0.0, 0.0, given.f[2].z }"},
    {"sky", ir::ImageDim::kCube, false, "given.f[1].xyz", "", ""},
    {"stack", ir::ImageDim::k2d, true, "given.u[0].x, given.f[0].xy", "given.u[0].x, at.xy",
     "f2 { 0.0, given.f[2].z }, f2 { given.f[2].y, 0.0 }"},
};
constexpr SamplerState kSamplers[] = {
    {.linear = false, .address = Address::kRepeat},
    {.linear = false, .address = Address::kMirroredRepeat},
    {.linear = false, .address = Address::kClampToEdge},
    {.linear = false, .address = Address::kClampToBorder},
    {.linear = true, .address = Address::kRepeat},
    {.linear = true, .address = Address::kMirroredRepeat},
    {.linear = true, .address = Address::kClampToEdge},
    {.linear = true, .address = Address::kClampToBorder},
};

// Coordinates are odd 64ths of an image up to one beyond its edges, so that no filter is at a tie
// on any level and weights have few bits. Directions keep away from edges of faces.
Samples Inputs() {
  std::mt19937 random(16);
  Samples samples;
  for (Sample& sample : samples) {
    for (uint32_t i = 0; i < 3; ++i) {
      sample.f[i] = (static_cast<float>(random() % 96) * 2 - 63) / 64;
    }
    const uint32_t axis = random() % 3;
    for (uint32_t i = 0; i < 3; ++i) {
      const float minor = (static_cast<float>(random() % 7) * 2 - 6) / 16 + 0.03125F;
      sample.f[4 + i] = i == axis ? (random() % 2 == 0 ? 1.0F : -1.0F) : minor;
    }
    sample.f[8] = (static_cast<float>(random() % 15) * 2 + 1) / 32;  // reference
    sample.f[9] = 0.125F * static_cast<float>(1U << random() % 4);   // slope in x: 8 texels
    sample.f[10] = 0.125F;
    sample.f[11] = static_cast<float>(random() % 17) / 4 - 0.625F;  // level
    sample.u[0] = random() % 3;
    for (uint32_t i = 4; i < 8; ++i) {
      sample.u[i] = random();
    }
  }
  return samples;
}

class SamplingForms : public TextureFixture {
 protected:
  // Calls `run` with the declarations of each texture and sampler in turn; texture "image",
  // sampler "filter".
  void ForEach(bool depth, bool compares, uint32_t levels,
               const std::function<void(const Kind&, const std::string&)>& run) {
    for (const Kind& kind : kKinds) {
      if (depth && kind.dim == ir::ImageDim::k3d) {
        continue;
      }
      // No filter of a cube reaches beyond a face, which its smallest level would.
      const bool cube = kind.dim == ir::ImageDim::kCube;
      const Texture texture =
          MakeTexture(kind.dim, kind.arrayed, depth, cube ? std::min(levels, 3U) : levels);
      Add("image", texture);
      for (SamplerState sampler : kSamplers) {
        if (cube && sampler.address != Address::kClampToEdge) {
          continue;  // cubes have no edges to address beyond
        }
        sampler.compares = compares;
        SCOPED_TRACE(fmt::format("{} linear {} address {}", kind.name, sampler.linear,
                                 static_cast<int>(sampler.address)));
        Add("filter", sampler);
        run(kind, DeclarationOf(texture, "image") + "set_material sampler filter;\n");
      }
    }
  }
};

TEST_F(SamplingForms, FiltersAndAddressModes_Agree) {
  ForEach(false, false, 1, [this](const Kind& kind, const std::string& declarations) {
    AgreeOnProbe(declarations,
                 fmt::format("result.f0 = sample (filter, image, {});", kind.coordinate), Inputs());
  });
}

TEST_F(SamplingForms, ExplicitLevels_Agree) {
  ForEach(false, false, kLevels, [this](const Kind& kind, const std::string& declarations) {
    AgreeOnProbe(declarations,
                 fmt::format("result.f0 = sample_lod (filter, image, {0}, given.f[2].w);"
                             "result.f1 = sample_lod (filter, image, {0}, 1.0);",
                             kind.coordinate),
                 Inputs());
  });
}

TEST_F(SamplingForms, Gradients_Agree) {
  ForEach(false, false, kLevels, [this](const Kind& kind, const std::string& declarations) {
    if (!kind.slopes.empty()) {
      AgreeOnProbe(declarations,
                   fmt::format("result.f0 = sample_grad (filter, image, {}, {});", kind.coordinate,
                               kind.slopes),
                   Inputs());
    }
  });
}

TEST_F(SamplingForms, Comparison_Agrees) {
  ForEach(true, true, kLevels, [this](const Kind& kind, const std::string& declarations) {
    AgreeOnProbe(
        declarations,
        fmt::format("result.f0.x = sample_dref_lod (filter, image, {0}, given.f[2].x, 0.0);"
                    "result.f0.y = sample_dref_lod (filter, image, {0}, given.f[2].x, 1.0);",
                    kind.coordinate),
        Inputs());
  });
  ForEach(true, true, 1, [this](const Kind& kind, const std::string& declarations) {
    AgreeOnProbe(declarations,
                 fmt::format("result.f0.x = sample_dref (filter, image, {}, given.f[2].x);",
                             kind.coordinate),
                 Inputs());
  });
}

TEST_F(SamplingForms, Gather_TakesTheFourTexelsOfTheFilter) {
  ForEach(false, false, 2, [this](const Kind& kind, const std::string& declarations) {
    if (kind.dim != ir::ImageDim::k3d) {
      AgreeOnProbe(declarations,
                   fmt::format("result.f0 = gather (filter, image, {0}, 0u);"
                               "result.f1 = gather (filter, image, {0}, 1u);"
                               "result.f2 = gather (filter, image, {0}, 3u);",
                               kind.coordinate),
                   Inputs());
    }
  });
  ForEach(true, true, 1, [this](const Kind& kind, const std::string& declarations) {
    AgreeOnProbe(
        declarations,
        fmt::format("result.f0 = gather_dref (filter, image, {}, given.f[2].x);", kind.coordinate),
        Inputs());
  });
}

// One level for all: lavapipe takes that of one invocation for eight.
TEST_F(SamplingForms, FetchSizeAndLevels_Agree) {
  for (uint32_t i = 0; i < 2 * std::size(kKinds) * kLevels; ++i) {
    const bool depth = i % 2 != 0;
    const uint32_t level = i / 2 % kLevels;
    const Kind& kind = kKinds[i / 2 / kLevels];
    if (depth && kind.dim == ir::ImageDim::k3d) {
      continue;
    }
    const Texture texture = MakeTexture(kind.dim, kind.arrayed, depth, kLevels);
    Add("image", texture);
    const bool deep = kind.dim == ir::ImageDim::k3d || kind.arrayed;
    std::string text = fmt::format(
        "u{} size = image_size (image, {}u); result.u0.w = image_levels (image);"
        "result.u0.x = size.x + size.y * 16u{};",
        deep ? 3 : 2, level, deep ? " + size.z * 256u" : "");
    if (!kind.texel.empty()) {
      text += fmt::format(
          "u3 at = given.u[1].yzw % u3 {{ size.x, size.y, {} }};"
          "f4 texel = fetch (image, {}, {}u); result.f0{} = texel{};",
          kind.dim == ir::ImageDim::k3d ? "size.z" : "1u", kind.texel, level, depth ? ".x" : "",
          depth ? ".x" : "");
    }
    AgreeOnProbe(DeclarationOf(texture, "image"), text, Inputs());
  }
}

// The level follows from derivatives: coordinates that step by two texels from pixel to pixel take
// the second level, in whichever function they are sampled.
TEST_F(SamplingForms, ImplicitLevel_FollowsDerivatives) {
  const Texture texture = MakeTexture(ir::ImageDim::k2d, false, false, kLevels);
  Add("image", texture);
  for (const bool linear : {false, true}) {
    Add("filter", SamplerState{.linear = linear, .address = Address::kRepeat});
    for (const std::string_view step : {"0.125", "0.25", "0.5"}) {
      AgreeOnProbe(DeclarationOf(texture, "image") +
                       "set_material sampler filter;\n"
                       "f4 look (in f2 at) { return sample (filter, image, at); }\n",
                   fmt::format("f2 at = fragment_stage_frag_coord ().xy * f2 {{ {0}, 0.25 }};"
                               "result.f0 = sample (filter, image, at + f2 {{ 0.03125 }});"
                               "result.f1 = look (at.xx * f2 {{ 1.0, 0.5 }} + f2 {{ 0.03125 }});",
                               step),
                   Inputs());
    }
  }
}

}  // namespace
}  // namespace kiln::oracle
