// SPDX-License-Identifier: MIT
// Lines are told by the bytes between tokens: the lexer keeps none. That is looked at only where an
// error is near or a brace may be missing, so it costs right sources next to nothing.
#include "compiler/front/rpl/parser/token_cursor.h"

#include "compiler/front/common/identifier.h"

namespace kiln::rpl {

const Word& TokenCursor::WordAt(uint32_t ahead) const {
  return lexed_->symbols[Peek(ahead).value].word;
}

bool TokenCursor::StartsOperand() const {
  const TokenKind kind = Kind();
  // In the order of the kinds, literals stand together.
  return kind == TokenKind::kIdentifier ||
         (kind >= TokenKind::kTrue && kind <= TokenKind::kString) || kind == TokenKind::kNot ||
         kind == TokenKind::kComplement;
}

// Only the first column counts. Declarations stand there in sources that are indented; what stands
// further right may be a statement.
bool TokenCursor::AtLineStart() const {
  const uint32_t begin = Peek().begin;
  return begin == 0 || text_[begin - 1] == '\n';
}

uint32_t TokenCursor::IndentOf(uint32_t token) const {
  constexpr uint32_t kFarthest = 256;  // bytes looked at, because a line may be as long as a source
  const uint32_t at = SpanOf(token).begin;
  uint32_t indent = 0;
  // Backwards to the line end. Anything but a separator begins the count anew, so what is left are
  // those in front of the first token.
  for (uint32_t before = at; before > 0 && text_[before - 1] != '\n'; --before) {
    if (at - before == kFarthest) {
      return kNone;
    }
    const bool separator = front::ClassOf(text_[before - 1]) == front::ByteClass::kSeparator;
    indent = separator ? indent + 1 : 0;
  }
  return indent;
}

// Whether a line end lies between this token and the one before, comments included.
bool TokenCursor::StartsLine(uint32_t token) const {
  const Span between{token == 0 ? 0 : SpanOf(token - 1).end, SpanOf(token).begin};
  return TextAt(between).find('\n') != std::string_view::npos;
}

}  // namespace kiln::rpl
