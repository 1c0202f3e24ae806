// SPDX-License-Identifier: MIT
// Interlocked operations. See spec/hlsl 18
#pragma once

#include <span>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

bool IsAtomic(Intrinsic intrinsic);

// `place, value[, out old]`. Diagnostics: HLSL2023, HLSL4008, HLSL4009.
ExprId MakeAtomic(CheckContext& context, Intrinsic intrinsic, std::span<const ExprId> arguments,
                  uint32_t name, TokenRange at);

}  // namespace kiln::hlsl
