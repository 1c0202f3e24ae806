// SPDX-License-Identifier: MIT
// One token of HLSL. What it says is the number of a spelling (symbol_table.h), where it comes from
// the number of an origin (origins.h); both belong to one TokenStream.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::hlsl {

enum class TokenKind : uint8_t {
#define KILN_TOKEN(enumerator, text) k##enumerator,
#include "compiler/front/hlsl/tokens.def"
};

inline constexpr uint32_t kTokenKinds = 0
#define KILN_TOKEN(enumerator, text) +1
#include "compiler/front/hlsl/tokens.def"
    ;
inline constexpr TokenKind kFirstKeyword = TokenKind::kBreak;
inline constexpr TokenKind kLastKeyword = TokenKind::kExport;

// "identifier", "+=", "if": for dumps and messages.
std::string_view TokenKindText(TokenKind kind);

struct Token {
  // Bits of `flags`. The first two are those of the token where it stands now: the first token of
  // an expansion has those of the macro's name.
  static constexpr uint8_t kStartsLine = 1;
  static constexpr uint8_t kSpaceBefore = 2;  // a space or a comment, not a line end
  // Inside the preprocessor only.
  static constexpr uint8_t kNoExpand = 4;    // names a macro that was hidden when it was read
  static constexpr uint8_t kPasteNext = 8;   // '##' stands behind it
  static constexpr uint8_t kStringize = 16;  // '#' stands before this parameter
  static constexpr uint8_t kRaw = 32;        // '##' beside this parameter: it is not expanded

  TokenKind kind = TokenKind::kEnd;
  uint8_t flags = 0;
  uint32_t symbol = 0;
  uint32_t origin = 0;

  static constexpr uint8_t kLayout = kStartsLine | kSpaceBefore;

  constexpr bool is_word() const {  // an identifier or a keyword: what a macro may be called
    return kind == TokenKind::kIdentifier || (kind >= kFirstKeyword && kind <= kLastKeyword);
  }
  bool starts_line() const { return (flags & kStartsLine) != 0; }
  bool space_before() const { return (flags & kSpaceBefore) != 0; }
};
static_assert(sizeof(Token) == 12);

}  // namespace kiln::hlsl
