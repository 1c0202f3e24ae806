// SPDX-License-Identifier: MIT
// A name is declared behind its declarator and before its initialiser, as C does it. Effect syntax
// (annotations, sampler states) is read over with a warning. See spec/hlsl 5.3 (vars, place, init)
#include "compiler/front/hlsl/syntax/parser/parse_variable.h"

#include "compiler/front/hlsl/syntax/parser/lookahead.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {

// Declarators of one type, up to what is no comma. They are neighbours in the table, so a range
// says which.
bool VariableParser::Variables(uint32_t type, RowRange* rows) {
  rows->first = static_cast<uint32_t>(context_.ast.variables.size());
  do {
    if (!Declarator(type)) {
      return false;
    }
  } while (context_.at.Accept(TokenKind::kComma));
  rows->count = static_cast<uint32_t>(context_.ast.variables.size()) - rows->first;
  return true;
}

// spec/hlsl 5.3 (declarator). In `int x = x;` the second one is the first.
bool VariableParser::Declarator(uint32_t type) {
  TokenCursor& at = context_.at;
  CheckStop();
  Variable variable{.type = type, .begin = at.pos()};
  if (!context_.errors.ExpectName("the name of a variable", &variable.name) ||
      !parsers_.types.Extents(&variable.extents) || !Places(&variable.places)) {
    return false;
  }
  context_.names.Declare(at.SymbolOf(variable.name), NameKind::kOther);
  if (at.At(TokenKind::kLess)) {
    SkipAnnotation();
  }
  if (!Initialiser(variable)) {
    return false;
  }
  variable.end = at.pos();
  context_.ast.variables.push_back(variable);
  return true;
}

// [ '=' ( assign | list ) ]; a state is no initialiser: `= sampler_state { … }` and `SamplerState s
// { … }`.
// `sampler_state { }` is of the effect framework and has no meaning here.
bool VariableParser::Initialiser(Variable& variable) {
  TokenCursor& at = context_.at;
  const bool assigns = at.Accept(TokenKind::kAssign);
  const bool state = assigns && at.At(TokenKind::kIdentifier) &&
                     at.Kind(1) == TokenKind::kOpenBrace && at.Text(at.pos()) == "sampler_state";
  if (state || (!assigns && at.At(TokenKind::kOpenBrace))) {
    context_.errors.IgnoreEffect(at.pos());
    at.MoveTo(at.pos() + (state ? 1 : 0));
    context_.recovery.SkipBrackets();
    return true;
  }
  return !assigns || parsers_.expressions.Initialiser(&variable.initialiser);
}

// '<' { … } '>' behind a declarator
void VariableParser::SkipAnnotation() {
  TokenCursor& at = context_.at;
  context_.errors.IgnoreEffect(at.pos());
  while (!at.AtEnd() && !at.At(TokenKind::kCloseBrace) && !at.Accept(TokenKind::kGreater)) {
    at.Advance();
  }
}

// A parameter may lack its name. It is declared for the default values and bodies behind it.
bool VariableParser::Parameter() {
  TokenCursor& at = context_.at;
  CheckStop();
  Variable parameter{.attributes = parsers_.attributes.Attributes(), .begin = at.pos()};
  if (!parsers_.types.SimpleType(&parameter.type)) {
    return false;
  }
  if (at.At(TokenKind::kIdentifier)) {
    parameter.name = at.Advance();
    context_.names.Declare(at.SymbolOf(parameter.name), NameKind::kOther);
  }
  if (!parsers_.types.Extents(&parameter.extents) || !Places(&parameter.places)) {
    return false;
  }
  if (at.Accept(TokenKind::kAssign) &&
      !parsers_.expressions.Expression(&parameter.initialiser, ExprEnd::kComma)) {
    return false;
  }
  parameter.end = at.pos();
  context_.ast.variables.push_back(parameter);
  return true;
}

// What stands behind colons: semantics, registers, packoffsets, in any order and number.
// Whether they fit is checked when types are known.
bool VariableParser::Places(RowRange* rows) {
  rows->first = static_cast<uint32_t>(context_.ast.places.size());
  while (context_.at.At(TokenKind::kColon)) {
    if (!OnePlace()) {
      return false;
    }
  }
  rows->count = static_cast<uint32_t>(context_.ast.places.size()) - rows->first;
  return true;
}

// One ':' and what stands behind it.
bool VariableParser::OnePlace() {
  const Level level(context_);
  TokenCursor& at = context_.at;
  Place place{.begin = at.Advance()};
  place.token = at.pos();
  switch (at.Kind()) {
    case TokenKind::kIdentifier:
      at.Advance();
      break;
    case TokenKind::kRegister:
      if (!Register(place)) {
        return false;
      }
      break;
    case TokenKind::kPackoffset:
      if (!PackOffset(place)) {
        return false;
      }
      break;
    // `int x : 3` is a bit-field, refused by name.
    case TokenKind::kInteger:
      context_.errors.RefuseDialect(place.begin, at.pos(), "bit-fields");
      at.Advance();
      return true;
    default:  // nothing that may stand behind the ':'
      return context_.errors.FailHere("a semantic, 'register' or 'packoffset' after ':'");
  }
  place.end = at.pos();
  context_.ast.places.push_back(place);
  return true;
}

// 'register' '(' ID { ',' ID } ')'
bool VariableParser::Register(Place& place) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  place.kind = PlaceKind::kRegister;
  at.Advance();
  const uint32_t open = at.pos();
  if (!context_.errors.Expect(TokenKind::kOpenParen, {"'register'"})) {
    return false;
  }
  do {
    uint32_t name = kNone;
    if (!context_.errors.ExpectName("a register or space", &name)) {
      return false;
    }
    context_.items.push_back(name);
  } while (at.Accept(TokenKind::kComma));
  place.arguments = level.TakeList();
  return context_.errors.ExpectClose(TokenKind::kCloseParen, {"'register'"}, open);
}

// 'packoffset' '(' ID [ '.' ID ] ')'
bool VariableParser::PackOffset(Place& place) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  place.kind = PlaceKind::kPackOffset;
  at.Advance();
  const uint32_t open = at.pos();
  uint32_t name = kNone;
  if (!context_.errors.Expect(TokenKind::kOpenParen, {"'packoffset'"}) ||
      !context_.errors.ExpectName("a register", &name)) {
    return false;
  }
  context_.items.push_back(name);
  if (at.Accept(TokenKind::kDot)) {
    if (!context_.errors.ExpectName("a component", &name)) {
      return false;
    }
    context_.items.push_back(name);
  }
  place.arguments = level.TakeList();
  return context_.errors.ExpectClose(TokenKind::kCloseParen, {"'packoffset'"}, open);
}

// Both forms of an alias make one kind of row.
bool VariableParser::Alias(const RowRange& attributes) {
  return context_.at.At(TokenKind::kTypedef) ? Typedef(attributes) : Using(attributes);
}

// 'typedef' type ID [ extents ] { ',' ID [ extents ] }
bool VariableParser::Typedef(const RowRange& attributes) {
  TokenCursor& at = context_.at;
  Decl decl{.kind = DeclKind::kAlias, .attributes = attributes, .begin = at.Advance()};
  if (!parsers_.types.TypeOrRecord(&decl.type, {})) {
    return false;
  }
  // The row is added before its names, behind the record that its type may be.
  const auto row = static_cast<uint32_t>(context_.ast.decls.size());
  context_.ast.decls.push_back(decl);
  decl.items.first = static_cast<uint32_t>(context_.ast.variables.size());
  do {
    Variable alias{.type = decl.type, .begin = at.pos()};
    if (!context_.errors.ExpectName("the name of an alias", &alias.name) ||
        !parsers_.types.Extents(&alias.extents)) {
      return false;
    }
    alias.end = at.pos();
    context_.ast.variables.push_back(alias);
    DeclareAlias(alias);
  } while (at.Accept(TokenKind::kComma));
  decl.items.count = static_cast<uint32_t>(context_.ast.variables.size()) - decl.items.first;
  decl.end = at.pos();
  decl.next = row + 1;
  context_.ast.decls[row] = decl;
  return true;
}

// `using A = T[3];`: the extents are those of the type.
bool VariableParser::Using(const RowRange& attributes) {
  TokenCursor& at = context_.at;
  Decl decl{.kind = DeclKind::kAlias,
            .flags = Decl::kUsing,
            .attributes = attributes,
            .begin = at.Advance()};
  Variable alias{.begin = at.pos()};
  if (!context_.errors.ExpectName("the name of an alias after 'using'", &alias.name) ||
      !context_.errors.Expect(TokenKind::kAssign, {"alias", alias.name}) ||
      !parsers_.types.TypeWithExtents(&decl.type)) {
    return false;
  }
  alias.type = decl.type;
  alias.end = at.pos();
  decl.items = {.first = static_cast<uint32_t>(context_.ast.variables.size()), .count = 1};
  decl.end = at.pos();
  decl.next = static_cast<uint32_t>(context_.ast.decls.size()) + 1;
  context_.ast.variables.push_back(alias);
  context_.ast.decls.push_back(decl);
  DeclareAlias(alias);
  return true;
}

// `A::member` works for an alias A of a record or enum, so it leads to the same scope.
void VariableParser::DeclareAlias(const Variable& alias) {
  const Type& type = context_.ast.types[alias.type];
  uint32_t scope = kNone;
  if (type.kind == TypeKind::kNamed && type.path == kNone) {
    scope = context_.names.Find(context_.at.SymbolOf(type.token)).scope;
  }
  context_.names.Declare(context_.at.SymbolOf(alias.name), NameKind::kType, scope);
}

}  // namespace kiln::hlsl::syntax
