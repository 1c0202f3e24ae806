// SPDX-License-Identifier: MIT
// Overloads of functions of textures as data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/front/wgsl/sema/function.h"

namespace kiln::wgsl::front {

enum class TextureOperands : uint8_t { kSampled, kSampledAny, kMultisampled, kDepth, kStorage };
struct TextureOverload {
  Function function;
  TextureOperands textures;
  std::string_view dimensions;
  std::string_view parameters;
  std::string_view result;
};
std::span<const TextureOverload> TextureOverloads();

// Does the row take such a texture?
bool Takes(const TextureOverload& row, const Type& texture);
bool IsArrayed(TextureDim dim);
// Components of a coordinate of floats, without the layer.
uint32_t CoordinatesOf(TextureDim dim);

}  // namespace kiln::wgsl::front
