// SPDX-License-Identifier: MIT
// Statements are rows in pre-order: a row is added when its statement begins and gets its end when
// it is known. Blocks and bodies recurse, at most limits.nesting deep; a ladder of `else if` is
// walked by a loop. A '}' that is missing ends all scopes of the function where the next
// declaration is met. See spec/hlsl 5.3 (statement)
#include "compiler/front/hlsl/syntax/parser/parse_stmt.h"

#include <utility>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/syntax/parser/lookahead.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {

// Attributes belong to the row of the statement that they stand before.
uint32_t StatementParser::Open(StmtKind kind, const RowRange& attributes) {
  context_.ast.stmts.push_back(
      {.kind = kind, .begin = context_.at.pos(), .attributes = attributes});
  return static_cast<uint32_t>(context_.ast.stmts.size() - 1);
}

void StatementParser::Close(uint32_t row) {
  context_.ast.stmts[row].next = static_cast<uint32_t>(context_.ast.stmts.size());
  context_.ast.stmts[row].end = context_.at.pos();
}

// The body of a function knows its name and indentation, by which a missing `}` is found.
bool StatementParser::Body(const ConstructName& what) {
  const uint32_t open = context_.at.pos();
  const Function outer =
      std::exchange(function_, {.name = what, .open = open, .indent = context_.at.IndentOf(open)});
  const uint32_t row = Open(StmtKind::kBlock, {});
  const bool ok = BlockRows();
  Close(row);
  function_ = outer;
  return ok;
}

// Names of a block are forgotten behind it: no path leads there.
bool StatementParser::Block(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kBlock, attributes);
  context_.names.Enter(NameScopes::Names::kForgotten);
  const bool ok = BlockRows();
  context_.names.Leave();
  Close(row);
  return ok;
}

// '{' { statement } '}'
// A `}` is missing if the head of a function comes where a statement is due.
bool StatementParser::BlockRows() {
  TokenCursor& at = context_.at;
  at.Advance();
  while (!at.At(TokenKind::kCloseBrace) && !at.AtEnd() && !context_.recovery.unclosed() &&
         !EndsFunction()) {
    Statement();
  }
  if (context_.recovery.unclosed()) {
    return false;
  }
  if (at.Accept(TokenKind::kCloseBrace)) {
    return true;
  }
  context_.recovery.EndScopes();
  return context_.recovery.FailUnclosedBrace(function_.name, function_.open);
}

// The head of another function or block, at most as far to the right as this one.
bool StatementParser::EndsFunction() {
  const TokenCursor& at = context_.at;
  if (!at.OnNewLine() || !AtUnitDeclaration(at, context_.names)) {
    return false;
  }
  const uint32_t indent = at.IndentOf(at.pos());
  return indent == kNone || function_.indent == kNone || indent <= function_.indent;
}

// At most one error, and one row at least: a body or branch always has a row that users may
// walk.
void StatementParser::Statement() {
  const ParseErrors::Construct construct(context_.errors);
  const Level level(context_);
  CheckStop();
  const uint32_t begin = context_.at.pos();
  const auto row = static_cast<uint32_t>(context_.ast.stmts.size());
  const uint32_t scope = context_.names.current();
  const RowRange attributes = parsers_.attributes.Attributes();
  const bool ok = context_.Enter(context_.at.pos()) && StatementBody(attributes);
  if (!ok && !context_.recovery.unclosed()) {
    // Scopes that the statement opened are left as well.
    context_.recovery.Recover();
    context_.names.Enter(scope);
    if (context_.at.pos() == begin && !context_.at.At(TokenKind::kCloseBrace)) {
      context_.at.Advance();
    }
  }
  if (context_.ast.stmts.size() == row) {
    Open(StmtKind::kEmpty, attributes);  // a body has a row, whatever is wrong with it
  }
  if (context_.ast.stmts[row].next == kNone) {
    Close(row);
  }
}

// By the first token; what is left is a declaration or an expression, and names decide that.
bool StatementParser::StatementBody(const RowRange& attributes) {
  TokenCursor& at = context_.at;
  switch (at.Kind()) {
    case TokenKind::kOpenBrace:
      return Block(attributes);
    case TokenKind::kSemicolon:
      return Jump(StmtKind::kEmpty, attributes);
    case TokenKind::kBreak:
      return Jump(StmtKind::kBreak, attributes);
    case TokenKind::kContinue:
      return Jump(StmtKind::kContinue, attributes);
    case TokenKind::kDiscard:
      return Jump(StmtKind::kDiscard, attributes);
    case TokenKind::kReturn:
      return Return(attributes);
    case TokenKind::kIf:
      return If(attributes);
    case TokenKind::kSwitch:
      return Switch(attributes);
    case TokenKind::kFor:
      return For(attributes);
    case TokenKind::kWhile:
      return While(attributes);
    case TokenKind::kDo:
      return Do(attributes);
    case TokenKind::kCase:
    case TokenKind::kDefault:
      return Label(attributes);
    case TokenKind::kTypedef:
    case TokenKind::kUsing:
    case TokenKind::kEnum:
      return Declaration(attributes);
    // An `else` without an `if` in front.
    case TokenKind::kElse:
      return context_.errors.FailHere("a statement");
    default:  // a declaration or an expression
      return AtVariables(at, context_.names) || parsers_.declarations.AtRefused()
                 ? Declaration(attributes)
                 : Expression(attributes);
  }
}

// A declaration in a function has a row among the statements, and rows of its own.
bool StatementParser::Declaration(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kDecl, attributes);
  const auto first = static_cast<uint32_t>(context_.ast.decls.size());
  bool ok = true;
  if (context_.at.At(TokenKind::kEnum)) {
    ok = parsers_.records.Enum(attributes) && context_.errors.ExpectSemicolon({"enum"});
  } else if (context_.at.At(TokenKind::kTypedef) || context_.at.At(TokenKind::kUsing)) {
    ok = parsers_.variables.Alias(attributes) && context_.errors.ExpectSemicolon({"alias"});
  } else {
    ok = parsers_.declarations.Typed(attributes, DeclarationParser::Where::kLocal);
  }
  SetDeclarations(row, first);
  Close(row);
  return ok;
}

// Marks them as local: where they stand decides what `static` and `const` mean.
void StatementParser::SetDeclarations(uint32_t row, uint32_t first) {
  const auto end = static_cast<uint32_t>(context_.ast.decls.size());
  context_.ast.stmts[row].decl = first;
  context_.ast.stmts[row].decl_end = end;
  for (uint32_t decl = first; decl < end; decl = context_.ast.decls[decl].next) {
    context_.ast.decls[decl].flags |= Decl::kLocal;
  }
}

// An expression and its semicolon.
bool StatementParser::Expression(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kExpression, attributes);
  ExprRange value;
  const bool ok = parsers_.expressions.Expression(&value, ExprEnd::kNone) &&
                  context_.errors.ExpectSemicolon({"expression"});
  context_.ast.stmts[row].value = value;
  Close(row);
  return ok;
}

// A word and ';', or the ';' alone.
bool StatementParser::Jump(StmtKind kind, const RowRange& attributes) {
  const uint32_t row = Open(kind, attributes);
  const uint32_t word = context_.at.Advance();
  const bool ok = kind == StmtKind::kEmpty || context_.errors.ExpectSemicolon({"statement", word});
  Close(row);
  return ok;
}

// Before a `}` the value is missing as well as the semicolon; only that is reported.
bool StatementParser::Return(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kReturn, attributes);
  context_.at.Advance();
  ExprRange value;
  const bool ends = context_.at.At(TokenKind::kSemicolon) || context_.at.At(TokenKind::kCloseBrace);
  const bool ok = (ends || parsers_.expressions.Expression(&value, ExprEnd::kNone)) &&
                  context_.errors.ExpectSemicolon({"'return'"});
  context_.ast.stmts[row].value = value;
  Close(row);
  return ok;
}

// '(' expr ')'; goes on behind the ')' after an error in it.
bool StatementParser::Condition(uint32_t row, const ConstructName& what) {
  const uint32_t open = context_.at.pos();
  if (!context_.errors.Expect(TokenKind::kOpenParen, what)) {
    return false;
  }
  ExprRange condition;
  const bool ok = parsers_.expressions.Expression(&condition, ExprEnd::kNone) &&
                  context_.errors.ExpectClose(TokenKind::kCloseParen, what, open);
  context_.ast.stmts[row].condition = condition;
  return ok || context_.recovery.RecoverBehind(open);
}

// The rows of a ladder nest, each in the one before, and end all together.
bool StatementParser::If(const RowRange& attributes) {
  TokenCursor& at = context_.at;
  std::vector<uint32_t> ladder;
  RowRange before = attributes;
  bool ok = true;
  while (true) {
    const uint32_t row = Open(StmtKind::kIf, before);
    ladder.push_back(row);
    at.Advance();
    ok = Condition(row, {"'if'"});
    if (!ok) {
      break;
    }
    Statement();
    if (!at.At(TokenKind::kElse) || context_.recovery.unclosed()) {
      break;
    }
    at.Advance();
    context_.ast.stmts[row].flags |= Stmt::kHasElse;
    before = parsers_.attributes.Attributes();
    if (!at.At(TokenKind::kIf)) {
      Statement();
      break;
    }
  }
  for (const uint32_t row : ladder) {
    Close(row);
  }
  return ok;
}

// A switch has a block; labels are statements in it, so that they may stand anywhere, and where
// they may is checked later.
bool StatementParser::Switch(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kSwitch, attributes);
  context_.at.Advance();
  bool ok = Condition(row, {"'switch'"});
  if (ok && !context_.at.At(TokenKind::kOpenBrace)) {
    ok = context_.errors.FailHere("'{' after head of 'switch'");
  }
  ok = ok && Block({});
  Close(row);
  return ok;
}

// spec/hlsl 3.2: the variable of the head is visible in the loop in 2021, also behind it in
// 2018.
bool StatementParser::For(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kFor, attributes);
  context_.at.Advance();
  const bool scoped = context_.errors.version() == Version::k2021;
  if (scoped) {
    context_.names.Enter(NameScopes::Names::kForgotten);
  }
  const bool ok = ForHead(row);
  if (ok) {
    Statement();
  }
  if (scoped) {
    context_.names.Leave();
  }
  Close(row);
  return ok;
}

// '(' ( variables | [ expr ] ) ';' [ expr ] ';' [ expr ] ')'
// Three parts, each of which may be missing. A semicolon in the head ends no statement, also
// for recovery.
bool StatementParser::ForHead(uint32_t row) {
  TokenCursor& at = context_.at;
  const uint32_t open = at.pos();
  if (!context_.errors.Expect(TokenKind::kOpenParen, {"'for'"})) {
    return false;
  }
  ExprRange condition;
  ExprRange step;
  const bool ok =
      ForInit() &&
      (at.At(TokenKind::kSemicolon) ||
       parsers_.expressions.Expression(&condition, ExprEnd::kNone)) &&
      context_.errors.Expect(TokenKind::kSemicolon, {"condition of 'for'"}) &&
      (at.At(TokenKind::kCloseParen) || parsers_.expressions.Expression(&step, ExprEnd::kNone)) &&
      context_.errors.ExpectClose(TokenKind::kCloseParen, {"head of 'for'"}, open);
  context_.ast.stmts[row].condition = condition;
  context_.ast.stmts[row].value = step;
  return ok || context_.recovery.RecoverBehind(open, Recovery::Semicolons::kInside);
}

// The first part, with its ';'.
// A row even if it is empty, so the loop has its first child always.
bool StatementParser::ForInit() {
  TokenCursor& at = context_.at;
  bool ok = true;
  if (AtVariables(at, context_.names)) {
    const uint32_t row = Open(StmtKind::kDecl, {});
    const auto first = static_cast<uint32_t>(context_.ast.decls.size());
    ok = parsers_.declarations.LoopVariables();
    SetDeclarations(row, first);
    Close(row);
  } else {
    const bool empty = at.At(TokenKind::kSemicolon);
    const uint32_t row = Open(empty ? StmtKind::kEmpty : StmtKind::kExpression, {});
    ExprRange value;
    ok = empty || parsers_.expressions.Expression(&value, ExprEnd::kNone);
    context_.ast.stmts[row].value = value;
    Close(row);
  }
  return ok && context_.errors.Expect(TokenKind::kSemicolon, {"first part of 'for'"});
}

bool StatementParser::While(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kWhile, attributes);
  context_.at.Advance();
  const bool ok = Condition(row, {"'while'"});
  if (ok) {
    Statement();
  }
  Close(row);
  return ok;
}

// The condition is read behind the body, and its row is that of the loop.
bool StatementParser::Do(const RowRange& attributes) {
  const uint32_t row = Open(StmtKind::kDo, attributes);
  context_.at.Advance();
  Statement();
  const bool ok = !context_.recovery.unclosed() &&
                  context_.errors.Expect(TokenKind::kWhile, {"body of 'do'"}) &&
                  Condition(row, {"'while'"}) && context_.errors.ExpectSemicolon({"'do'"});
  Close(row);
  return ok;
}

// 'case' cond ':' | 'default' ':'
bool StatementParser::Label(const RowRange& attributes) {
  TokenCursor& at = context_.at;
  const bool is_case = at.At(TokenKind::kCase);
  const uint32_t row = Open(is_case ? StmtKind::kCase : StmtKind::kDefault, attributes);
  at.Advance();
  ExprRange value;
  bool ok = !is_case || parsers_.expressions.Expression(&value, ExprEnd::kComma);
  ok = ok && context_.errors.Expect(TokenKind::kColon, {is_case ? "label" : "'default'"});
  context_.ast.stmts[row].value = value;
  Close(row);
  return ok;
}

}  // namespace kiln::hlsl::syntax
