// SPDX-License-Identifier: MIT
// Attributes: `@name (arguments)`.
#pragma once

#include "compiler/front/wgsl/syntax/parser/parse_context.h"

namespace kiln::wgsl::front::syntax {

// All that stand here; rows of Ast::attributes.
ListId ParseAttributes(ParseContext& context);

}  // namespace kiln::wgsl::front::syntax
