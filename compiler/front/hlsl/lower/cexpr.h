// SPDX-License-Identifier: MIT
// Expressions that are known when options are, as compile-time expressions of the IR. Integers wrap
// there and shifts mask, as at run time (spec/hlsl 8.2).
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Requires: Rate::kConstant or Rate::kOption, a scalar. `run` gets the spans of its nodes if it is
// not null.
ir::CexprId CexprOf(LowerContext& context, ExprId id, ir::SpanId* run);
// Its opposite.
ir::CexprId Negated(LowerContext& context, ir::CexprId condition);
ir::CexprId Either(LowerContext& context, ir::CexprId a, ir::CexprId b);
ir::CexprId Chosen(LowerContext& context, ir::CexprId condition, ir::CexprId then,
                   ir::CexprId otherwise);
// `left == right`; `made` is CexprOf (left).
ir::CexprId Equal(LowerContext& context, ExprId left, ExprId right, ir::CexprId made);
ir::ValueKind KindOf(const Types& types, TypeId id);

}  // namespace kiln::hlsl
