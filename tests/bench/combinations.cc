// SPDX-License-Identifier: MIT
#include "tests/bench/combinations.h"

namespace kiln::bench {

Combination DecodeCombination(uint32_t index) {
  Combination result;
  result.max_point_lights = 1 + index % 10;
  index /= 10;
  result.tonemap = index & 3u;
  index >>= 2;
  for (bool* flag : {&result.directional, &result.normal_map, &result.normal_two_channel,
                     &result.metal_rough_map, &result.occlusion, &result.emissive,
                     &result.alpha_clip, &result.skinning, &result.wireframe}) {
    *flag = (index & 1u) != 0;
    index >>= 1;
  }
  return result;
}

std::vector<Combination> SampleCombinations(uint32_t count) {
  std::vector<bool> seen(kCombinationCount);
  std::vector<Combination> result;
  uint64_t state = 0x9E3779B97F4A7C15u;
  while (result.size() < count && result.size() < kCombinationCount) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const auto index = static_cast<uint32_t>((state >> 20) % kCombinationCount);
    if (!seen[index]) {
      seen[index] = true;
      result.push_back(DecodeCombination(index));
    }
  }
  return result;
}

std::string GlslPreamble(const Combination& c) {
  const auto line = [](const char* name, uint32_t value) {
    return "#define " + std::string(name) + " " + std::to_string(value) + "\n";
  };
  return line("MAX_POINT_LIGHTS", c.max_point_lights) + line("TONEMAP", c.tonemap) +
         line("USE_DIRECTIONAL", c.directional) + line("USE_NORMAL_MAP", c.normal_map) +
         line("NORMAL_TWO_CHANNEL", c.normal_two_channel) +
         line("USE_METAL_ROUGH_MAP", c.metal_rough_map) + line("USE_OCCLUSION", c.occlusion) +
         line("USE_EMISSIVE", c.emissive) + line("ALPHA_CLIP", c.alpha_clip) +
         line("USE_SKINNING", c.skinning);
}

}  // namespace kiln::bench
