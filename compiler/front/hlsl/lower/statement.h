// SPDX-License-Identifier: MIT
// Statements as instructions. See spec/hlsl 8.3, 12
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Appends the statement to the block that is open. As deep as blocks nest.
void LowerStatement(LowerContext& context, StmtId id);

}  // namespace kiln::hlsl
