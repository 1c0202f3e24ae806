// SPDX-License-Identifier: MIT
// Expressions of the tree -> checked ones. See spec/hlsl 10, 11, 7.2
#pragma once

#include <vector>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// The value or place of an expression; kFailed if an error was said. Cost: rows of the range; does
// not recurse.
ExprId CheckExpr(CheckContext& context, syntax::ExprRange range);

// `= …` of a variable of that type: an expression that converts, or a list of as many leaves.
// Diagnostics: HLSL2019, HLSL2020.
ExprId CheckInitialiser(CheckContext& context, syntax::ExprRange range, TypeId type);
bool IsList(const CheckContext& context, syntax::ExprRange range);
// What stands in a list and the lists in it, in order.
std::vector<ExprId> CheckList(CheckContext& context, syntax::ExprRange range);

// A variable that is assigned from it takes its value, and may not write through it.
ExprId AsValue(CheckContext& context, ExprId id);

}  // namespace kiln::hlsl
