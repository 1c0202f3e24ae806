// SPDX-License-Identifier: MIT
// Options: `[[kiln::option (scope)]] static const T name = value;`, and those that stay open in the
// code as specialisation constants. See spec/hlsl 8.1
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// Declares the option. `value` is its default. Diagnostics: HLSL6001, HLSL6002, HLSL6003.
void CheckOption(CheckContext& context, const syntax::Attribute& attribute,
                 const syntax::Variable& variable, TypeId type, ExprId value);

// The same for `[[vk::constant_id (id)]] const T name = value;`, a specialisation constant.
void CheckConstantId(CheckContext& context, uint32_t id, const syntax::Variable& variable,
                     TypeId type, ExprId value);

}  // namespace kiln::hlsl
