// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/lex/template_lists.h"

namespace kiln::wgsl::front {

void TemplateLists::DropFrom(uint32_t depth) {
  while (!pending_.empty() && pending_.back().depth >= depth) {
    pending_.pop_back();
  }
}

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
      DropFrom(depth_);
      depth_ -= depth_ == 0 ? 0 : 1;
      break;
    case TokenKind::kLogicalAnd:
    case TokenKind::kLogicalOr:
      DropFrom(depth_);
      break;
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
