// SPDX-License-Identifier: MIT
// Functions of the module, those that are called before those that call them. See spec/hlsl 13
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// All functions with a body.
void LowerFunctions(LowerContext& context);

}  // namespace kiln::hlsl
