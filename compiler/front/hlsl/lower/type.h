// SPDX-License-Identifier: MIT
// Types and constants in the IR. Matrices are transposed: row i of HLSL is column i there
// (spec/hlsl 6.3), so leaves keep their order.
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Requires: DeclareStructs, for types that hold one.
ir::TypeId TypeOf(LowerContext& context, TypeId id);
// All structs of the unit, those that others hold first.
void DeclareStructs(LowerContext& context);

// The members of a struct as the fields of a block, which stands for the struct then.
ir::DeclId DeclareFields(LowerContext& context, StructId id, const ir::Decl& decl,
                         const ir::DeclSpans& spans);

// Whether matrices of a member lie in memory column by column, as HLSL sees them: that is
// `row_major` of the IR, whose columns are HLSL's rows. Of types without matrices: no.
bool StoresColumns(const LowerContext& context, TypeId type, AttributesId attributes);
// The same as rows of the IR, and a written offset.
void AddMemoryAttributes(LowerContext& context, TypeId type, AttributesId attributes,
                         uint32_t member);

ir::Scalar ScalarOf(const Type& type);
// The number of items of an array.
ir::CexprId ExtentOf(LowerContext& context, const Type& array);

// A constant expression as a value.
ir::InstId ConstantValue(LowerContext& context, const Expr& constant);
// The same as a row of the module; invalid if it has structs in it, which are no constants there.
ir::ConstId ConstantRowOf(LowerContext& context, const Expr& constant);

// The attributes of a declaration or member as rows of the IR.
void AddAttributes(LowerContext& context, AttributesId id, bool of_member, uint32_t owner);

}  // namespace kiln::hlsl
