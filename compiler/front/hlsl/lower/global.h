// SPDX-License-Identifier: MIT
// Variables and resources as declarations of the IR. See spec/hlsl 7, 14, 16
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

void DeclareGlobals(LowerContext& context);

}  // namespace kiln::hlsl
