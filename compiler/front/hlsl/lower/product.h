// SPDX-License-Identifier: MIT
// `dot` and `mul`. See spec/hlsl 6.3, 18
#pragma once

#include <span>

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

ir::InstId DotValue(LowerContext& context, TypeId type, ir::InstId left, ir::InstId right);
// `operands` are those of the expression, lowered.
ir::InstId MulValue(LowerContext& context, const Expr& expr, std::span<const ir::InstId> operands);

}  // namespace kiln::hlsl
