// SPDX-License-Identifier: MIT
// Expressions as values of the IR. Operands come before what uses them, left to right; the right
// side of an assignment comes before its place (spec/hlsl 10.3).
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// The value of an expression; of what gives none, its last instruction. Chains of first operands
// are walked by a loop, all else nests as deep as brackets do.
ir::InstId ValueOf(LowerContext& context, ExprId id);

}  // namespace kiln::hlsl
