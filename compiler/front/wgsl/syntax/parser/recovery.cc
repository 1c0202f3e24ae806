// SPDX-License-Identifier: MIT
// Both count braces from the beginning of what is left, not from the error: a brace that was read
// before it is open still.
#include "compiler/front/wgsl/syntax/parser/recovery.h"

namespace kiln::wgsl::front::syntax {
namespace {

bool BeginsDeclaration(const ParseContext& context) {
  switch (context.Kind()) {
    case TokenKind::kFn:
    case TokenKind::kStruct:
    case TokenKind::kAlias:
    case TokenKind::kOverride:
      return true;
    default:
      return false;
  }
}

}  // namespace

void LeaveStatement(ParseContext& context, uint32_t begin) {
  context.failed = false;
  uint32_t braces = 0;
  const uint32_t error = context.at;
  for (context.at = begin; !context.Is(TokenKind::kEnd); context.Next()) {
    const bool behind = context.at >= error;
    // No function begins inside of one: the brace that ends it is missing.
    if (context.Is(TokenKind::kFn) && behind) {
      return;
    }
    if (context.Is(TokenKind::kOpenBrace)) {
      ++braces;
    } else if (context.Is(TokenKind::kCloseBrace)) {
      if (braces == 0) {
        return;
      }
      if (--braces == 0 && behind) {
        context.Next();
        return;
      }
    } else if (context.Is(TokenKind::kSemicolon) && braces == 0 && behind) {
      context.Next();
      return;
    }
  }
}

void LeaveDeclaration(ParseContext& context, uint32_t begin) {
  context.failed = false;
  const uint32_t error = context.at;
  uint32_t braces = 0;
  for (context.at = begin; !context.Is(TokenKind::kEnd); context.Next()) {
    const bool behind = context.at >= error && context.at > begin;
    if (behind && BeginsDeclaration(context)) {
      return;
    }
    if (context.Is(TokenKind::kOpenBrace)) {
      ++braces;
    } else if (context.Is(TokenKind::kCloseBrace)) {
      braces -= braces == 0 ? 0 : 1;
      if (braces == 0 && behind) {
        context.Next();
        return;
      }
    } else if (context.Is(TokenKind::kSemicolon) && braces == 0 && behind) {
      context.Next();
      return;
    }
  }
}

}  // namespace kiln::wgsl::front::syntax
