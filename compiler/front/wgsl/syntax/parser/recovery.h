// SPDX-License-Identifier: MIT
// Where reading goes on after an error: behind the statement or declaration that has it.
#pragma once

#include "compiler/front/wgsl/syntax/parser/parse_context.h"

namespace kiln::wgsl::front::syntax {

// Skips to behind the next `;`, or to the `}` that ends the block around. A block that stands in
// between belongs to the statement and is skipped whole. `begin` is where the statement begins.
void LeaveStatement(ParseContext& context, uint32_t begin);
// Skips to the next token that begins a declaration outside of braces.
void LeaveDeclaration(ParseContext& context, uint32_t begin);

}  // namespace kiln::wgsl::front::syntax
