// SPDX-License-Identifier: MIT
// Expressions: one loop over their rows. What is made of a failed row has failed, in silence.
#pragma once

#include <optional>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Whatever the expression is: value, place, type or function.
ExprId CheckExpression(CheckContext& context, syntax::ExprId id);
// A type, or kFailed.
TypeId CheckType(CheckContext& context, syntax::ExprId id);
// A constant; of an integer type that number, if it is one.
ExprId CheckConstant(CheckContext& context, syntax::ExprId id);

}  // namespace kiln::wgsl::front
