// SPDX-License-Identifier: MIT
// Tokens -> syntax tree. Reports every error of the source, at most one for each field, argument
// list, statement and declaration; continues at the next ';' or at the '}' that closes the list.
// See spec/rpl 1.2, 2, 3, 14 (grammar)
#pragma once

#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"

namespace kiln::rpl {

struct ParseResult {
  Ast ast;                              // meaningful only without errors
  std::vector<Diagnostic> diagnostics;  // those of the lexer too; sorted
};

// Brackets, unary operators and assignments in an expression, and scopes, are at most
// `limits.nesting` levels deep; chains of operators have at most `limits.terms` operands, functions
// at most `limits.locals` names.
ParseResult ParseTokens(std::string_view text, const LexResult& lexed, uint32_t module,
                        const LanguageLimits& limits = {});

}  // namespace kiln::rpl
