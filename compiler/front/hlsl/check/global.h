// SPDX-License-Identifier: MIT
// Variables, blocks and options at namespace scope. See spec/hlsl 7, 8, 14, 16
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// A kVariables of namespace scope.
void CheckGlobals(CheckContext& context, uint32_t decl);
// A kBlock.
void CheckBlock(CheckContext& context, uint32_t decl);

// The type of a variable, with the extent that its initialiser gives; void is HLSL2031.
TypeId TypeOfVariable(CheckContext& context, const syntax::Variable& variable);
// A static variable of a function: a global that nobody else sees.
Symbol MakeStaticLocal(CheckContext& context, const syntax::Variable& variable, TypeId type);

// A static member of a struct: a global by the name of the struct.
void CheckStaticMember(CheckContext& context, const syntax::Decl& decl,
                       const syntax::Variable& variable);

}  // namespace kiln::hlsl
