// SPDX-License-Identifier: MIT
// Constants, overrides, variables, structs, aliases and asserts of the module. Each declares its
// name.
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// All but functions.
void CheckDeclaration(CheckContext& context, const syntax::Decl& decl);
// A name whose declaration is wrong: mentions of it are silent.
void DeclareFailed(CheckContext& context, uint32_t token);
void Declare(CheckContext& context, uint32_t token, const Expr& value);

}  // namespace kiln::wgsl::front
