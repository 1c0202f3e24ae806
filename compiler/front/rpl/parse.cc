// SPDX-License-Identifier: MIT
#include "compiler/front/rpl/parse.h"

#include "compiler/front/rpl/advise.h"
#include "compiler/front/rpl/parser/parse_context.h"
#include "compiler/front/rpl/parser/parse_decl.h"

namespace kiln::rpl {

// Diagnostics are merged twice: advice looks at what is said next to each other, and what it adds
// has to find its place among the rest.
ParseResult ParseTokens(std::string_view text, const LexResult& lexed, uint32_t module,
                        const LanguageLimits& limits) {
  ParseResult out;
  // Reserved by the number of tokens, so that the lists seldom grow.
  out.ast.exprs.reserve(lexed.tokens.size() / 2 + 16);
  out.ast.stmts.reserve(lexed.tokens.size() / 12 + 8);
  out.ast.lists.reserve(lexed.tokens.size() / 8 + 8);
  ParseContext context(text, lexed, module, limits, out);
  DeclarationParser(context).File();
  SortAndMerge(out.diagnostics);
  AddAdvice(text, lexed, out.ast.version, out.diagnostics);
  SortAndMerge(out.diagnostics);  // with what was added
  return out;
}

}  // namespace kiln::rpl
