// SPDX-License-Identifier: MIT
// Parts of values and places: members, swizzles, elements of matrices, indices; and what may be
// written. See spec/hlsl 11
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// `base.name`; not of objects. Diagnostics: HLSL2005, HLSL2006.
ExprId MakeMember(CheckContext& context, ExprId base, uint32_t name, TokenRange at);
// Diagnostics: HLSL2033, HLSL2034.
ExprId MakeIndex(CheckContext& context, ExprId base, ExprId index, TokenRange at);

// Says why it cannot be written (HLSL2009, HLSL2018), or notes that it is.
bool CheckWritable(CheckContext& context, ExprId place);
// The variable whose storage a place is part of; invalid if it is none.
ExprId RootOf(const CheckContext& context, ExprId place);

ExprId MakeAssign(CheckContext& context, ExprId place, ExprId value, TokenRange at);
// Of `op=`, and of `++` and `--`, where the right side is 1.
ExprId MakeUpdate(CheckContext& context, Operator op, ExprId place, ExprId right, uint32_t token,
                  TokenRange at);
enum class Position : uint8_t { kPrefix, kPostfix };
ExprId MakeStep(CheckContext& context, Operator op, ExprId place, Position position, uint32_t token,
                TokenRange at);
ExprId MakeGiven(CheckContext& context, TypeId type, uint32_t number, TokenRange at);

}  // namespace kiln::hlsl
