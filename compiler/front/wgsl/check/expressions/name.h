// SPDX-License-Identifier: MIT
// What a name means: a local, a declaration of the module, or a word of the language; and the types
// that names with template arguments are.
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Of a kName, whose arguments were checked.
ExprId CheckName(CheckContext& context, const syntax::Expr& name, uint32_t row);

}  // namespace kiln::wgsl::front
