// SPDX-License-Identifier: MIT
// Functions, in the order of the checked module: callees first.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

void LowerFunctions(LowerContext& context);

}  // namespace kiln::wgsl::front
