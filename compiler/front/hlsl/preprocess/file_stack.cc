// SPDX-License-Identifier: MIT
// Files that are being read, the innermost on top. Tokens are lexed once for each file and read
// where they lie; a file that is included again gives the same rows with places of their own,
// and these copies are counted, because includes in includes multiply.
#include "compiler/front/hlsl/preprocess/file_stack.h"

#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {
namespace {

// Tokens of files that are included again: reading them costs time but no text.
constexpr uint32_t kMostWalkedAgain = 4'000'000;

}  // namespace

// A file that is read for the first time has its tokens where they were lexed; of one that is
// read again tokens are placed anew, so each inclusion has a context.
void FileStack::Push(uint32_t file, uint32_t cause) {
  LexedFile& lexed = files_[file];
  const bool again = lexed.inclusions++ != 0;
  const uint32_t context =
      again ? state_.stream.origins.AddContext(
                  {.kind = Context::Kind::kFile, .what = lexed.file, .cause = cause})
            : lexed.context;
  cursors_.push_back({.file = file,
                      .at = lexed.first,
                      .next_directive = lexed.first_directive,
                      .last_directive = lexed.first_directive + lexed.directives,
                      .context = context,
                      .again = again});
}

// The end of a file is delivered as often as it is asked for.
Token FileStack::Take() {
  Cursor& cursor = cursors_.back();
  if (state_.lexed.rows[cursor.at].kind == TokenKind::kEnd) {
    return state_.lexed.rows[cursor.at];
  }
  return Delivered(cursor.at++);
}

Token FileStack::Delivered(uint32_t row) {
  Token token = state_.lexed.rows[row];
  if (cursors_.back().again) {
    CountAgain(row);
    token.origin = state_.stream.origins.Place(token.origin, cursors_.back().context);
  }
  return token;
}

// What is given again is kept again, so it is counted like what macros make.
void FileStack::CountAgain(uint32_t row) {
  ++state_.made;
  if (state_.made > state_.MostMade()) {
    state_.FailSize("text that is included again", "too many tokens", state_.MostMade(), row);
  }
}

// Tokens that may be copied as they stand, without a placing: none of a file that is included
// again.
std::span<const Token> FileStack::AsWritten() const {
  const Cursor& cursor = cursors_.back();
  const uint32_t end = cursor.again ? cursor.at : files_[cursor.file].end;
  return std::span(state_.lexed.rows).subspan(cursor.at, end - cursor.at);
}

// A directive ends before the first token of the next line; the end of the file starts a line,
// too.
DirectiveLine FileStack::LineOf(uint32_t hash) const {
  const std::vector<Token>& rows = state_.lexed.rows;
  uint32_t end = hash + 1;
  while (!rows[end].starts_line()) {
    ++end;
  }
  const bool named = hash + 1 < end;
  return {.hash = hash, .name = hash + 1, .at = named ? hash + 2 : end, .end = end};
}

// Directives that are obeyed again make no token, so they are counted here: an include that
// includes itself under conditions could go on for long.
void FileStack::SkipLine(const DirectiveLine& line) {
  Cursor& cursor = cursors_.back();
  cursor.at = line.end;
  ++cursor.next_directive;
  CheckStop();
  if (cursor.again) {
    walked_again_ += line.end - line.hash;
    if (walked_again_ > kMostWalkedAgain) {
      state_.FailSize("text that is included again", "too many directives", kMostWalkedAgain,
                      line.hash);
    }
  }
}

// Jumps over what is skipped, by the list of directives.
bool FileStack::SkipToDirective() {
  Cursor& cursor = cursors_.back();
  const bool found = cursor.next_directive < cursor.last_directive && !state_.stopped;
  cursor.at = found ? state_.lexed.directives[cursor.next_directive] : files_[cursor.file].end;
  return found;
}

bool LineSource::NextIsOpenParen() { return at_ < end_ && files_.IsOpenParen(at_); }

}  // namespace kiln::hlsl
