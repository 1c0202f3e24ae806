// SPDX-License-Identifier: MIT
// Pointer arguments that name the same memory, where one of them is written (WGSL2009). Copies in
// and out, which pointers to variables of an invocation become, mean the same only without such
// calls.
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Requires: everything was checked without errors.
void CheckAliases(CheckContext& context);

}  // namespace kiln::wgsl::front
