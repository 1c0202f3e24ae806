// SPDX-License-Identifier: MIT
#include "tests/support/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "compiler/base/check.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

using ir::Builtin;
using ir::ImageDim;

// Weights of texels have eight bits, those of levels four.
constexpr double kWeightError = 0x1p-7;
constexpr double kLevelError = 0x1p-4;

using Numbers = std::array<double, 4>;
using Texel = std::optional<std::array<float, 4>>;  // nothing: border

// A coordinate of the level as an index, or nothing for the border.
std::optional<uint32_t> IndexOf(int64_t i, uint32_t count, Address address) {
  const auto size = static_cast<int64_t>(count);
  switch (address) {
    case Address::kRepeat:
      return static_cast<uint32_t>((i % size + size) % size);
    case Address::kMirroredRepeat: {
      const int64_t turn = (i % (2 * size) + 2 * size) % (2 * size);
      return static_cast<uint32_t>(turn < size ? turn : 2 * size - 1 - turn);
    }
    case Address::kClampToEdge:
      return static_cast<uint32_t>(std::clamp<int64_t>(i, 0, size - 1));
    case Address::kClampToBorder:
      return i < 0 || i >= size ? std::nullopt : std::optional(static_cast<uint32_t>(i));
  }
  KILN_UNREACHABLE();
}

// Where a request samples: coordinates without face or layer, and the layer.
struct Site {
  std::vector<double> at;
  uint32_t layer = 0;
};

// Face and position on it. Spec: Vulkan 1.3, 16.5.4
Site OnFace(const std::vector<float>& r) {
  const float x = std::fabs(r[0]);
  const float y = std::fabs(r[1]);
  const float z = std::fabs(r[2]);
  const auto site = [](uint32_t face, double s, double t, double major) {
    return Site{.at = {(s / major + 1) / 2, (t / major + 1) / 2}, .layer = face};
  };
  if (z >= x && z >= y) {
    return r[2] >= 0 ? site(4, r[0], -r[1], z) : site(5, -r[0], -r[1], z);
  }
  if (y >= x) {
    return r[1] >= 0 ? site(2, r[0], r[2], y) : site(3, r[0], -r[2], y);
  }
  return r[0] >= 0 ? site(0, -r[2], -r[1], x) : site(1, r[2], -r[1], x);
}

Site SiteOf(const Texture& texture, const std::vector<float>& coordinate) {
  if (texture.dim == ImageDim::kCube) {
    return OnFace(coordinate);
  }
  Site site{.at = {coordinate.begin(), coordinate.end()}};
  if (texture.arrayed) {
    const double layer = std::nearbyint(site.at.back());
    site.layer = static_cast<uint32_t>(std::clamp(layer, 0.0, texture.layers - 1.0));
    site.at.pop_back();
  }
  return site;
}

class LevelReader {
 public:
  LevelReader(const Texture& texture, const SamplerState& sampler, const Site& site, uint32_t level)
      : texture_(texture), sampler_(sampler), site_(site), level_(level) {}

  Texel At(const std::array<int64_t, 3>& position) const {
    const std::array<uint32_t, 3> size = texture_.SizeOf(level_);
    std::array<uint32_t, 3> texel{};
    for (size_t i = 0; i < site_.at.size(); ++i) {
      const std::optional<uint32_t> index = IndexOf(position[i], size[i], sampler_.address);
      if (!index.has_value()) {
        return std::nullopt;
      }
      texel[i] = *index;
    }
    const uint32_t slice = texel[2] + site_.layer;
    return texture_.levels[level_][(slice * size[1] + texel[1]) * size[0] + texel[0]];
  }

  // Lower corner of the footprint of the linear filter, or the nearest texel; what is beyond it.
  std::array<int64_t, 3> Corner(bool linear, std::array<double, 3>& beyond) const {
    const std::array<uint32_t, 3> size = texture_.SizeOf(level_);
    std::array<int64_t, 3> corner{};
    for (size_t i = 0; i < site_.at.size(); ++i) {
      const double place = site_.at[i] * size[i] - (linear ? 0.5 : 0);
      corner[i] = static_cast<int64_t>(std::floor(place));
      beyond[i] = place - std::floor(place);
    }
    return corner;
  }

  // Calls `add` with the texels of the filter and their weights.
  void Visit(const std::function<void(const Texel&, double weight)>& add) const {
    std::array<double, 3> beyond{};
    const std::array<int64_t, 3> corner = Corner(sampler_.linear, beyond);
    for (uint32_t bits = 0; bits < (sampler_.linear ? 1U << site_.at.size() : 1U); ++bits) {
      std::array<int64_t, 3> position = corner;
      double weight = 1;
      for (size_t i = 0; sampler_.linear && i < site_.at.size(); ++i) {
        const bool upper = (bits >> i & 1U) != 0;
        position[i] += upper ? 1 : 0;
        weight *= upper ? beyond[i] : 1 - beyond[i];
      }
      add(At(position), weight);
    }
  }

 private:
  const Texture& texture_;
  const SamplerState& sampler_;
  const Site& site_;
  uint32_t level_;
};

// What a texel counts for: its numbers, or whether the reference is less or equal.
Numbers NumbersOf(const Texture& texture, const Texel& texel, const SampleRequest& request,
                  const SamplerState& sampler) {
  if (sampler.compares) {
    const float depth = texel.has_value() ? (*texel)[0] : 0;
    return {request.reference <= depth ? 1.0 : 0.0, 0, 0, 0};
  }
  if (!texel.has_value()) {
    return {0, 0, 0, texture.depth ? 1.0 : 0.0};
  }
  return {(*texel)[0], (*texel)[1], (*texel)[2], (*texel)[3]};
}

// A sum of weighted numbers, and how far apart these lie.
struct Blend {
  Numbers sum{};
  Numbers low{};
  Numbers high{};
  bool any = false;

  void Add(const Numbers& numbers, double weight) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      sum[i] += numbers[i] * weight;
      low[i] = any ? std::min(low[i], numbers[i]) : numbers[i];
      high[i] = any ? std::max(high[i], numbers[i]) : numbers[i];
    }
    any = true;
  }
};

bool HasLevel(Builtin builtin) {
  return builtin == Builtin::kSampleLod || builtin == Builtin::kSampleDrefLod;
}

double LevelOf(const Texture& texture, const SampleRequest& request) {
  if (HasLevel(request.builtin)) {
    return request.lod;
  }
  const auto reach = [&](const std::vector<float>& step) {
    double sum = 0;
    for (size_t i = 0; i < std::min<size_t>(step.size(), texture.arrayed ? 2 : 3); ++i) {
      sum += std::pow(double{step[i]} * texture.size[i], 2);
    }
    return std::sqrt(sum);
  };
  const double longest = std::max(reach(request.ddx), reach(request.ddy));
  return longest == 0 ? 0 : std::log2(longest);
}

Value Filtered(const Texture& texture, const SamplerState& sampler, const SampleRequest& request) {
  const Site site = SiteOf(texture, request.coordinate);
  const double last = texture.level_count - 1.0;
  const double level = std::clamp(LevelOf(texture, request), 0.0, last);
  const double whole = sampler.linear ? std::floor(level) : std::nearbyint(level);
  const double rest = sampler.linear ? level - whole : 0;
  Blend blend;
  const auto add = [&](double number, double share) {
    const LevelReader reader(texture, sampler, site, static_cast<uint32_t>(number));
    reader.Visit([&](const Texel& texel, double weight) {
      blend.Add(NumbersOf(texture, texel, request, sampler), weight * share);
    });
  };
  add(whole, 1 - rest);
  if (rest != 0) {
    add(whole + 1, rest);
  }
  // A level that was computed may be a bit more or less: texels of its neighbours count, too.
  const bool computed = sampler.linear && !HasLevel(request.builtin);
  if (computed) {
    add(std::min(whole + 1, last), 0);
    add(std::max(whole - 1, 0.0), 0);
  }
  const double weights = 3 * kWeightError + (computed || rest != 0 ? kLevelError : 0);
  Value result;
  for (size_t i = 0; i < (sampler.compares ? 1 : 4); ++i) {
    const double rounding = sampler.linear ? 8 * UlpOf(blend.high[i]) : 0;
    result.push_back(Rounded(blend.sum[i], (blend.high[i] - blend.low[i]) * weights + rounding));
  }
  return result;
}

// Of the linear footprint of level 0, against the clock from its upper left (rows grow downwards).
Value Gathered(const Texture& texture, const SamplerState& sampler, const SampleRequest& request) {
  const Site site = SiteOf(texture, request.coordinate);
  const LevelReader reader(texture, sampler, site, 0);
  std::array<double, 3> beyond{};
  const std::array<int64_t, 3> corner = reader.Corner(true, beyond);
  constexpr std::array<std::array<int64_t, 2>, 4> kOrder = {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  Value result;
  for (const auto& [x, y] : kOrder) {
    const Texel texel = reader.At({corner[0] + x, corner[1] + y, 0});
    result.push_back(Rounded(NumbersOf(texture, texel, request, sampler)[request.component], 0));
  }
  return result;
}

Value Fetched(const Texture& texture, const SampleRequest& request) {
  const auto level = static_cast<uint32_t>(request.lod);
  const std::array<uint32_t, 3> size = texture.SizeOf(level);
  const uint32_t slice = request.texel.size() > 2 ? request.texel[2] : 0;
  return ExactFloats(
      texture.levels[level][(slice * size[1] + request.texel[1]) * size[0] + request.texel[0]]);
}

Value SizeAnswer(const Texture& texture, const SampleRequest& request) {
  const std::array<uint32_t, 3> size = texture.SizeOf(static_cast<uint32_t>(request.lod));
  std::vector<uint32_t> words = {size[0], size[1]};
  if (texture.dim == ImageDim::k3d) {
    words.push_back(size[2]);
  } else if (texture.arrayed) {
    words.push_back(texture.layers);
  }
  return ExactValue(words);
}

}  // namespace

std::array<uint32_t, 3> Texture::SizeOf(uint32_t level) const {
  std::array<uint32_t, 3> smaller = size;
  for (uint32_t& side : smaller) {
    side = std::max(side >> level, 1U);
  }
  return smaller;
}

Texture MakeTexture(ImageDim dim, bool arrayed, bool depth, uint32_t level_count) {
  constexpr uint32_t kSide = 8;
  const bool cube = dim == ImageDim::kCube;
  Texture texture{.dim = dim,
                  .arrayed = arrayed,
                  .depth = depth,
                  .size = {kSide, cube ? kSide : kSide / 2, dim == ImageDim::k3d ? kSide / 2 : 1},
                  .layers = cube      ? 6U
                            : arrayed ? 3U
                                      : 1U,
                  .level_count = level_count,
                  .levels = {}};
  for (uint32_t level = 0; level < level_count; ++level) {
    const auto [width, height, deep] = texture.SizeOf(level);
    std::vector<std::array<float, 4>>& texels = texture.levels.emplace_back();
    for (uint32_t i = 0; i < width * height * deep * texture.layers; ++i) {
      const auto number = static_cast<float>(i);
      const auto turn = static_cast<float>((i * 7 + level * 5) % 16);
      texels.push_back(depth ? std::array{turn / 16, 0.0F, 0.0F, 1.0F}
                             : std::array{number, turn, static_cast<float>(level) * 8,
                                          static_cast<float>(i % 3)});
    }
  }
  return texture;
}

Value TextureTable::Answer(const SampleRequest& request) const {
  const Texture& texture = textures.find(request.image)->second;
  if (request.builtin == Builtin::kImageLevels) {
    return ExactValue(std::array{texture.level_count});
  }
  if (request.builtin == Builtin::kImageSize) {
    return SizeAnswer(texture, request);
  }
  if (request.builtin == Builtin::kFetch) {
    return Fetched(texture, request);
  }
  const SamplerState& sampler = samplers.find(request.sampler)->second;
  if (request.builtin == Builtin::kGather || request.builtin == Builtin::kGatherDref) {
    return Gathered(texture, sampler, request);
  }
  return Filtered(texture, sampler, request);
}

}  // namespace kiln::oracle
