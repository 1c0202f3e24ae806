// SPDX-License-Identifier: MIT
// Intrinsics by the rows of intrinsics.def: what arguments become, and the type of the result.
// Those whose row says `Own` have a function here. See spec/hlsl 9.5, 18
#pragma once

#include <span>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// Diagnostics: HLSL2021, HLSL2023, HLSL4008, HLSL4009, HLSL8004. `name` is the token of the callee.
ExprId MakeIntrinsic(CheckContext& context, Intrinsic intrinsic, std::span<const ExprId> arguments,
                     uint32_t name, TokenRange at);

}  // namespace kiln::hlsl
