// SPDX-License-Identifier: MIT
// Tokens and trees as text, for people and goldens.
#pragma once

#include <string>

#include "compiler/front/wgsl/syntax/ast.h"

namespace kiln::wgsl::front::syntax {

// A token a line: kind, text.
std::string TokensText(const TokenStream& stream);
// A declaration or statement a line, indented; expressions in parentheses, as they are bound.
std::string AstText(const TokenStream& stream, const Ast& ast);

}  // namespace kiln::wgsl::front::syntax
