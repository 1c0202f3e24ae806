// SPDX-License-Identifier: MIT
// What the next few tokens begin, by their shape and by what names are. Nothing here moves a cursor
// or says anything. `ahead` counts tokens from the current one; loops end at the ';' that every
// statement has.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/front/hlsl/syntax/parser/name_scopes.h"
#include "compiler/front/hlsl/syntax/parser/token_cursor.h"

namespace kiln::hlsl::syntax {

// [ '::' ] ID { '::' ID }, or no tokens.
struct Path {
  uint32_t tokens = 0;
  FoundName name;  // of the whole path
};
Path PathAt(const TokenCursor& at, NameScopes& names, uint32_t ahead = 0);

// The number of tokens from the current one to behind the '>' of the '<' at `ahead`; 0 if that is
// no list of arguments.
uint32_t EndOfArguments(const TokenCursor& at, uint32_t ahead);

// A keyword that is a modifier, or a contextual word that a type or name follows. `inout` is kIn.
std::optional<Modifier> ModifierAt(const TokenCursor& at, NameScopes& names, uint32_t ahead = 0);

// Does a type begin here: a modifier, 'struct', 'void', 'unsigned' or the name of a type?
bool AtType(const TokenCursor& at, NameScopes& names, uint32_t ahead = 0);

// A declaration of variables, as opposed to an expression: a type that no '(' follows, or two names
// in a row of which the first is not known.
bool AtVariables(const TokenCursor& at, NameScopes& names);

// '(' type ')', as opposed to an expression in parentheses. The current token is the '('.
bool AtCast(const TokenCursor& at, NameScopes& names);

// The definition of a record in place: 'struct' or 'class', a name or none, then '{' or ':'.
bool AtRecord(const TokenCursor& at);

// What can stand in no function, or name of one.
bool AtUnitDeclaration(const TokenCursor& at, NameScopes& names);

// '<' type { ',' … } '>' '(' behind the name of a function or method.
bool AtTemplateCall(const TokenCursor& at, NameScopes& names);

}  // namespace kiln::hlsl::syntax
