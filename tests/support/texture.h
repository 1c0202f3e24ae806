// SPDX-License-Identifier: MIT
// Images that are sampled, as the Vulkan specification says (chapter "Image Operations"): levels,
// address modes, filters, comparison, gathering. Bounds of results follow from the precision that
// weights and levels have to have.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/interpreter.h"

namespace kiln::oracle {

struct Texture {
  ir::ImageDim dim = ir::ImageDim::k2d;
  bool arrayed = false;
  bool depth = false;
  std::array<uint32_t, 3> size = {1, 1, 1};  // of level 0; the last one is 1 but for volumes
  uint32_t layers = 1;                       // 6 for cubes
  uint32_t level_count = 1;
  // Four numbers for each texel of a level, x fastest, layers last.
  std::vector<std::vector<std::array<float, 4>>> levels{};

  std::array<uint32_t, 3> SizeOf(uint32_t level) const;
};

// With numbers that tell all texels apart; depths are in [0, 1).
Texture MakeTexture(ir::ImageDim dim, bool arrayed, bool depth, uint32_t level_count);

enum class Address : uint8_t { kRepeat, kMirroredRepeat, kClampToEdge, kClampToBorder };

// Filter of texels and of levels. The border is black and transparent; a comparison is less or
// equal.
struct SamplerState {
  bool linear = false;
  Address address = Address::kClampToEdge;
  bool compares = false;
};

// Textures and samplers by name, as `Surroundings::sample` wants them.
struct TextureTable {
  std::map<std::string, Texture, std::less<>> textures;
  std::map<std::string, SamplerState, std::less<>> samplers;

  Value Answer(const SampleRequest& request) const;
};

}  // namespace kiln::oracle
