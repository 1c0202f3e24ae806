// SPDX-License-Identifier: MIT
// Where parsing goes on behind an error, and which '{' has no '}'.
#pragma once

#include <cstdint>
#include <utility>

#include "compiler/front/rpl/parser/parse_errors.h"
#include "compiler/front/rpl/parser/token_cursor.h"

namespace kiln::rpl {

class Recovery {
 public:
  enum class Semicolons : uint8_t { kEnd, kInside };

  // Both outlive it.
  Recovery(TokenCursor& at, ParseErrors& errors) : at_(at), errors_(errors) {}

  // Goes behind the next ';', or to the '}' that closes the list around.
  void Recover();
  // Goes behind the bracket that closes `open`; false if statements begin before it.
  bool RecoverBehind(uint32_t open, Semicolons semicolons);
  bool SkipBraces();  // true if they held statements

  // The '{' of a function body is the current token.
  void BeginFunction() { body_token_ = at_.pos(); }
  // As ParseErrors::FailUnclosed of a function, whose wrong brace is found by how the source is
  // indented.
  bool FailUnclosedScope();
  uint32_t BraceAround() const;  // of the current token; kNone if it is far away

  // A declaration was met inside a function, which lacks a '}': all its scopes end.
  void EndScopes() { unclosed_ = true; }
  bool unclosed() const { return unclosed_; }
  bool TakeUnclosed() { return std::exchange(unclosed_, false); }

  // Braces of constructors around the current token.
  void OpenBrace() { ++open_braces_; }
  void CloseBrace() { --open_braces_; }

 private:
  // Of the function, by how it is indented; kNone if none.
  uint32_t FindUnclosedBrace() const;

  TokenCursor& at_;
  ParseErrors& errors_;
  bool unclosed_ = false;
  uint32_t body_token_ = 0;   // '{' of the current function
  uint32_t open_braces_ = 0;  // of constructors around the current token
};

}  // namespace kiln::rpl
