// SPDX-License-Identifier: MIT
// Where a parser is in the tokens of a source. A small value: a copy looks ahead without moving the
// original. Borrows the source and the result of the lexer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/diag/quoted.h"
#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"

namespace kiln::rpl {

// What may stand where a name is due; all but identifiers are reserved.
inline bool IsName(TokenKind kind) {
  return kind == TokenKind::kIdentifier || kind == TokenKind::kTrue || kind == TokenKind::kFalse ||
         kind == TokenKind::kVoid;
}

class TokenCursor {
 public:
  TokenCursor(std::string_view text, const LexResult& lexed) : text_(text), lexed_(&lexed) {}

  std::string_view text() const { return text_; }
  const LexResult& lexed() const { return *lexed_; }
  uint32_t pos() const { return pos_; }  // number of the current token

  const Token& Peek(uint32_t ahead = 0) const {
    const size_t last = lexed_->tokens.size() - 1;
    return lexed_->tokens[pos_ + ahead < last ? pos_ + ahead : last];
  }
  TokenKind Kind() const { return lexed_->tokens[pos_].kind; }
  TokenKind Kind(uint32_t ahead) const { return Peek(ahead).kind; }
  const Word& WordAt(uint32_t ahead = 0) const;
  Keyword KeywordAt(uint32_t ahead = 0) const {
    return Kind(ahead) == TokenKind::kIdentifier ? WordAt(ahead).keyword : Keyword::kNone;
  }
  bool AtPrefix(Keyword keyword) const {
    return KeywordAt() == keyword && Kind(1) == TokenKind::kOpenParen;
  }
  bool StartsOperand() const;

  // Returns the token that it leaves. Stays at the end of the file.
  uint32_t Advance() { return Kind() == TokenKind::kEnd ? pos_ : pos_++; }
  bool Accept(TokenKind kind) {
    if (Kind() != kind) {
      return false;
    }
    Advance();
    return true;
  }
  // Requires: there are tokens there.
  void Skip(uint32_t tokens) { pos_ += tokens; }
  void MoveTo(uint32_t token) { pos_ = token; }
  TokenCursor Behind(uint32_t tokens) const {
    TokenCursor there = *this;
    there.pos_ += tokens;
    return there;
  }

  // --- tokens by number --------------------------------------------------------------------------
  uint32_t Previous() const { return pos_ == 0 ? 0 : pos_ - 1; }
  Span SpanOf(uint32_t token) const { return lexed_->tokens[token].span(); }
  std::string_view TextAt(Span span) const { return TextOf(text_, span); }
  std::string TextOfToken(uint32_t token) const { return Quoted(TextAt(SpanOf(token))); }
  uint32_t SymbolOf(uint32_t token) const { return lexed_->tokens[token].value; }

  // --- lines -------------------------------------------------------------------------------------
  bool StartsLine(uint32_t token) const;
  // Does a line end lie before the current token?
  bool OnNewLine() const { return pos_ == 0 || StartsLine(pos_); }
  bool AtLineStart() const;  // no separator but line ends between the last line end and here
  uint32_t IndentOf(uint32_t token) const;  // of its line; kNone if the line is very long

 private:
  std::string_view text_;
  const LexResult* lexed_;
  uint32_t pos_ = 0;
};

}  // namespace kiln::rpl
