// SPDX-License-Identifier: MIT
// Functions of the module.
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

void CheckFunction(CheckContext& context, const syntax::Decl& decl);

}  // namespace kiln::wgsl::front
