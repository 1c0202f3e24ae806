// SPDX-License-Identifier: MIT
// Stable text of the syntax tree, for goldens and `kilnc --stage parse`.
#pragma once

#include <string>

#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl::syntax {

// One declaration, member or statement a line, indented; expressions in prefix form:
// "(= a (+ b (call f 1 2)))". Requires: a tree without errors, of this stream.
std::string DumpAst(const TokenStream& stream, const Ast& ast);

}  // namespace kiln::hlsl::syntax
