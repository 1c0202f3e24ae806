// SPDX-License-Identifier: MIT
// What the demo shows: which variants of which programs, with which meshes, textures and values.
// Only names and tags of examples/demo/README.md occur here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "examples/demo/engine/meshes.h"
#include "examples/demo/engine/values.h"
#include "examples/demo/engine/variants.h"
#include "runtime/preview/sampler.h"
#include "runtime/preview/upload.h"

namespace kiln::demo {

struct SceneDraw {
  std::string name;  // for messages
  VariantRequest variant;
  std::string mesh;  // of Scene::meshes
  uint32_t instance_count = 1;
  Streams instances;  // if the variant takes instance data
  ValueTable values;
  std::map<std::string, std::vector<std::string>> images;  // image of the shader → Scene::textures
};

struct Scene {
  // Images of the passes, to be named in SceneDraw::images like textures.
  static constexpr const char* kShadowMap = "shadow_map";
  static constexpr const char* kSceneColor = "scene_color";
  static constexpr const char* kSceneDepth = "scene_depth";
  static constexpr const char* kSceneLight = "scene_light";
  static constexpr const char* kHistory = "history";  // what was resolved in the last frame
  static constexpr const char* kResolved = "resolved";
  static constexpr const char* kBloomHalf = "bloom_half";
  static constexpr const char* kBloomQuarter = "bloom_quarter";
  static constexpr const char* kBloomEighth = "bloom_eighth";
  static constexpr const char* kBloomQuarterUp = "bloom_quarter_up";
  static constexpr const char* kBloom = "bloom";
  static bool IsPassImage(std::string_view name);

  static constexpr uint32_t kPhases = 4;  // parts of a pixel by which the camera is shifted
  static constexpr uint32_t kBloomSteps = 5;

  std::map<std::string, Mesh> meshes;
  std::map<std::string, preview::ImageData> textures;
  std::map<std::string, preview::SamplerInfo> samplers;  // by the sampler's name in the shaders
  std::vector<SceneDraw> shadow;                         // depth only, seen from the sun
  std::vector<SceneDraw> forward;                        // in drawing order
  std::vector<SceneDraw> lighting;                       // one draw: light from color and depth
  std::vector<SceneDraw> temporal;                       // one per phase
  std::vector<SceneDraw> bloom;                          // one per step
  std::vector<SceneDraw> compose;                        // one draw
  std::vector<SceneDraw> interface;
  ValueTable shadow_values;
  std::array<ValueTable, kPhases> forward_values;  // they differ in the camera only
  ValueTable screen_values;                        // of all passes over the whole screen
  std::vector<float> background;                   // linear rgba
  uint32_t shadow_side = 2048;                     // texels
};

// The draws of every pass.
std::vector<const std::vector<SceneDraw>*> DrawsOf(const Scene& scene);

// The one scene of the demo, for a picture of width × height.
Scene MakeScene(uint32_t width, uint32_t height);

// Every variant that the scene needs, sorted, each once.
std::vector<VariantRequest> VariantsOf(const Scene& scene);

}  // namespace kiln::demo
