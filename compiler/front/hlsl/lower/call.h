// SPDX-License-Identifier: MIT
// Calls: arguments in order, the call, then what comes back, in order. See spec/hlsl 13.2
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Requires: kCall. Of a function that gives nothing the call itself.
ir::InstId CallValue(LowerContext& context, const Expr& expr);

}  // namespace kiln::hlsl
