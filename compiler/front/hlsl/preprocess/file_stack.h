// SPDX-License-Identifier: MIT
// The files that are being read, the innermost last, and how far. Knows no directive: it gives
// tokens and lines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/front/hlsl/preprocess/file_table.h"
#include "compiler/front/hlsl/preprocess/token_source.h"

namespace kiln::hlsl {

// One directive: rows of the lexed tokens. `hash` is its '#'; [at, end) are those behind its name,
// `name` is `end` if it has
// none.
struct DirectiveLine {
  uint32_t hash = 0;
  uint32_t name = 0;
  uint32_t at = 0;
  uint32_t end = 0;
};

class FileStack {
 public:
  FileStack(FileTable& files, PreprocessState& state) : files_(files), state_(state) {}

  // Begins a file, row of the table. `cause`: the path that includes it.
  void Push(uint32_t file, uint32_t cause);
  void Pop() { cursors_.pop_back(); }
  size_t depth() const { return cursors_.size(); }
  uint32_t file() const { return cursors_.back().file; }

  // The next token of the innermost file, which stays the next; its origin is that of the file.
  const Token& Peek() const { return state_.lexed.rows[cursors_.back().at]; }
  // The same with its origin; moves on, but not behind kEnd.
  Token Take();
  // Row `row` of the lexed tokens, with the origin that it has in this inclusion.
  Token Delivered(uint32_t row);

  bool IsOpenParen(uint32_t row) const {
    return state_.lexed.rows[row].kind == TokenKind::kOpenParen;
  }

  // The tokens that are left of the innermost file, up to its kEnd, if their origins hold as they
  // are: none of a file that is included again. And moves on by so many of them.
  std::span<const Token> AsWritten() const;
  void Skip(size_t count) { cursors_.back().at += static_cast<uint32_t>(count); }

  // The directive that the next token begins. Requires: a '#' at the start of a line.
  DirectiveLine Line() const { return LineOf(cursors_.back().at); }
  // Moves behind it.
  void SkipLine(const DirectiveLine& line);
  // Moves to the next directive, or to the end of the file; whether there is one.
  bool SkipToDirective();

 private:
  struct Cursor {
    uint32_t file;
    uint32_t at;              // row of the lexed tokens
    uint32_t next_directive;  // row of their directives
    uint32_t last_directive;  // behind the last of the file
    uint32_t context;
    bool again;  // the file was included before
  };

  DirectiveLine LineOf(uint32_t hash) const;
  void CountAgain(uint32_t row);

  FileTable& files_;
  PreprocessState& state_;
  std::vector<Cursor> cursors_;
  uint32_t walked_again_ = 0;
};

// The tokens of one line, for directives that expand macros.
class LineSource final : public TokenSource {
 public:
  explicit LineSource(FileStack& files) : files_(files) {}

  // Begins to read rows [at, end).
  void Begin(uint32_t at, uint32_t end) {
    at_ = at;
    end_ = end;
  }
  Token Next() override { return at_ < end_ ? files_.Delivered(at_++) : Token{}; }
  bool NextIsOpenParen() override;

 private:
  FileStack& files_;
  uint32_t at_ = 0, end_ = 0;
};

}  // namespace kiln::hlsl
