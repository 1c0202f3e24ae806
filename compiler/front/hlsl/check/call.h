// SPDX-License-Identifier: MIT
// Calls of functions of the source and of intrinsics. See spec/hlsl 9.4, 9.5, 13, 18
#pragma once

#include <span>
#include <string_view>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// The tier of this build.
inline constexpr Tier kBuiltTier = Tier::kT1;

// `callee (arguments)` of a kName row. Diagnostics: HLSL2001, HLSL2004, HLSL2021, HLSL2022,
// HLSL2023, HLSL2035, HLSL2036, HLSL8004.
ExprId MakeCall(CheckContext& context, const syntax::Expr& callee,
                std::span<const ExprId> arguments, TokenRange at);

// A method of a struct. Requires: a struct.
ExprId MakeObjectCall(CheckContext& context, ExprId object, uint32_t name,
                      std::span<const ExprId> arguments, TokenRange at);

// "(float, int3)": for messages.
std::string TypesText(const CheckContext& context, std::span<const ExprId> arguments);

}  // namespace kiln::hlsl
