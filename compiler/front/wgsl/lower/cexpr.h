// SPDX-License-Identifier: MIT
// Expressions over overrides as compile-time expressions of the IR: sizes of arrays and workgroups,
// values of other overrides and of private variables.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// Requires: rate at most kOverride, of a scalar, IsCexpr.
ir::CexprId CexprOf(LowerContext& context, ExprId id);

// Of an i32, as a count: what is below zero is an error of the variant.
ir::CexprId CountOfSigned(LowerContext& context, ExprId id);

}  // namespace kiln::wgsl::front
