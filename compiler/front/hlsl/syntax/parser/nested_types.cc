// SPDX-License-Identifier: MIT
// Only what stands directly in a record counts: bodies of methods are in braces that no record has.
#include "compiler/front/hlsl/syntax/parser/nested_types.h"

namespace kiln::hlsl::syntax {

bool NestedTypeScan::Look(uint32_t token, std::vector<NestedType>& found) {
  switch (at_.KindOf(token)) {
    case TokenKind::kOpenBrace:
      open_.push_back({.token = token, .is_record = record_follows_});
      record_follows_ = false;
      return true;
    case TokenKind::kCloseBrace:
      open_.pop_back();
      return !open_.empty();
    default:  // perhaps a declaration
      if (open_.back().is_record) {
        LookInRecord(token, found);
      }
      return true;
  }
}

void NestedTypeScan::LookInRecord(uint32_t token, std::vector<NestedType>& found) {
  const uint32_t brace = open_.back().token;
  const TokenKind kind = at_.KindOf(token);
  const auto kind_behind = [&](uint32_t at) {
    return at < at_.last() ? at_.KindOf(at + 1) : TokenKind::kEnd;
  };
  const bool is_enum = kind == TokenKind::kEnum;
  if (kind == TokenKind::kStruct || kind == TokenKind::kClass || is_enum) {
    const TokenKind next = kind_behind(token);
    const bool scoped = is_enum && (next == TokenKind::kClass || next == TokenKind::kStruct);
    const uint32_t name = token + (scoped ? 2 : 1);
    const bool named = name < at_.last() && at_.KindOf(name) == TokenKind::kIdentifier;
    const TokenKind behind = named ? kind_behind(name) : next;
    const bool defines = behind == TokenKind::kOpenBrace || behind == TokenKind::kColon;
    record_follows_ = record_follows_ || (defines && !is_enum);
    if (defines && named) {
      found.push_back({brace, at_.SymbolOf(name)});
    }
  } else if (kind == TokenKind::kUsing && kind_behind(token) == TokenKind::kIdentifier) {
    found.push_back({brace, at_.SymbolOf(token + 1)});
  } else if (kind == TokenKind::kTypedef) {
    in_typedef_ = true;
  } else if (in_typedef_ && kind == TokenKind::kIdentifier &&
             kind_behind(token) == TokenKind::kSemicolon) {
    found.push_back({brace, at_.SymbolOf(token)});
    in_typedef_ = false;
  }
}

}  // namespace kiln::hlsl::syntax
