// SPDX-License-Identifier: MIT
// Texels of images by their numbers, and sizes of resources. See spec/hlsl 11, 19
#pragma once

#include "compiler/front/hlsl/check/resources/method_site.h"

namespace kiln::hlsl {

// `image.Load (texel, [sample], [offset])`.
ExprId LoadMethod(const MethodSite& site, std::span<const ExprId> arguments);
// `image[texel]`: a place if the image is written.
ExprId TexelOf(const MethodSite& site, ExprId index);
// `.mips` or `.sample` of an image; invalid if it is neither.
ExprId LevelsOf(const MethodSite& site);
// `[level]` behind it, then `[texel]`. Requires: a row that LevelsOf or this made.
ExprId IndexLevels(CheckContext& context, ExprId levels, ExprId index, TokenRange at);

// `GetDimensions ([level], out …)` of any resource.
ExprId DimensionsMethod(const MethodSite& site, std::span<const ExprId> arguments);

// The offset, converted, if it is constant and from -8 to 7, else HLSL4005.
ExprId ConstantOffset(const MethodSite& site, ExprId written, ExprId converted);

}  // namespace kiln::hlsl
