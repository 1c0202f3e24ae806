// SPDX-License-Identifier: MIT
// Parts of values and places, and pointers: `a.b`, `a[i]`, `a.xy`, `&a`, `*p`.
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

ExprId CheckMember(CheckContext& context, ExprId of, uint32_t name, TokenRange at);
ExprId CheckIndex(CheckContext& context, ExprId of, ExprId index, TokenRange at);
ExprId CheckAddress(CheckContext& context, ExprId of, TokenRange at);
ExprId CheckIndirection(CheckContext& context, ExprId of, TokenRange at);

}  // namespace kiln::wgsl::front
