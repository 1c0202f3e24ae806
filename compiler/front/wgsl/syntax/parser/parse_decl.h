// SPDX-License-Identifier: MIT
// Directives and declarations of the module.
#pragma once

#include "compiler/front/wgsl/syntax/parser/parse_context.h"

namespace kiln::wgsl::front::syntax {

void ParseModule(ParseContext& context);

}  // namespace kiln::wgsl::front::syntax
