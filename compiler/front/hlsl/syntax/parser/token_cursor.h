// SPDX-License-Identifier: MIT
// Where a parser is in the tokens of a module. A small value: a copy looks ahead without moving the
// original. Borrows the tokens and the texts of the files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl::syntax {

class TokenCursor {
 public:
  // `texts` by row of stream.files, or empty: then columns are not known.
  TokenCursor(const TokenStream& stream, std::span<const std::string_view> texts)
      : stream_(&stream), texts_(texts) {}

  const TokenStream& stream() const { return *stream_; }
  uint32_t pos() const { return pos_; }  // number of the current token
  uint32_t last() const { return static_cast<uint32_t>(stream_->tokens.size() - 1); }

  const Token& Peek(uint32_t ahead = 0) const {
    return stream_->tokens[pos_ + ahead < last() ? pos_ + ahead : last()];
  }
  TokenKind Kind() const { return stream_->tokens[pos_].kind; }
  TokenKind Kind(uint32_t ahead) const { return Peek(ahead).kind; }
  bool At(TokenKind kind) const { return Kind() == kind; }
  bool AtEnd() const { return Kind() == TokenKind::kEnd; }

  // Returns the token that it leaves. Stays at the end of the file.
  uint32_t Advance() { return AtEnd() ? pos_ : pos_++; }
  bool Accept(TokenKind kind) {
    if (Kind() != kind) {
      return false;
    }
    Advance();
    return true;
  }
  void MoveTo(uint32_t token) { pos_ = token < last() ? token : last(); }
  TokenCursor Behind(uint32_t tokens) const {
    TokenCursor there = *this;
    there.MoveTo(pos_ + tokens);
    return there;
  }

  // --- tokens by number --------------------------------------------------------------------------
  uint32_t Previous() const { return pos_ == 0 ? 0 : pos_ - 1; }
  TokenKind KindOf(uint32_t token) const { return stream_->tokens[token].kind; }
  uint32_t SymbolOf(uint32_t token) const { return stream_->tokens[token].symbol; }
  std::string_view Text(uint32_t token) const { return stream_->Text(stream_->tokens[token]); }
  std::string TextOfToken(uint32_t token) const;  // as messages quote it

  // --- lines -------------------------------------------------------------------------------------
  bool StartsLine(uint32_t token) const {
    return token == 0 || stream_->tokens[token].starts_line();
  }
  bool OnNewLine() const { return StartsLine(pos_); }
  // Bytes of white space before the first token of the line of `token`; kNone if that is not known
  // or the line is very long.
  uint32_t IndentOf(uint32_t token) const;

 private:
  const TokenStream* stream_;
  std::span<const std::string_view> texts_;
  uint32_t pos_ = 0;
};

}  // namespace kiln::hlsl::syntax
