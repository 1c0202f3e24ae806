// SPDX-License-Identifier: MIT
// Operators and predeclared functions as instructions.
#pragma once

#include <span>

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// `first`: the value of the first operand, if it was computed.
ir::InstId Operation(LowerContext& context, const Expr& expr, ir::InstId first);
// A function of numbers over values. `scalar` is that of the first one.
struct NumericOperation {
  Function function = Function::kAdd;
  ScalarKind scalar = ScalarKind::kF32;  // of the first operand
  TypeId result;
  std::span<const TypeId> operand_types;
};
ir::InstId Numeric(LowerContext& context, const NumericOperation& what,
                   std::vector<ir::InstId> operands);
// A kConvert: number by number.
ir::InstId Convert(LowerContext& context, const Expr& expr, ir::InstId value);
// An index as a step of a place: u1, what is below zero is far above the last item.
ir::InstId IndexStep(LowerContext& context, ExprId id);

}  // namespace kiln::wgsl::front
