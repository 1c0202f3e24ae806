// SPDX-License-Identifier: MIT
// WGSL, "Template Lists". A `<` behind a name may open a list; whether it does is known when
// the `>` that closes it is met before anything that cannot stand in a list. Each `<` that is
// still possible waits in `pending_` with the depth of brackets at which it stood. Depths of
// what waits never descend, so all that a bracket ends lies at the back. Cost: each `<` is put
// in once and taken out once.
#include "compiler/front/wgsl/lex/template_lists.h"

namespace kiln::wgsl::front {

// What waits inside of brackets that are closed now, or beside a `&&`, was an operator.
void TemplateLists::DropFrom(uint32_t depth) {
  while (!pending_.empty() && pending_.back().depth >= depth) {
    pending_.pop_back();
  }
}

// A `>` closes the innermost `<` of its own depth. In `a < (b > c)` the depths differ, so both
// are operators there.
uint32_t TemplateLists::Close() {
  last_ = TokenKind::kTemplateClose;
  if (pending_.empty() || pending_.back().depth != depth_) {
    return kNone;
  }
  const uint32_t token = pending_.back().token;
  pending_.pop_back();
  return token;
}

void TemplateLists::See(TokenKind kind, uint32_t number) {
  switch (kind) {
    case TokenKind::kLess:
      // `var` is a keyword and has a list all the same: `var<private>`.
      if (last_ == TokenKind::kIdentifier || last_ == TokenKind::kVar) {
        pending_.push_back({number, depth_});
      }
      break;
    case TokenKind::kOpenParen:
    case TokenKind::kOpenBracket:
      ++depth_;
      break;
    case TokenKind::kCloseParen:
    case TokenKind::kCloseBracket:
      // A closing bracket too many does not make the depth negative; the parser says what is
      // wrong.
      DropFrom(depth_);
      depth_ -= depth_ == 0 ? 0 : 1;
      break;
    // `a < b && c > d` are two comparisons: lists have no short-circuit operators outside of
    // brackets.
    case TokenKind::kLogicalAnd:
    case TokenKind::kLogicalOr:
      DropFrom(depth_);
      break;
    // None of these stands in a list at any depth, so nothing that waits can be one. Brackets
    // that are open are forgotten, too: a source that lacks a `)` is right again in the next
    // statement.
    case TokenKind::kSemicolon:
    case TokenKind::kColon:
    case TokenKind::kOpenBrace:
    case TokenKind::kAssign:
    case TokenKind::kShiftLeftAssign:
    case TokenKind::kAddAssign:
    case TokenKind::kSubAssign:
    case TokenKind::kMulAssign:
    case TokenKind::kDivAssign:
    case TokenKind::kRemAssign:
    case TokenKind::kAndAssign:
    case TokenKind::kOrAssign:
    case TokenKind::kXorAssign:
      pending_.clear();
      depth_ = 0;
      break;
    default:
      break;
  }
  last_ = kind;
}

}  // namespace kiln::wgsl::front
