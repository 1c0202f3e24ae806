// SPDX-License-Identifier: MIT
// Statements as instructions. See spec/hlsl 8.3, 12
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Appends the statements of a body to the block that is open. As deep as blocks nest.
void LowerBody(LowerContext& context, StmtId id);

}  // namespace kiln::hlsl
