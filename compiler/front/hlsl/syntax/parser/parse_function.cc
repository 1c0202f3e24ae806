// SPDX-License-Identifier: MIT
// An error among the parameters is the function's; its body is parsed all the same, where the ')'
// is found. See spec/hlsl 5.3 (function, param)
#include "compiler/front/hlsl/syntax/parser/parse_function.h"

#include "compiler/front/hlsl/syntax/parser/lookahead.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {

// A type was read before; a path and a parenthesis make it a function.
bool FunctionParser::AtFunction() const {
  const Path path = PathAt(context_.at, context_.names);
  return path.tokens != 0 && context_.at.Kind(path.tokens) == TokenKind::kOpenParen;
}

// Parameters and body share one scope around the body's own. A definition with a path (`S::f`)
// sees the names of that record, and declares none.
bool FunctionParser::Function(uint32_t type, const RowRange& attributes, uint32_t begin) {
  const Level level(context_);
  if (!context_.Enter(context_.at.pos())) {
    return false;
  }
  Decl decl{.kind = DeclKind::kFunction, .type = type, .attributes = attributes, .begin = begin};
  const uint32_t record = Name(decl);
  const uint32_t row = parsers_.records.Open(decl);
  const ConstructName what{"function", decl.name};
  const uint32_t outer = context_.names.current();
  if (record != kNone) {
    context_.names.Enter(record);
  } else {
    context_.names.Declare(context_.at.SymbolOf(decl.name), NameKind::kOther);
  }
  context_.names.Enter(NameScopes::Names::kForgotten);
  const bool ok = Head(row, what) && Body(row, what);
  context_.names.Enter(outer);
  parsers_.records.Close(row);
  return ok;
}

// { ID '::' } ID; returns the scope that the path leads to, in which the function's names are
// looked up, or kNone.
// A path that leads nowhere is no error here: what it means is found by semantic analysis.
uint32_t FunctionParser::Name(Decl& decl) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  uint32_t scope = at.Accept(TokenKind::kScope) ? NameScopes::kUnit : kNone;
  while (at.Kind(1) == TokenKind::kScope) {
    const uint32_t symbol = at.SymbolOf(at.pos());
    scope =
        (scope == kNone ? context_.names.Find(symbol) : context_.names.FindIn(scope, symbol)).scope;
    context_.items.push_back(at.Advance());
    at.Advance();
  }
  decl.name = at.Advance();
  if (level.has_items()) {
    decl.path = level.TakeList();
  }
  return scope;
}

// '(' … ')' { place }
bool FunctionParser::Head(uint32_t row, const ConstructName& what) {
  RowRange parameters;
  RowRange places;
  if (!Parameters(&parameters, what) || !parsers_.variables.Places(&places)) {
    return false;
  }
  context_.ast.decls[row].items = parameters;
  context_.ast.decls[row].places = places;
  return true;
}

// An error in the list is left behind its `)`, so that the body is read.
bool FunctionParser::Parameters(RowRange* rows, const ConstructName& what) {
  TokenCursor& at = context_.at;
  const uint32_t open = at.Advance();
  rows->first = static_cast<uint32_t>(context_.ast.variables.size());
  const bool ok =
      ParameterList() && context_.errors.ExpectClose(TokenKind::kCloseParen, what, open);
  rows->count = static_cast<uint32_t>(context_.ast.variables.size()) - rows->first;
  return ok || context_.recovery.RecoverBehind(open);
}

// [ 'void' | param { ',' param } ]
bool FunctionParser::ParameterList() {
  TokenCursor& at = context_.at;
  if (at.At(TokenKind::kVoid) && at.Kind(1) == TokenKind::kCloseParen) {
    at.Advance();
    return true;
  }
  if (at.At(TokenKind::kCloseParen)) {
    return true;
  }
  do {
    if (!parsers_.variables.Parameter()) {
      return false;
    }
  } while (at.Accept(TokenKind::kComma));
  return true;
}

// ';' | '{' { statement } '}'
bool FunctionParser::Body(uint32_t row, const ConstructName& what) {
  TokenCursor& at = context_.at;
  if (at.Accept(TokenKind::kSemicolon)) {
    return true;
  }
  if (!at.At(TokenKind::kOpenBrace)) {
    return context_.errors.FailHere("';' or '{' after " + context_.errors.Describe(what));
  }
  context_.ast.decls[row].body = static_cast<uint32_t>(context_.ast.stmts.size());
  return parsers_.statements.Body(what);
}

}  // namespace kiln::hlsl::syntax
