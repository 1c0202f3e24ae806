// SPDX-License-Identifier: MIT
// Help for what the lexer and the parser found wrong: what authors of other languages write
// (spellings.def) is recognised by where it stands.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/front/rpl/lex.h"

namespace kiln::rpl {

// Adds notes to `diagnostics`, which are of this source and sorted. Reads the tokens once.
void AddAdvice(std::string_view text, const LexResult& lexed, uint32_t version,
               std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::rpl
