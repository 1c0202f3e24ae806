// SPDX-License-Identifier: MIT
// Only what stands directly in a record counts: bodies of methods are in braces that no record has.
#include "compiler/front/hlsl/syntax/parser/nested_types.h"

namespace kiln::hlsl::syntax {

// One token of a record. False behind the brace that closes the outermost one.
bool NestedTypeScan::Look(uint32_t token, std::vector<NestedType>& found) {
  switch (at_.KindOf(token)) {
    case TokenKind::kOpenBrace:
      // What opens is a record if its head was just read, else a method, an enum or a list.
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

// Four forms declare a type: struct, class and enum with a body, `using A =`, and `typedef …
// A;`.
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
    // A body or a base behind the name: `struct S s;` only uses it.
    const bool defines = behind == TokenKind::kOpenBrace || behind == TokenKind::kColon;
    record_follows_ = record_follows_ || (defines && !is_enum);
    if (defines && named) {
      found.push_back({brace, at_.SymbolOf(name)});
    }
  } else if (kind == TokenKind::kUsing && kind_behind(token) == TokenKind::kIdentifier) {
    found.push_back({brace, at_.SymbolOf(token + 1)});
  } else if (kind == TokenKind::kTypedef) {
    in_typedef_ = true;
    // The last name before the semicolon of a typedef. Of a list of names only that one is
    // found here; the others are declared when they are read.
  } else if (in_typedef_ && kind == TokenKind::kIdentifier &&
             kind_behind(token) == TokenKind::kSemicolon) {
    found.push_back({brace, at_.SymbolOf(token)});
    in_typedef_ = false;
  }
}

}  // namespace kiln::hlsl::syntax
