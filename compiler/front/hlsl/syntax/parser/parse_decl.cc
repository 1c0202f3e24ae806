// SPDX-License-Identifier: MIT
// What a declaration is, its first word tells; what begins with a type is told by what stands
// behind it. Behind a '}' too many whole bodies of functions stand where declarations are due, so
// only the first of them in a row is reported. See spec/hlsl 5.3 (unit, top)
#include "compiler/front/hlsl/syntax/parser/parse_decl.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/syntax/parser/lookahead.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {
namespace {

// Words that begin a declaration of the effect framework.
constexpr auto kEffectWords =
    std::to_array<std::string_view>({"technique", "technique10", "technique11", "fxgroup", "pass"});

}  // namespace

// Until the end: every declaration moves on by a token at least.
void DeclarationParser::Unit() {
  while (!context_.at.AtEnd()) {
    Declaration();
  }
}

// Each declaration is a construct of its own, with one error. Scopes that an error left open
// are closed by number, not by counting.
void DeclarationParser::Declaration() {
  const ParseErrors::Construct construct(context_.errors);
  const Level level(context_);
  CheckStop();
  TokenCursor& at = context_.at;
  const uint32_t begin = at.pos();
  const uint32_t scope = context_.names.current();
  was_lost_ = std::exchange(lost_, false);
  // A function whose `}` is missing ends with an error and without skipping: the next
  // declaration begins where it stopped.
  const bool ok = DeclarationBody() || context_.recovery.unclosed();
  if (!context_.recovery.TakeUnclosed() && !ok) {
    context_.recovery.Recover();
    // A `}` at the level of the unit belongs to nothing that is open.
    if (at.At(TokenKind::kCloseBrace) && context_.names.current() == NameScopes::kUnit) {
      at.Advance();  // closes nothing
      at.Accept(TokenKind::kSemicolon);
    }
  }
  context_.names.Enter(scope);
  if (at.pos() == begin) {
    at.Advance();
  }
}

bool DeclarationParser::DeclarationBody() {
  TokenCursor& at = context_.at;
  const RowRange attributes = parsers_.attributes.Attributes();
  switch (at.Kind()) {
    case TokenKind::kSemicolon:
      at.Advance();
      return true;
    case TokenKind::kNamespace:
      return Namespace();
    case TokenKind::kTypedef:
    case TokenKind::kUsing:
      return parsers_.variables.Alias(attributes) && context_.errors.ExpectSemicolon({"alias"});
    case TokenKind::kEnum:
      return parsers_.records.Enum(attributes) && context_.errors.ExpectSemicolon({"enum"});
    case TokenKind::kCbuffer:
    case TokenKind::kTbuffer:
      return parsers_.records.Block(attributes);
    default:  // begins with a type, or is none
      break;
  }
  // Before types, since `template` and `export` begin nothing else.
  if (AtRefused()) {
    return Refused();
  }
  if (AtEffect()) {
    return Effect();
  }
  return AtVariables(at, context_.names) ? Typed(attributes, Where::kUnit) : FailDeclaration();
}

// Behind a `}` too many every line of the function looks lost. The first is reported, the
// others only if a right declaration came between them.
bool DeclarationParser::FailDeclaration() {
  lost_ = true;
  if (was_lost_) {
    context_.errors.Silence();
  }
  return context_.errors.FailHere("a declaration");
}

// 'namespace' ID '{' unit '}'
// A namespace may be opened again; its scope is the one it had. Namespaces nest, which is
// counted.
bool DeclarationParser::Namespace() {
  TokenCursor& at = context_.at;
  ConstructName what{"namespace"};
  const uint32_t begin = at.Advance();
  if (!context_.Enter(begin) ||
      !context_.errors.ExpectName("the name of a namespace", &what.name)) {
    return false;
  }
  const uint32_t row =
      parsers_.records.Open({.kind = DeclKind::kNamespace, .name = what.name, .begin = begin});
  const uint32_t open = at.pos();
  bool ok = context_.errors.Expect(TokenKind::kOpenBrace, what);
  if (ok) {
    const uint32_t outer = context_.names.current();
    context_.names.Enter(context_.names.DeclareScope(at.SymbolOf(what.name), NameKind::kNamespace));
    while (!at.At(TokenKind::kCloseBrace) && !at.AtEnd()) {
      Declaration();
    }
    context_.names.Enter(outer);
    ok = context_.errors.ExpectClose(TokenKind::kCloseBrace, what, open);
  }
  parsers_.records.Close(row);
  return ok;
}

bool DeclarationParser::AtRefused() const {
  return context_.at.At(TokenKind::kTemplate) || context_.at.At(TokenKind::kExport);
}

// The whole declaration is skipped, for nothing in it could be looked up.
bool DeclarationParser::Refused() {
  const uint32_t token = context_.at.pos();
  if (context_.at.At(TokenKind::kTemplate)) {
    context_.errors.RefuseDialect(token, token, "templates");
  } else {
    context_.errors.RefuseFamily(token, token, "libraries");
  }
  return false;
}

// `float operator+ (…)`: a name is due where the word stands.
bool DeclarationParser::RefuseOperator() {
  const uint32_t token = context_.at.pos();
  context_.errors.RefuseDialect(token, token, "operator overloads");
  return false;
}

// technique … { … }; the words are names wherever they are declared.
bool DeclarationParser::AtEffect() const {
  const TokenCursor& at = context_.at;
  const TokenKind behind = at.Kind(at.Kind(1) == TokenKind::kIdentifier ? 2 : 1);
  return at.At(TokenKind::kIdentifier) &&
         (behind == TokenKind::kOpenBrace || behind == TokenKind::kLess) &&
         std::ranges::find(kEffectWords, at.Text(at.pos())) != kEffectWords.end() &&
         context_.names.Find(at.SymbolOf(at.pos())).kind == NameKind::kUnknown;
}

// Up to its brace, then its block. A `}` before one ends it.
bool DeclarationParser::Effect() {
  TokenCursor& at = context_.at;
  context_.errors.IgnoreEffect(at.pos());
  while (!at.At(TokenKind::kOpenBrace) && !at.At(TokenKind::kCloseBrace) && !at.AtEnd()) {
    at.Advance();
  }
  if (at.At(TokenKind::kOpenBrace)) {
    context_.recovery.SkipBrackets();
  }
  return true;
}

// Everything that begins with a type: function, record, variables. Where it stands decides
// which of them are allowed.
bool DeclarationParser::Typed(const RowRange& attributes, Where where) {
  TokenCursor& at = context_.at;
  if (AtRefused()) {
    return Refused();
  }
  const uint32_t begin = at.pos();
  uint32_t type = kNone;
  const bool records = where != Where::kBlock;
  if (!(records ? parsers_.types.TypeOrRecord(&type, attributes)
                : parsers_.types.SimpleType(&type))) {
    return false;
  }
  if (at.At(TokenKind::kOperator)) {
    return RefuseOperator();
  }
  const bool functions = where == Where::kUnit || where == Where::kRecord;
  if (functions && parsers_.functions.AtFunction()) {
    const bool ok = parsers_.functions.Function(type, attributes, begin);
    if (ok && where == Where::kRecord) {
      at.Accept(TokenKind::kSemicolon);
    }
    return ok;
  }
  // A record may end with its body, without variables.
  if (context_.ast.types[type].kind == TypeKind::kRecord && !AtRecordVariables()) {
    return context_.errors.ExpectSemicolon({"struct"});
  }
  RowRange items;
  return VariableRow(type, attributes, begin, &items) &&
         context_.errors.ExpectSemicolon(
             {"variable", context_.ast.variables[items.first + items.count - 1].name});
}

// Names behind the '}' of a record. A name on a line of its own begins the next declaration where
// the
// ';' was forgotten, unless it is one itself.
bool DeclarationParser::AtRecordVariables() const {
  const TokenCursor& at = context_.at;
  const TokenKind next = at.Kind(1);
  return at.At(TokenKind::kIdentifier) &&
         (!at.OnNewLine() || next == TokenKind::kSemicolon || next == TokenKind::kComma ||
          next == TokenKind::kAssign || next == TokenKind::kOpenBracket);
}

// The row of the declaration is added first, so that those of records in its type come behind
// it: rows are in pre-order.
bool DeclarationParser::VariableRow(uint32_t type, const RowRange& attributes, uint32_t begin,
                                    RowRange* items) {
  const uint32_t row = parsers_.records.Open(
      {.kind = DeclKind::kVariables, .type = type, .attributes = attributes, .begin = begin});
  const bool ok = parsers_.variables.Variables(type, items);
  context_.ast.decls[row].items = *items;
  parsers_.records.Close(row);
  return ok;
}

// The head of a `for`: no record and no function, and the `;` is the caller's.
bool DeclarationParser::LoopVariables() {
  const uint32_t begin = context_.at.pos();
  uint32_t type = kNone;
  RowRange items;
  return parsers_.types.SimpleType(&type) && VariableRow(type, {}, begin, &items);
}

}  // namespace kiln::hlsl::syntax
