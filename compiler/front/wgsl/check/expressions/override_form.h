// SPDX-License-Identifier: MIT
// What of expressions over overrides a compile-time expression of the IR can say.
#pragma once

#include <cstddef>
#include <optional>

#include "compiler/front/wgsl/check/tree.h"
#include "compiler/ir/cexpr.h"

namespace kiln::wgsl::front {

std::optional<ir::CexprOp> CexprOpOf(Function function, size_t operands);
std::optional<ir::ValueKind> CexprKindOf(ScalarKind kind);
// Of a scalar, at most `depth` operators in each other.
bool IsCexpr(const Unit& unit, ExprId id, uint32_t depth = 200);

}  // namespace kiln::wgsl::front
