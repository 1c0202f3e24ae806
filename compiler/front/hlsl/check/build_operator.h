// SPDX-License-Identifier: MIT
// Operators: operands are brought to their common type, then the row is made or folded.
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// `token` is the operator's. See spec/hlsl 10
ExprId MakeUnary(CheckContext& context, Operator op, ExprId operand, uint32_t token, TokenRange at);
ExprId MakeBinary(CheckContext& context, Operator op, ExprId left, ExprId right, uint32_t token,
                  TokenRange at);
ExprId MakeLogical(CheckContext& context, Operator op, ExprId left, ExprId right, uint32_t token,
                   TokenRange at);
ExprId MakeSelect(CheckContext& context, ExprId condition, ExprId then, ExprId otherwise,
                  TokenRange at);

}  // namespace kiln::hlsl
