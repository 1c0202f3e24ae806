// SPDX-License-Identifier: MIT
#include "compiler/front/rpl/front.h"

#include <string>
#include <utility>

#include "compiler/front/rpl/dump.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/front/rpl/lower.h"
#include "compiler/front/rpl/parse.h"

namespace kiln::rpl {

Diagnosed<ir::Module> Parse(const SourceFile& source, const Hash128& fingerprint, uint32_t ordinal,
                            const LanguageLimits& limits) {
  const Lexed lexed = Lex(source.text, ordinal, limits);
  Parsed parsed = ParseTokens(source.text, lexed, ordinal, limits);
  Diagnosed<ir::Module> out{.value = {}, .diagnostics = std::move(parsed.diagnostics)};
  if (!HasErrors(out.diagnostics)) {
    out.value = Lower(source.text, lexed, parsed.ast, fingerprint);
  }
  return out;
}

Diagnosed<std::string> DumpTokens(const SourceFile& source, uint32_t ordinal) {
  const Lexed lexed = Lex(source.text, ordinal);
  return {.value = DumpTokens(source.text, lexed), .diagnostics = lexed.diagnostics};
}

Diagnosed<std::string> DumpAst(const SourceFile& source, uint32_t ordinal) {
  const Lexed lexed = Lex(source.text, ordinal);
  Parsed parsed = ParseTokens(source.text, lexed, ordinal);
  Diagnosed<std::string> out{.value = {}, .diagnostics = std::move(parsed.diagnostics)};
  if (!HasErrors(out.diagnostics)) {
    out.value = DumpAst(source.text, lexed, parsed.ast);
  }
  return out;
}

}  // namespace kiln::rpl
