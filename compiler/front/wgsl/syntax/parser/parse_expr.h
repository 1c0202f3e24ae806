// SPDX-License-Identifier: MIT
// Expressions and types, which have one grammar.
#pragma once

#include "compiler/front/wgsl/syntax/parser/parse_context.h"

namespace kiln::wgsl::front::syntax {

// Invalid after an error.
ExprId ParseExpression(ParseContext& context);
// What is assigned to: `a.b[c]`, `*p`, `(x)`.
ExprId ParseLeftSide(ParseContext& context);
// A name with or without template arguments: a type, or what is called.
ExprId ParseName(ParseContext& context);
// Expressions between parentheses, `(` first. A comma may stand behind the last.
ListId ParseArguments(ParseContext& context);

}  // namespace kiln::wgsl::front::syntax
