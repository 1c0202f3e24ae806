// SPDX-License-Identifier: MIT
// Columns come from the bytes before a token: they are looked at only where an error is near or a
// brace may be missing, so they cost right sources next to nothing.
#include "compiler/front/hlsl/syntax/parser/token_cursor.h"

#include "compiler/diag/quoted.h"
#include "compiler/front/common/identifier.h"

namespace kiln::hlsl::syntax {

std::string TokenCursor::TextOfToken(uint32_t token) const {
  return KindOf(token) == TokenKind::kEnd ? std::string(TokenKindText(TokenKind::kEnd))
                                          : Quoted(Text(token));
}

uint32_t TokenCursor::IndentOf(uint32_t token) const {
  constexpr uint32_t kFarthest = 256;  // bytes looked at, because a line may be as long as a source
  const uint32_t origin = stream_->tokens[token].origin;
  const Origins& origins = stream_->origins;
  if (origins.context(origins.ContextOf(origin)).kind == Context::Kind::kMacro) {
    return kNone;  // written elsewhere
  }
  const uint32_t offset = origins.WrittenAt(origin).begin;
  const uint32_t file = stream_->FileAt(offset);
  // Files without text are those that a test leaves out.
  if (file >= texts_.size()) {
    return kNone;
  }
  const std::string_view text = texts_[file];
  const uint32_t at = offset - stream_->files[file].first;
  if (at > text.size()) {
    return kNone;
  }
  // Counts the separators that are at the beginning of the line: what is no separator sets the
  // count back.
  uint32_t indent = 0;
  for (uint32_t before = at; before > 0 && text[before - 1] != '\n'; --before) {
    if (at - before == kFarthest) {
      return kNone;
    }
    const bool separator = front::ClassOf(text[before - 1]) == front::ByteClass::kSeparator;
    indent = separator ? indent + 1 : 0;
  }
  return indent;
}

}  // namespace kiln::hlsl::syntax
