// SPDX-License-Identifier: MIT
// Rows of operators and predeclared functions over values; folding.
#pragma once

#include <span>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// The overload that the arguments choose (WGSL2001), as a constant if all are (WGSL3001).
ExprId MakeOperation(CheckContext& context, Function function, std::span<const ExprId> arguments,
                     TokenRange at);
// `a && b`, `a || b`.
ExprId MakeLogical(CheckContext& context, bool is_or, ExprId left, ExprId right, TokenRange at);
// The latest of the rates.
Rate RateOf(const CheckContext& context, std::span<const ExprId> ids);
// "i32, f32"
std::string TypesText(const CheckContext& context, std::span<const ExprId> ids);
// The struct that frexp and modf give, or atomicCompareExchangeWeak.
TypeId PartsType(CheckContext& context, Function function, ScalarKind scalar, uint32_t rows);

}  // namespace kiln::wgsl::front
