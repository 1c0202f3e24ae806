// SPDX-License-Identifier: MIT
// Statements.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// The body of the function that is built.
void LowerBody(LowerContext& context, StmtId body);

}  // namespace kiln::wgsl::front
