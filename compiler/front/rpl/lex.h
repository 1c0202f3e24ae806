// SPDX-License-Identifier: MIT
// Source text -> tokens and symbols. One pass; every identifier and every string content becomes a
// symbol (equal text, equal number), so later stages compare numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/rpl/words.h"
#include "compiler/source/span.h"

namespace kiln::rpl {

enum class TokenKind : uint8_t {
#define KILN_TOKEN(enumerator, text) k##enumerator,
#include "compiler/front/rpl/tokens.def"
};
// "identifier", "+=": for dumps and messages.
std::string_view TokenKindText(TokenKind kind);

// `value`: the symbol of an identifier or a string, the bits of a number. A decimal or signed token
// may hold 2147483648; whether it may stand there is the parser's question.
struct Token {
  uint32_t begin = 0;
  uint32_t length : 24 = 0;
  TokenKind kind : 8 = TokenKind::kEnd;
  uint32_t value = 0;

  Span span() const { return {begin, begin + length}; }
  uint32_t end() const { return begin + length; }
};
static_assert(sizeof(Token) == 12);

// Skipped at the start of a source.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// One spelling: an identifier, or a string without its quotes. Numbered by first mention.
struct Symbol {
  uint32_t begin = 0;  // of the first mention
  uint32_t length = 0;
  Word word;
};

struct LexResult {
  std::vector<Token> tokens;  // the last one, and only it, is kEnd
  std::vector<Symbol> symbols;
  std::vector<Diagnostic> diagnostics;  // ascending
};

// `module` is the ordinal that locations of diagnostics name. A source that is too large, not UTF-8
// or has too many tokens gives that one error and no tokens but the end.
// See spec/rpl 1
LexResult Lex(std::string_view text, uint32_t module, const LanguageLimits& limits = {});

}  // namespace kiln::rpl
