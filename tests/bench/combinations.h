// SPDX-License-Identifier: MIT
// The fixed list of option combinations that kiln and its peers are measured with: a pseudo-random
// sample without replacement of the 20,480 combinations of the uber shader in shaders/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::bench {

struct Combination {
  uint32_t max_point_lights = 1;  // 1..10
  uint32_t tonemap = 0;           // 0..3
  bool directional = false, normal_map = false, normal_two_channel = false;
  bool metal_rough_map = false, occlusion = false, emissive = false, alpha_clip = false;
  bool skinning = false;
  bool wireframe = false;  // fixed-function state only: must not change any SPIR-V
};

inline constexpr uint32_t kCombinationCount = 20480;

Combination DecodeCombination(uint32_t index);

// The first `count` of the list; at most kCombinationCount.
std::vector<Combination> SampleCombinations(uint32_t count);

// "#define MAX_POINT_LIGHTS 4\n…" for the GLSL twin of the shader.
std::string GlslPreamble(const Combination& combination);

}  // namespace kiln::bench
