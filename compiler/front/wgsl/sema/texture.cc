// SPDX-License-Identifier: MIT
// Which row of textures.def a call may be. Arguments are matched by the checker; here only the
// texture itself is looked at, as it decides what the letters of a row mean.
#include "compiler/front/wgsl/sema/texture.h"

namespace kiln::wgsl::front {
namespace {

constexpr TextureOverload kRows[] = {
#define KILN_WGSL_TEXTURE(function, textures, dimensions, parameters, result) \
  {Function::k##function, TextureOperands::k##textures, dimensions, parameters, result},
#include "compiler/front/wgsl/sema/textures.def"
};

}  // namespace

std::span<const TextureOverload> TextureOverloads() { return kRows; }

// A row of textures.def names the dimensions it is for by letters, which stand here in the
// order of TextureDim: 1d, 2d, 2d array, 3d, cube, cube array.
bool Takes(const TextureOverload& row, const Type& texture) {
  const char letter = "12a3cd"[static_cast<size_t>(texture.dim)];
  if (row.dimensions.find(letter) == std::string_view::npos) {
    return false;
  }
  switch (row.textures) {
    case TextureOperands::kSampled:
      // What filters has floats. Integers are fetched and gathered only.
      return texture.texture == TextureClass::kSampled && texture.scalar == ScalarKind::kF32;
    case TextureOperands::kSampledAny:
      return texture.texture == TextureClass::kSampled;
    case TextureOperands::kMultisampled:
      return texture.texture == TextureClass::kMultisampled ||
             texture.texture == TextureClass::kDepthMultisampled;
    case TextureOperands::kDepth:
      return texture.texture == TextureClass::kDepth;
    case TextureOperands::kStorage:
      return texture.texture == TextureClass::kStorage;
  }
  return false;
}

bool IsArrayed(TextureDim dim) {
  return dim == TextureDim::k2dArray || dim == TextureDim::kCubeArray;
}

// Without the layer of an array, which is an argument of its own in WGSL.
uint32_t CoordinatesOf(TextureDim dim) {
  switch (dim) {
    case TextureDim::k1d:
      return 1;
    case TextureDim::k2d:
    case TextureDim::k2dArray:
      return 2;
    default:
      return 3;
  }
}

}  // namespace kiln::wgsl::front
