// SPDX-License-Identifier: MIT
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

bool Takes(const TextureOverload& row, const Type& texture) {
  const char letter = "12a3cd"[static_cast<size_t>(texture.dim)];
  if (row.dimensions.find(letter) == std::string_view::npos) {
    return false;
  }
  switch (row.textures) {
    case TextureOperands::kSampled:
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
