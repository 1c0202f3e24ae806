// SPDX-License-Identifier: MIT
// Recorded pictures of the demo's materials on every built-in mesh, drawn from metadata and words
// alone. The driver that they were recorded with is in tests/gpu/pictures/driver.txt: with it,
// pixels are compared; with another one only what is covered and how light it is on the whole.
// KILN_UPDATE=1 in the environment records them anew. See spec/pso 10.8, 11.5.7
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "runtime/preview/image_file.h"
#include "runtime/preview/preview.h"
#include "tests/gpu/validated_device.h"
#include "tests/support/demo_artifacts.h"

namespace kiln {
namespace {

constexpr const char* kFolder = KILN_SOURCE_DIR "/tests/gpu/pictures";
constexpr VkExtent2D kSize = {96, 96};
constexpr int kOfAChannel = 1;       // of 255
constexpr double kOfPixels = 0.001;  // that may differ by more
constexpr double kCoverage = 0.05;   // other drivers: share of the picture
constexpr double kLightness = 12;    // the same: of 255

struct Material {
  std::string name;  // of the file
  std::string program;
  std::vector<std::string> options;
};
void PrintTo(const Material& material, std::ostream* out) { *out << material.name; }

const std::vector<Material> kMaterials = {
    {"pbr_plain", "pbr/viewer", {"tone_map=filmic"}},
    {"pbr_normal_map", "pbr/viewer", {"tone_map=filmic", "has_normal_map=true"}},
    {"pbr_orm_map", "pbr/viewer", {"tone_map=filmic", "has_orm_map=true"}},
    {"pbr_wireframe", "pbr/viewer", {"tone_map=reinhard", "wireframe=true"}},
    {"pbr_albedo", "pbr/viewer", {"tone_map=filmic", "debug_view=albedo"}},
    {"pbr_fog", "pbr/forward", {"light_count=4", "fog_kind=height", "fog_glow=true"}},
    {"pbr_cutout", "pbr/shadow_cutout", {}},
    {"ground_wet", "ground/forward", {"layer_slots=2", "layer_mix=slope", "wet=true"}},
    {"ground_grid", "ground/forward", {"layer_slots=1", "layer_mix=first", "grid_overlay=true"}},
    {"text", "text/forward", {"glyph_kind=distance", "outline=true"}},
};

// Light and surfaces that leave no picture all white.
const preview::SetValues kValues = {
    {"sun.to_sun", {0.41, 0.82, 0.4, 0}},
    {"sun.radiance", {2.5, 2.4, 2.2, 0}},
    {"atmosphere.sky", {0.3, 0.35, 0.45, 0}},
    {"atmosphere.ground", {0.15, 0.12, 0.1, 0}},
    {"atmosphere.haze.color", {0.6, 0.65, 0.7, 0.8}},
    {"atmosphere.haze.range", {1, 6, 0.3, 0.5}},
    {"material.base_color", {0.9, 0.5, 0.3, 1}},
    {"material.factors", {0.2, 0.4, 1, 0.5}},
    {"material.emissive", {0, 0, 0, 0}},
    {"soil.tint", {0.6, 0.5, 0.4, 1}},
    {"soil.wetness", {0.8, 0.2, 0.6, 0}},
    {"soil.grid_color", {0.1, 0.3, 0.9, 0.8}},
    {"font.shape", {0.5, 0.3, 0, 0}},
    {"run.color", {0.9, 0.8, 0.2, 1}},
    {"run.outline_color", {0.7, 0.1, 0.1, 1}},
    {"draw.uv_transform", {1, 1, 0, 0}},
    {"draw.highlight", {0, 0, 0, 0}},
};

// Those that the variant has.
preview::SetValues ValuesFor(const artifact::PipelineMetadata& metadata) {
  preview::SetValues values;
  const auto take = [&](const std::string& block, const artifact::Parameter& parameter) {
    const auto found = kValues.find(block + "." + parameter.name);
    if (found != kValues.end()) {
      values.insert(*found);
    }
  };
  for (const artifact::Set& set : metadata.sets) {
    for (const artifact::Buffer& buffer : set.buffers) {
      for (const artifact::Parameter& parameter : buffer.main_parameters) {
        take(buffer.name, parameter);
      }
    }
  }
  if (metadata.push_constant.has_value()) {
    for (const artifact::Parameter& parameter : metadata.push_constant->members) {
      take(metadata.push_constant->name, parameter);
    }
  }
  return values;
}

struct Summary {
  double covered = 0;    // share
  double lightness = 0;  // mean of all channels but alpha
};
Summary SummaryOf(const preview::Picture& picture) {
  Summary out;
  const size_t count = picture.rgba.size() / 4;
  for (size_t i = 0; i < count; ++i) {
    bool background = true;
    for (size_t c = 0; c < 3; ++c) {
      background = background && picture.rgba[i * 4 + c] == picture.rgba[c];
      out.lightness += picture.rgba[i * 4 + c] / (3.0 * static_cast<double>(count));
    }
    out.covered += background ? 0 : 1.0 / static_cast<double>(count);
  }
  return out;
}

// Pixels of which a channel is further away than drivers of one build round.
size_t Differing(const preview::Picture& a, const preview::Picture& b) {
  size_t differing = 0;
  for (size_t i = 0; i < a.rgba.size(); i += 4) {
    bool same = true;
    for (size_t c = 0; c < 4; ++c) {
      same = same && std::abs(a.rgba[i + c] - b.rgba[i + c]) <= kOfAChannel;
    }
    differing += same ? 0 : 1;
  }
  return differing;
}

class PreviewGolden : public graph::ValidatedDevice,
                      public ::testing::WithParamInterface<Material> {
 protected:
  void Compare(const std::string& path, const preview::Picture& drawn) {
    const auto recorded = preview::ReadPng(path);
    ASSERT_TRUE(recorded.ok()) << ErrorText(recorded.error()) << "; KILN_UPDATE=1 records it";
    ASSERT_EQ(recorded->rgba.size(), drawn.rgba.size());
    const auto driver = ReadFile(std::string(kFolder) + "/driver.txt");
    ASSERT_TRUE(driver.ok()) << ErrorText(driver.error());
    if (*driver == gpu->identity().driver_info + "\n") {
      EXPECT_LE(static_cast<double>(Differing(*recorded, drawn)),
                kOfPixels * kSize.width * kSize.height)
          << path << "; what was drawn is " << Keep(path, drawn);
      return;
    }
    EXPECT_NEAR(SummaryOf(*recorded).covered, SummaryOf(drawn).covered, kCoverage) << path;
    EXPECT_NEAR(SummaryOf(*recorded).lightness, SummaryOf(drawn).lightness, kLightness) << path;
  }

  static std::string Keep(const std::string& path, const preview::Picture& drawn) {
    const std::string kept =
        ::testing::TempDir() + "drawn_" + std::filesystem::path(path).filename().string();
    EXPECT_TRUE(preview::WritePng(kept, drawn).ok());
    return kept;
  }

  void Record(const std::string& path, const preview::Picture& drawn) {
    EXPECT_TRUE(preview::WritePng(path, drawn).ok());
    const std::string driver = gpu->identity().driver_info + "\n";
    EXPECT_TRUE(WriteFile(std::string(kFolder) + "/driver.txt", AsBytes(driver)).ok());
  }
};

TEST_P(PreviewGolden, EveryMesh_IsThePictureThatWasRecorded) {
  const auto demo = DemoArtifacts::Load(KILN_SOURCE_DIR "/examples/demo");
  ASSERT_TRUE(demo.ok()) << ErrorText(demo.error());
  const auto built = demo->Build(GetParam().program, GetParam().options);
  ASSERT_TRUE(built.ok()) << ErrorText(built.error());
  for (const char* const mesh : {"sphere", "cube", "quad"}) {
    const auto drawn =
        preview::Render(*gpu, GetParam().name, built->metadata, built->Modules(),
                        {.mesh = mesh, .size = kSize, .set = ValuesFor(built->metadata)});
    ASSERT_TRUE(drawn.ok()) << ErrorText(drawn.error());
    EXPECT_GT(drawn->covered, 0U) << mesh;
    const std::string path = std::string(kFolder) + "/" + GetParam().name + "." + mesh + ".png";
    if (std::getenv("KILN_UPDATE") != nullptr) {
      Record(path, drawn->picture);
    } else {
      Compare(path, drawn->picture);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Demo, PreviewGolden, ::testing::ValuesIn(kMaterials),
                         [](const auto& info) { return info.param.name; });

// A recorded picture that no material draws would never be looked at.
TEST(PreviewGoldens, Orphans_AreNone) {
  std::vector<std::string> orphans;
  for (const auto& file : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = file.path().filename().string();
    const bool known = std::ranges::any_of(kMaterials, [&](const Material& material) {
      return name.substr(0, name.find('.')) == material.name;
    });
    if (!known && name != "driver.txt") {
      orphans.push_back(name);
    }
  }
  EXPECT_TRUE(orphans.empty()) << orphans.front();
}

}  // namespace
}  // namespace kiln
