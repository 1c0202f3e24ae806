// SPDX-License-Identifier: MIT
// A token of a WGSL source: its kind and where it stands. Its text is that of the source.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/source/span.h"

namespace kiln::wgsl::front {

enum class TokenKind : uint8_t {
#define KILN_WGSL_TOKEN(enumerator, text) k##enumerator,
#define KILN_WGSL_KEYWORD(enumerator, text) k##enumerator,
#define KILN_WGSL_PUNCTUATOR(enumerator, text) k##enumerator,
#include "compiler/front/wgsl/tokens.def"
};

// As tokens.def spells it.
std::string_view TokenText(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Span span;
};

// Tokens [begin, end) of a stream.
struct TokenRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// A source as tokens, kEnd last. Refers to the text.
struct TokenStream {
  std::string_view text;
  std::vector<Token> tokens;

  std::string_view Text(uint32_t token) const { return TextOf(text, tokens[token].span); }
  TokenKind KindOf(uint32_t token) const { return tokens[token].kind; }
  // From the first byte of a range to its last.
  Span SpanOf(TokenRange range) const;
};

}  // namespace kiln::wgsl::front
