// SPDX-License-Identifier: MIT
// Overrides, variables and resources of the module.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

void DeclareGlobals(LowerContext& context);

}  // namespace kiln::wgsl::front
