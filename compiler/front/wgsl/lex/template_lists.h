// SPDX-License-Identifier: MIT
// Which `<` begin a template list. `a < b` and `array<b>` are told apart before anything is parsed,
// by brackets alone: a `<` behind a name is a candidate, and it opens a list if a `>` comes at the
// same depth of brackets before a token that no list can hold.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/front/wgsl/token.h"

namespace kiln::wgsl::front {

// One per source. The lexer tells it of every token in order; cost is constant for each, but for
// candidates that are dropped, each once.
class TemplateLists {
 public:
  // A `>`: does it close a list? If so, the token that opened it, else kNone.
  uint32_t Close();
  // Any other token, `number` in the stream.
  void See(TokenKind kind, uint32_t number);

  static constexpr uint32_t kNone = 0xffffffffu;

 private:
  struct Candidate {
    uint32_t token = 0;
    uint32_t depth = 0;
  };
  void DropFrom(uint32_t depth);

  std::vector<Candidate> pending_;
  uint32_t depth_ = 0;
  TokenKind last_ = TokenKind::kEnd;
};

}  // namespace kiln::wgsl::front
