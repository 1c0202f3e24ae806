// SPDX-License-Identifier: MIT
// Functions: what they take, and their bodies. See spec/hlsl 13
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// A kFunction at namespace scope: its row, which a prototype may have made, and its body.
// Diagnostics: HLSL2002, HLSL2031, HLSL3006 and those of statements.
void CheckFunction(CheckContext& context, uint32_t decl);

// The functions of a struct, whose members see each other: first their heads, then their bodies.
// Requires: the scope of the struct is the current one.
void CheckMethods(CheckContext& context, uint32_t record, TypeId type);

}  // namespace kiln::hlsl
