// SPDX-License-Identifier: MIT
// Where parsing goes on behind an error, and which '{' has no '}'.
#pragma once

#include <cstdint>
#include <utility>

#include "compiler/front/hlsl/syntax/parser/parse_errors.h"
#include "compiler/front/hlsl/syntax/parser/token_cursor.h"

namespace kiln::hlsl::syntax {

class Recovery {
 public:
  // Both outlive it.
  Recovery(TokenCursor& at, ParseErrors& errors)
      : at_(at), errors_(errors), looks_left_(8 * uint64_t{at.last()} + 64) {}

  // Goes behind the next ';' outside of brackets, or to the '}' that closes the list around. Braces
  // that begin behind the error are skipped with what they hold; they end a declaration.
  void Recover();
  enum class Semicolons : uint8_t { kEnd, kInside };  // kInside: of the head of a `for`
  // Goes behind the bracket that closes `open`, which is before the current token; false, with the
  // position kept, if a brace or a ';' that is not inside comes first, or it is too far away.
  bool RecoverBehind(uint32_t open, Semicolons semicolons = Semicolons::kEnd);
  // The current token opens a bracket of any kind: goes behind the one that closes it, or to the
  // end.
  void SkipBrackets();

  // Something that was opened at token `brace` ('{' of a `what`) is not closed where the current
  // token stands. Says which brace it is by how the source is indented.
  bool FailUnclosedBrace(const ConstructName& what, uint32_t brace);

  // May one more token be looked at ahead of the parser? What looks far asks for each.
  bool TakeLook() { return looks_left_ != 0 && looks_left_-- != 0; }

  // A declaration was met where statements were due: all scopes of the function end.
  void EndScopes() { unclosed_ = true; }
  bool unclosed() const { return unclosed_; }
  bool TakeUnclosed() { return std::exchange(unclosed_, false); }

 private:
  struct Missing {
    uint32_t open = kNone;    // the '{' without '}'
    uint32_t before = kNone;  // the token before which that is due
  };
  Missing FindUnclosed(uint32_t begin, uint32_t end);

  TokenCursor& at_;
  ParseErrors& errors_;
  bool unclosed_ = false;
  uint64_t looks_left_;  // tokens that may be looked at out of turn
};

}  // namespace kiln::hlsl::syntax
