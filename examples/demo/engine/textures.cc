// SPDX-License-Identifier: MIT
// Textures of the demo, computed texel by texel, so no image files are needed. Everything is a
// function of the place alone: two runs give the same bytes.
#include "examples/demo/engine/textures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "compiler/base/check.h"
#include "examples/demo/engine/math.h"

namespace kiln::demo {
namespace {

using preview::ImageData;

constexpr uint32_t kSide = 256;
using Color = std::array<float, 4>;  // as stored, 0 to 1

// Levels by the mean of four texels. Sides must be powers of two, or the last row would be left out
// at each step.
std::vector<std::vector<std::byte>> AllLevels(std::vector<std::byte> first, VkExtent2D extent) {
  std::vector<std::vector<std::byte>> levels = {std::move(first)};
  while (extent.width > 1 && extent.height > 1) {
    const VkExtent2D half = {extent.width / 2, extent.height / 2};
    const std::vector<std::byte>& from = levels.back();
    std::vector<std::byte> to;
    to.reserve(size_t{half.width} * half.height * 4);
    for (uint32_t y = 0; y < half.height; ++y) {
      for (uint32_t x = 0; x < half.width * 4; ++x) {
        const size_t at = (size_t{y} * 2 * extent.width + size_t{x} / 4 * 2) * 4 + x % 4;
        const size_t row = size_t{extent.width} * 4;
        const auto texel = [&](size_t i) { return std::to_integer<uint32_t>(from[i]); };
        const uint32_t sum = texel(at) + texel(at + 4) + texel(at + row) + texel(at + row + 4);
        to.push_back(static_cast<std::byte>((sum + 2) / 4));
      }
    }
    levels.push_back(std::move(to));
    extent = half;
  }
  return levels;
}

// `paint` gives the color at (u, v), 0 to 1 from the upper left.
template <class Paint>
ImageData Make(VkFormat format, VkExtent2D extent, Paint paint) {
  std::vector<std::byte> texels;
  texels.reserve(size_t{extent.width} * extent.height * 4);
  for (uint32_t y = 0; y < extent.height; ++y) {
    for (uint32_t x = 0; x < extent.width; ++x) {
      const Color color = paint((static_cast<float>(x) + 0.5F) / static_cast<float>(extent.width),
                                (static_cast<float>(y) + 0.5F) / static_cast<float>(extent.height));
      for (const float channel : color) {
        // Rounded to the nearest value and not cut off, which would make everything a little
        // darker.
        texels.push_back(
            static_cast<std::byte>(std::lrintf(std::clamp(channel, 0.0F, 1.0F) * 255.0F)));
      }
    }
  }
  return {format, extent, AllLevels(std::move(texels), extent)};
}

// Colours are kept as sRGB, which sampling makes linear. Normals and factors are numbers and must
// stay as they are, so they have the other format.
template <class Paint>
ImageData MakeColor(Paint paint) {
  return Make(VK_FORMAT_R8G8B8A8_SRGB, {kSide, kSide}, paint);
}
template <class Paint>
ImageData MakeData(Paint paint) {
  return Make(VK_FORMAT_R8G8B8A8_UNORM, {kSide, kSide}, paint);
}

float Fract(float value) { return value - std::floor(value); }

Color Mix(const Color& a, const Color& b, float share) {
  Color out;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = a[i] + (b[i] - a[i]) * share;
  }
  return out;
}

// Repeats after `period` cells. Between 0 and 1. Cells are wrapped, so that the texture can be
// repeated without a seam.
float Random(int32_t x, int32_t y, int32_t period) {
  const auto wrap = [&](int32_t i) {
    return static_cast<uint32_t>((i % period + period) % period);
  };
  // A hash of the cell by multiplying and shifting: no table and no state, so any texel can be
  // computed alone. The constants are odd numbers whose bits look random.
  uint32_t bits = wrap(x) * 0x9e37'79b9U ^ wrap(y) * 0x85eb'ca6bU ^ static_cast<uint32_t>(period);
  bits = (bits ^ bits >> 15U) * 0x2c1b'3c6dU;
  bits = (bits ^ bits >> 12U) * 0x297a'2d39U;
  return static_cast<float>((bits ^ bits >> 15U) & 0xffffU) / 65535.0F;
}

// Values of four corners of a cell, blended. `cells` is also the period.
float Noise(float u, float v, int32_t cells) {
  const float x = u * static_cast<float>(cells);
  const float y = v * static_cast<float>(cells);
  const auto column = static_cast<int32_t>(std::floor(x));
  const auto row = static_cast<int32_t>(std::floor(y));
  // The curve is flat at both ends, so cells join without a crease.
  const auto ease = [](float t) { return t * t * (3 - 2 * t); };
  const float across = ease(Fract(x));
  const float down = ease(Fract(y));
  const float top = std::lerp(Random(column, row, cells), Random(column + 1, row, cells), across);
  const float bottom =
      std::lerp(Random(column, row + 1, cells), Random(column + 1, row + 1, cells), across);
  return std::lerp(top, bottom, down);
}

// Three sizes of noise, the coarsest with the largest share.
float Turbulence(float u, float v) {
  return 0.5F * Noise(u, v, 8) + 0.3F * Noise(u, v, 16) + 0.2F * Noise(u, v, 48);
}

struct Brick {
  float height;  // 0 in the mortar, 1 on the brick
  float shade;   // per brick
};

Brick BrickAt(float u, float v) {
  constexpr float kColumns = 4;
  constexpr float kRows = 8;
  constexpr float kMortar = 0.06F;
  const float row = std::floor(v * kRows);
  // Every other row is shifted by half a brick.
  const float x = u * kColumns + (std::fmod(row, 2.0F) == 0.0F ? 0.0F : 0.5F);
  const float side = std::min(Fract(x), 1 - Fract(x)) * 2;  // brick is twice as wide
  const float top = std::min(Fract(v * kRows), 1 - Fract(v * kRows));
  const float edge = std::min(side, top);
  const float shade =
      Random(static_cast<int32_t>(std::floor(x)) % 4, static_cast<int32_t>(row), 64);
  return {std::clamp((edge - kMortar) / 0.08F, 0.0F, 1.0F), shade};
}

float BrickHeight(float u, float v) { return BrickAt(u, v).height + 0.25F * Noise(u, v, 64); }

// ---- letters

struct Stroke {
  float x0, y0, x1, y1;  // of a cell, y down
};

// Only the four letters that the demo writes; any other is empty.
std::vector<Stroke> StrokesOf(char letter) {
  switch (letter) {
    case 'K':
      return {
          {0.28F, 0.15F, 0.28F, 0.85F}, {0.74F, 0.15F, 0.30F, 0.52F}, {0.42F, 0.44F, 0.76F, 0.85F}};
    case 'I':
      return {
          {0.5F, 0.15F, 0.5F, 0.85F}, {0.34F, 0.15F, 0.66F, 0.15F}, {0.34F, 0.85F, 0.66F, 0.85F}};
    case 'L':
      return {{0.32F, 0.15F, 0.32F, 0.85F}, {0.32F, 0.85F, 0.74F, 0.85F}};
    case 'N':
      return {
          {0.26F, 0.85F, 0.26F, 0.15F}, {0.26F, 0.15F, 0.74F, 0.85F}, {0.74F, 0.85F, 0.74F, 0.15F}};
    default:
      return {};
  }
}

// The nearest point of a line is its foot, or an end if the foot lies beyond it.
float DistanceTo(const Stroke& stroke, float x, float y) {
  const float dx = stroke.x1 - stroke.x0;
  const float dy = stroke.y1 - stroke.y0;
  const float along = ((x - stroke.x0) * dx + (y - stroke.y0) * dy) / (dx * dx + dy * dy);
  const float t = std::clamp(along, 0.0F, 1.0F);
  return std::hypot(x - stroke.x0 - dx * t, y - stroke.y0 - dy * t);
}

}  // namespace

ImageData White() {
  return Make(VK_FORMAT_R8G8B8A8_SRGB, {1, 1}, [](float, float) { return Color{1, 1, 1, 1}; });
}

ImageData Checker() {
  return MakeColor([](float u, float v) {
    const auto square = static_cast<int32_t>(u * 4) + static_cast<int32_t>(v * 4);
    const Color color =
        square % 2 == 0 ? Color{0.74F, 0.71F, 0.65F, 1} : Color{0.50F, 0.51F, 0.52F, 1};
    const float x = Fract(u * 4);
    const float y = Fract(v * 4);
    const float seam = std::min(std::min(x, 1 - x), std::min(y, 1 - y));
    const Color worn = Mix(color, {0.30F, 0.29F, 0.27F, 1}, 0.25F * Turbulence(u, v));
    return seam < 0.015F ? Mix(worn, {0.16F, 0.16F, 0.16F, 1}, 0.8F) : worn;
  });
}

ImageData Soil() {
  return MakeColor([](float u, float v) {
    const float grain = Turbulence(u, v);
    return Mix({0.34F, 0.25F, 0.17F, 1}, {0.60F, 0.47F, 0.33F, 1}, grain);
  });
}

ImageData Stripes() {
  return MakeColor([](float u, float v) {
    const float band = Fract(u * 4 + v * 2);
    const Color light = {0.90F, 0.88F, 0.82F, 1};
    const Color dark = {0.12F, 0.36F, 0.52F, 1};
    return Mix(band < 0.5F ? light : dark, {0.3F, 0.3F, 0.3F, 1}, 0.2F * Turbulence(u, v));
  });
}

// The edge of a hole is soft over a twentieth of a cell, so that the threshold of a cutout has
// something to cut.
ImageData Holes() {
  return MakeColor([](float u, float v) {
    const float x = Fract(u * 6) - 0.5F;
    const float y = Fract(v * 6) - 0.5F;
    const float alpha = std::clamp((std::hypot(x, y) - 0.26F) * 20 + 0.5F, 0.0F, 1.0F);
    return Color{0.85F, 0.55F, 0.16F, alpha};
  });
}

ImageData Bricks() {
  return MakeColor([](float u, float v) {
    const Brick brick = BrickAt(u, v);
    const Color clay = Mix({0.52F, 0.20F, 0.14F, 1}, {0.74F, 0.38F, 0.24F, 1}, brick.shade);
    const Color rough = Mix(clay, {0.30F, 0.16F, 0.12F, 1}, 0.35F * Turbulence(u, v));
    return Mix({0.62F, 0.60F, 0.56F, 1}, rough, brick.height);
  });
}

ImageData BrickNormals() {
  return MakeData([](float u, float v) {
    constexpr float kStep = 1.0F / static_cast<float>(kSide);
    constexpr float kDepth = 0.9F;
    // The slope by differences to the neighbours; heights repeat at the edges, so the normals do.
    const float across = BrickHeight(u + kStep, v) - BrickHeight(u - kStep, v);
    const float down = BrickHeight(u, v + kStep) - BrickHeight(u, v - kStep);
    const Vec3 normal = Normalized({-across * kDepth, -down * kDepth, 1});
    return Color{normal.x * 0.5F + 0.5F, normal.y * 0.5F + 0.5F, normal.z * 0.5F + 0.5F, 1};
  });
}

ImageData BrickFactors() {
  return MakeData([](float u, float v) {
    const Brick brick = BrickAt(u, v);
    return Color{0.45F + 0.55F * brick.height, 0.95F - 0.25F * brick.height * brick.shade, 0, 1};
  });
}

ImageData Sparks() {
  return MakeColor([](float u, float v) {
    const float wave = std::abs(Fract(u * 3 + 0.1F * std::sin(v * 8 * kPi)) - 0.5F);
    const float ring = std::abs(Fract(v * 5) - 0.5F);
    const float line = std::min(wave, ring);
    const float glow = std::clamp(1 - line * 14, 0.0F, 1.0F);
    return Color{glow, 0.55F * glow, 0.12F * glow, 1};
  });
}

ImageData GlyphAtlas(std::string_view letters) {
  constexpr uint32_t kCell = 128;
  constexpr float kThickness = 0.07F;
  constexpr float kRange = 0.2F;  // distance over which the value falls by 0.5
  const auto count = static_cast<uint32_t>(letters.size());
  return Make(VK_FORMAT_R8G8B8A8_UNORM, {kCell * count, kCell}, [&](float u, float v) {
    const float cell = u * static_cast<float>(count);
    const auto index = std::min(static_cast<size_t>(cell), letters.size() - 1);
    float nearest = 1;
    for (const Stroke& stroke : StrokesOf(letters[index])) {
      nearest = std::min(nearest, DistanceTo(stroke, cell - static_cast<float>(index), v));
    }
    // Above one half is inside. The shader can cut at any distance from that, which makes edges
    // sharp at every size and outlines free.
    const float value = 0.5F + (kThickness - nearest) / (2 * kRange);
    return Color{value, value, value, 1};
  });
}

}  // namespace kiln::demo
