// SPDX-License-Identifier: MIT
// Operators as instructions. See spec/hlsl 10
#pragma once

#include <span>

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Of operands that are there.
ir::InstId UnaryValue(LowerContext& context, const Expr& expr, ir::InstId operand);
ir::InstId BinaryValue(LowerContext& context, const Expr& expr, ir::InstId left, ir::InstId right);
ir::InstId SelectValue(LowerContext& context, const Expr& expr, ir::InstId condition,
                       ir::InstId then, ir::InstId otherwise);

// One instruction on vectors of `count` with that scalar.
ir::InstId Arithmetic(LowerContext& context, Operator op, Item item, uint32_t count,
                      ir::InstId left, ir::InstId right);

}  // namespace kiln::hlsl
