// SPDX-License-Identifier: MIT
// For tests: the invariants that ast.h promises, checked on a whole tree.
#pragma once

#include <string>

#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl::syntax {

// Empty, or the first promise that is broken. For trees without errors.
std::string CheckTree(const TokenStream& stream, const Ast& ast);

}  // namespace kiln::hlsl::syntax
