// SPDX-License-Identifier: MIT
// Members of a record see each other, also types that are declared further down. So the names of
// types inside are collected before the outermost record is parsed, in one pass over its tokens.
// See spec/hlsl 5.3 (record, enum, block)
#include "compiler/front/hlsl/syntax/parser/parse_record.h"

#include <algorithm>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/syntax/parser/lookahead.h"
#include "compiler/front/hlsl/syntax/parser/nested_types.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {

// A row is opened before what is in it and closed behind: rows are in pre-order, `next` is
// where they end.
uint32_t RecordParser::Open(const Decl& decl) {
  context_.ast.decls.push_back(decl);
  return static_cast<uint32_t>(context_.ast.decls.size() - 1);
}

void RecordParser::Close(uint32_t row) {
  context_.ast.decls[row].next = static_cast<uint32_t>(context_.ast.decls.size());
  context_.ast.decls[row].end = context_.at.pos();
}

// `struct` and `class` are the same but for the word in messages.
bool RecordParser::Record(uint32_t* row, const RowRange& attributes) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  const uint32_t begin = at.pos();
  if (!context_.Enter(begin)) {
    return false;
  }
  const uint8_t flags = at.At(TokenKind::kClass) ? Decl::kClass : uint8_t{0};
  *row =
      Open({.kind = DeclKind::kRecord, .flags = flags, .attributes = attributes, .begin = begin});
  at.Advance();
  ConstructName what{"record"};
  const uint32_t outer = context_.names.current();
  if (at.At(TokenKind::kIdentifier)) {
    what.name = at.Advance();
    context_.ast.decls[*row].name = what.name;
    context_.names.Enter(context_.names.DeclareScope(at.SymbolOf(what.name), NameKind::kType));
  } else {
    // Without a name its scope has none that leads to it, but members see each other.
    context_.names.Enter(NameScopes::Names::kKept);
  }
  const bool ok = Base(what.name) && Members(what);
  context_.names.Enter(outer);
  Close(*row);
  return ok;
}

// [ ':' name ]
// Inheritance is refused and read over up to the body, which is parsed.
bool RecordParser::Base(uint32_t record) {
  TokenCursor& at = context_.at;
  if (!at.At(TokenKind::kColon)) {
    return true;
  }
  context_.errors.RefuseFamily(record == kNone ? at.pos() : record, at.pos() + 1, "inheritance");
  while (!at.AtEnd() && !at.At(TokenKind::kOpenBrace) && !at.At(TokenKind::kSemicolon)) {
    at.Advance();
  }
  return true;
}

// '{' { member } '}'
// Members until the `}`, or until something that cannot stand in a record, which ends it.
bool RecordParser::Members(const ConstructName& what) {
  TokenCursor& at = context_.at;
  const uint32_t open = at.pos();
  if (!context_.errors.Expect(TokenKind::kOpenBrace, what)) {
    return false;
  }
  // Only the outermost record scans: it finds types for all records inside of it, by their
  // brace.
  if (depth_++ == 0) {
    FindNestedTypes(open);
  }
  DeclareNestedTypes(open);
  while (!at.At(TokenKind::kCloseBrace) && !at.AtEnd()) {
    const TokenKind kind = at.Kind();
    if (kind == TokenKind::kCbuffer || kind == TokenKind::kTbuffer ||
        kind == TokenKind::kNamespace) {
      break;
    }
    Member();
  }
  --depth_;
  return at.Accept(TokenKind::kCloseBrace) || FailUnclosed(what, open);
}

// What is met there is the next declaration: parsing goes on with it.
bool RecordParser::FailUnclosed(const ConstructName& what, uint32_t open) {
  context_.recovery.EndScopes();
  return context_.recovery.FailUnclosedBrace(what, open);
}

void RecordParser::Member() {
  const ParseErrors::Construct construct(context_.errors);
  const Level level(context_);
  CheckStop();
  const uint32_t begin = context_.at.pos();
  const uint32_t scope = context_.names.current();
  if (!MemberBody() && !context_.recovery.unclosed()) {
    context_.recovery.Recover();
  }
  context_.names.Enter(scope);
  if (!context_.recovery.TakeUnclosed() && context_.at.pos() == begin) {
    context_.at.Advance();
  }
}

bool RecordParser::MemberBody() {
  TokenCursor& at = context_.at;
  const RowRange attributes = parsers_.attributes.Attributes();
  switch (at.Kind()) {
    case TokenKind::kTypedef:
    case TokenKind::kUsing:
      return parsers_.variables.Alias(attributes) && context_.errors.ExpectSemicolon({"alias"});
    case TokenKind::kEnum:
      return Enum(attributes) && context_.errors.ExpectSemicolon({"enum"});
    default:  // a method, members or a record
      if (!AtVariables(at, context_.names) && !parsers_.declarations.AtRefused()) {
        return context_.errors.FailHere("a member or '}'");
      }
      return parsers_.declarations.Typed(attributes, DeclarationParser::Where::kRecord);
  }
}

// `cbuffer` and `tbuffer`. Members are in the scope around, as HLSL has it, so the block opens
// none.
bool RecordParser::Block(const RowRange& attributes) {
  TokenCursor& at = context_.at;
  const uint8_t flags = at.At(TokenKind::kTbuffer) ? Decl::kTbuffer : uint8_t{0};
  const uint32_t row = Open(
      {.kind = DeclKind::kBlock, .flags = flags, .attributes = attributes, .begin = at.Advance()});
  ConstructName what{flags == 0 ? "cbuffer" : "tbuffer"};
  RowRange places;
  if (!context_.errors.ExpectName("the name of a block", &what.name) ||
      !parsers_.variables.Places(&places)) {
    Close(row);
    return false;
  }
  context_.ast.decls[row].name = what.name;
  context_.ast.decls[row].places = places;
  const uint32_t open = at.pos();
  bool ok = context_.errors.Expect(TokenKind::kOpenBrace, what);
  // A function inside of a block: the block's `}` is missing.
  while (ok && !at.At(TokenKind::kCloseBrace) && !at.AtEnd() &&
         !(at.OnNewLine() && AtUnitDeclaration(at, context_.names))) {
    BlockMember();
  }
  ok = ok && (at.Accept(TokenKind::kCloseBrace) || FailUnclosed(what, open));
  Close(row);
  return ok;
}

void RecordParser::BlockMember() {
  const ParseErrors::Construct construct(context_.errors);
  const Level level(context_);
  TokenCursor& at = context_.at;
  CheckStop();
  const uint32_t begin = at.pos();
  const RowRange attributes = parsers_.attributes.Attributes();
  const bool ok = AtVariables(at, context_.names)
                      ? parsers_.declarations.Typed(attributes, DeclarationParser::Where::kBlock)
                      : context_.errors.FailHere("a member or '}'");
  if (!ok) {
    context_.recovery.Recover();
  }
  if (at.pos() == begin) {
    at.Advance();
  }
}

// Enumerators are names of the enum's own scope, and of the scope around unless it is an `enum
// class`.
bool RecordParser::Enum(const RowRange& attributes) {
  TokenCursor& at = context_.at;
  const uint32_t begin = at.Advance();
  const bool scoped = at.Accept(TokenKind::kClass) || at.Accept(TokenKind::kStruct);
  const uint8_t flags = scoped ? Decl::kClass : uint8_t{0};
  const uint32_t row =
      Open({.kind = DeclKind::kEnum, .flags = flags, .attributes = attributes, .begin = begin});
  uint32_t name = kNone;
  uint32_t type = kNone;
  bool ok = context_.errors.ExpectName("the name of an enum", &name);
  if (ok) {
    context_.ast.decls[row].name = name;
    const uint32_t scope = context_.names.DeclareScope(at.SymbolOf(name), NameKind::kType);
    // The name is declared before its values are read: they may mention earlier enumerators.
    ok = !at.Accept(TokenKind::kColon) || parsers_.types.SimpleType(&type);
    context_.ast.decls[row].type = type;
    ok = ok && Enumerators(row, scope);
  }
  Close(row);
  return ok;
}

// '{' ID [ '=' cond ] { ',' ID [ '=' cond ] } [ ',' ] '}'
bool RecordParser::Enumerators(uint32_t row, uint32_t scope) {
  TokenCursor& at = context_.at;
  std::vector<Enumerator>& rows = context_.ast.enumerators;
  const ConstructName what{"enum", context_.ast.decls[row].name};
  const bool scoped = context_.ast.decls[row].Is(Decl::kClass);
  const uint32_t outer = context_.names.current();
  const uint32_t open = at.pos();
  if (!context_.errors.Expect(TokenKind::kOpenBrace, what)) {
    return false;
  }
  RowRange items{.first = static_cast<uint32_t>(rows.size())};
  do {
    CheckStop();
    Enumerator item;
    if (!context_.errors.ExpectName("an enumerator", &item.name) ||
        (at.Accept(TokenKind::kAssign) &&
         !parsers_.expressions.Expression(&item.value, ExprEnd::kComma))) {
      return false;
    }
    rows.push_back(item);
    context_.names.Enter(scope);
    context_.names.Declare(at.SymbolOf(item.name), NameKind::kOther);
    context_.names.Enter(outer);
    if (!scoped) {
      context_.names.Declare(at.SymbolOf(item.name), NameKind::kOther);
    }
  } while (at.Accept(TokenKind::kComma) && !at.At(TokenKind::kCloseBrace));
  items.count = static_cast<uint32_t>(rows.size()) - items.first;
  context_.ast.decls[row].items = items;
  return context_.errors.ExpectClose(TokenKind::kCloseBrace, what, open);
}

// By brace, so that each record finds its own. What a lost '}' would make it read over and over
// again is bounded; nothing is collected then.
// Cost: the tokens of the record, once; with a missing `}` that could be the rest of the source
// for every record, so looks are counted.
void RecordParser::FindNestedTypes(uint32_t brace) {
  nested_.clear();
  NestedTypeScan scan(context_.at);
  for (uint32_t token = brace; token < context_.at.last(); ++token) {
    if (!context_.recovery.TakeLook()) {
      nested_.clear();
      return;
    }
    if (!scan.Look(token, nested_)) {
      break;
    }
  }
  // Stable: types of one record keep the order in which they are declared.
  std::ranges::stable_sort(nested_, {}, &NestedType::brace);
}

// Declared as types whose body is still to come.
void RecordParser::DeclareNestedTypes(uint32_t brace) {
  for (const NestedType& nested :
       std::ranges::equal_range(nested_, brace, {}, &NestedType::brace)) {
    context_.names.DeclareScope(nested.symbol, NameKind::kType);
  }
}

}  // namespace kiln::hlsl::syntax
