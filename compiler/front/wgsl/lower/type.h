// SPDX-License-Identifier: MIT
// Types and constants of the IR.
#pragma once

#include <span>

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

ir::Scalar ScalarOf(ScalarKind kind);
// Of textures and samplers too; of a pointer the type of what it points to.
ir::TypeId TypeOf(LowerContext& context, TypeId id);
// Declares all structs, with their form in memory where the source writes one.
void DeclareStructs(LowerContext& context);

// A constant without structs as a row; invalid if there are any.
ir::ConstId ConstantRow(LowerContext& context, const Expr& constant);
ir::InstId ConstantValue(LowerContext& context, const Expr& constant);
ir::InstId ZeroValue(LowerContext& context, TypeId type);

}  // namespace kiln::wgsl::front
