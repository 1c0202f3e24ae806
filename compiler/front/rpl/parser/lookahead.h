// SPDX-License-Identifier: MIT
// Questions about the tokens ahead of a cursor, for the parsers and for recovery. Nothing moves.
#pragma once

#include "compiler/front/rpl/parser/token_cursor.h"

namespace kiln::rpl {

bool AtFunction(const TokenCursor& at);
// Does a declaration start here that no field can be taken for? So a '}' is missing before it.
bool AtDeclaration(const TokenCursor& at);
bool AtConditionalDeclaration(const TokenCursor& at);
bool AtTypedName(const TokenCursor& at);  // ID sizes ID: a declaration of a variable
bool AtArrayConstructor(const TokenCursor& at);
bool AtHeaderWithoutParen(const TokenCursor& at);
inline bool AtFieldPrefix(const TokenCursor& at) {
  return at.AtPrefix(Keyword::kConditional) || at.AtPrefix(Keyword::kMeta) ||
         at.AtPrefix(Keyword::kPack);
}

// Requires, here and below: a '{' is the current token.
bool BracesHoldStatements(const TokenCursor& at);
// `{ x =`: a scope behind a mistyped keyword, no constructor.
bool BracesAssign(const TokenCursor& at);

}  // namespace kiln::rpl
