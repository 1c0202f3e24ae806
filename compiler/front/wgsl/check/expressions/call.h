// SPDX-License-Identifier: MIT
// Calls of functions of the module, predeclared functions and types.
#pragma once

#include <span>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Of what its name was found to be.
ExprId CheckCall(CheckContext& context, ExprId callee, std::span<const ExprId> arguments,
                 TokenRange at);

}  // namespace kiln::wgsl::front
