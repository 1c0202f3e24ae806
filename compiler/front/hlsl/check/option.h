// SPDX-License-Identifier: MIT
// Options: `[[kiln::option (scope)]] static const T name = value;`. See spec/hlsl 8.1
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// Declares the option. `value` is its default. Diagnostics: HLSL6001, HLSL6002, HLSL6003.
void CheckOption(CheckContext& context, const syntax::Attribute& attribute,
                 const syntax::Variable& variable, TypeId type, ExprId value);

}  // namespace kiln::hlsl
