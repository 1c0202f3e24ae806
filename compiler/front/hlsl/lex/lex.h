// SPDX-License-Identifier: MIT
// Text -> tokens, before any directive is obeyed. Nothing is reported here: what is no token may
// stand in a group that is skipped, so it becomes a token of its own kind (kMalformed, kOpenString,
// kUnknown), which is reported when it comes to the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/origins.h"
#include "compiler/front/hlsl/symbol_table.h"
#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl {

// The tokens of files, one file after the other, each file's last one kEnd. Row i is also the
// written token i of the origins.
struct LexedTokens {
  std::vector<Token> rows;
  std::vector<uint32_t> directives;  // rows of '#' at the start of a line, ascending
};

struct LexTarget {
  SymbolTable& symbols;
  Origins& origins;
  LexedTokens& tokens;
};

// Appends the tokens of `text`. Spans begin at `first`; with kNoPlace they are all empty, for text
// that is in no file. Returns the span of a comment that is not closed, in the text, or nothing.
inline constexpr uint32_t kNoPlace = 0xffffffffu;
std::optional<Span> Lex(std::string_view text, uint32_t first, LexTarget target);

// The one token that `text` is; nothing if it is none or several. Flags and origin are not set.
std::optional<Token> LexSingle(std::string_view text, SymbolTable& symbols);

}  // namespace kiln::hlsl
