// SPDX-License-Identifier: MIT
// Statements of function bodies. See spec/hlsl 12
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

struct CheckedBody {
  StmtId block;
  bool ends = false;  // control never flows off its end
};
// The body of `context.function`, whose parameters are in scope. Diagnostics: HLSL2002, HLSL2016,
// HLSL2037, HLSL2041, HLSL2043, HLSL3001 to HLSL3009.
CheckedBody CheckBody(CheckContext& context, uint32_t stmt);

}  // namespace kiln::hlsl
