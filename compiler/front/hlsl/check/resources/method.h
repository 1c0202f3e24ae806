// SPDX-License-Identifier: MIT
// Methods and index forms of resources. See spec/hlsl 19
#pragma once

#include <span>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// Diagnostics: HLSL2005, HLSL2021, HLSL4006, HLSL4007, HLSL8004.
ExprId MakeMethod(CheckContext& context, ExprId object, uint32_t name,
                  std::span<const ExprId> arguments, TokenRange at);
// `.mips` and `.sample` of an image; invalid if it is neither. They have no value: only an index
// may follow.
ExprId MakeLevels(CheckContext& context, ExprId object, uint32_t name, TokenRange at);
bool IsLevels(const Expr& expr);
// `object[index]`: an element of a structured buffer, a texel.
ExprId MakeObjectIndex(CheckContext& context, ExprId object, ExprId index, TokenRange at);

}  // namespace kiln::hlsl
