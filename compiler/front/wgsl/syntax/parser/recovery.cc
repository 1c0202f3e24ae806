// SPDX-License-Identifier: MIT
// Both count braces from the beginning of what is left, not from the error: a brace that was read
// before it is open still.
#include "compiler/front/wgsl/syntax/parser/recovery.h"

namespace kiln::wgsl::front::syntax {
namespace {

// Words that begin a declaration and nothing else. `var`, `const` and `const_assert` also begin
// statements, so they say nothing about where a function ends.
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

// Goes to the end of the statement that began at `begin`: behind its `;`, behind the `}` that
// closes what it opened, or before the `}` of the block around it. What was read before the
// error only counts braces. Cost: the statement once, and blocks around a missing brace once
// for each level.
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
      // The brace of the block around. It is left for the list that the statement stands in.
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

// The same for declarations. A declaration begins anew at a word that can begin nothing else,
// so a missing brace costs one error and not the rest of the source.
void LeaveDeclaration(ParseContext& context, uint32_t begin) {
  context.failed = false;
  const uint32_t error = context.at;
  uint32_t braces = 0;
  for (context.at = begin; !context.Is(TokenKind::kEnd); context.Next()) {
    // At least one token is left behind, or the module would be read for ever.
    const bool behind = context.at >= error && context.at > begin;
    if (behind && BeginsDeclaration(context)) {
      return;
    }
    if (context.Is(TokenKind::kOpenBrace)) {
      ++braces;
    } else if (context.Is(TokenKind::kCloseBrace)) {
      // A closing brace too many stands outside of all blocks and ends what is skipped.
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
