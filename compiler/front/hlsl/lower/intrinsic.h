// SPDX-License-Identifier: MIT
// Intrinsics as instructions: by the builtins of their rows, or by a function. See spec/hlsl 6.3,
// 18
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Requires: kIntrinsic.
ir::InstId IntrinsicValue(LowerContext& context, const Expr& expr);

}  // namespace kiln::hlsl
