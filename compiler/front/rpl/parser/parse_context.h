// SPDX-License-Identifier: MIT
// What the parsers of one source share: one cursor, one place for errors, one tree.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/parse.h"
#include "compiler/front/rpl/parser/parse_errors.h"
#include "compiler/front/rpl/parser/recovery.h"
#include "compiler/front/rpl/parser/token_cursor.h"

namespace kiln::rpl {

// Everything given outlives it; it does not move.
struct ParseContext {
  ParseContext(std::string_view text, const LexResult& lexed, uint32_t module,
               const LanguageLimits& how_much, ParseResult& out)
      : at(text, lexed),
        ast(out.ast),
        limits(how_much),
        errors(at, module, how_much.locals, out.ast.version, out.diagnostics),
        recovery(at, errors) {}
  ParseContext(const ParseContext&) = delete;
  ParseContext& operator=(const ParseContext&) = delete;

  TokenCursor at;
  Ast& ast;
  const LanguageLimits& limits;
  ParseErrors errors;
  Recovery recovery;
  std::vector<uint32_t> items;  // stack of list items, for all lists that are being read
};

}  // namespace kiln::rpl
