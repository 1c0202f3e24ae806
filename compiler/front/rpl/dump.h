// SPDX-License-Identifier: MIT
// Stable text of the two private stages, for goldens and `kilnc --stage lex|parse`.
#pragma once

#include <string>
#include <string_view>

#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"

namespace kiln::rpl {

// One token a line: "line:column kind text"; the kind is left out where it is the text.
std::string DumpTokens(std::string_view text, const LexResult& lexed);

// One declaration, field or statement a line, indented; expressions in prefix form:
// "(= a (+ b (call f 1 2)))". Requires: an AST without errors.
std::string DumpAst(std::string_view text, const LexResult& lexed, const Ast& ast);

}  // namespace kiln::rpl
