// SPDX-License-Identifier: MIT
// Statements are rows in pre-order: a row is added when its statement begins and gets its end when
// it is known, so a rule that fails midway leaves one without, which Statement mends. Scopes
// recurse, at most limits.nesting deep. A '{' or '(' that is missing is reported and taken as read;
// a '}' that is missing ends the scopes up to the function. See spec/rpl 2.2, 14 (grammar)
#include "compiler/front/rpl/parser/parse_stmt.h"

#include <string>

#include "compiler/front/rpl/parser/lookahead.h"

namespace kiln::rpl {

// The end of a row is not known yet: `next` is kNone until EndStmt.
uint32_t StatementParser::BeginStmt(StmtKind kind, uint32_t token) {
  const auto row = static_cast<uint32_t>(ast_.stmts.size());
  ast_.stmts.push_back({.kind = kind, .token = token, .span = at_.SpanOf(token)});
  return row;
}

// The next row is known when everything that belongs to the statement was added: that is what makes
// skipping a statement one step.
void StatementParser::EndStmt(uint32_t row) {
  ast_.stmts[row].next = static_cast<uint32_t>(ast_.stmts.size());
  ast_.stmts[row].span.end = at_.SpanOf(at_.Previous()).end;
}

// '{' { statement } '}'. `begin` is the token the statement starts with.
bool StatementParser::Scope(const ExprRange& condition, uint32_t begin, ScopeRole role) {
  const uint32_t open = at_.pos();
  const uint32_t row = BeginStmt(StmtKind::kScope, begin);
  ast_.stmts[row].condition = condition;
  // Deeper than allowed: reported once, and skipped as a whole, so that the braces stay balanced.
  if (scope_nesting_ == limits_.nesting) {
    errors_.Report(Code::kRpl1009, at_.SpanOf(open), {{"text", "{"}, {"limit", limits_.nesting}});
    recovery_.SkipBraces();
    EndStmt(row);
    return true;
  }
  ++scope_nesting_;
  after_if_ = false;
  at_.Accept(TokenKind::kOpenBrace);  // if it is missing, that is reported
  while (at_.Kind() != TokenKind::kCloseBrace && at_.Kind() != TokenKind::kEnd &&
         !EndsUnclosed(role)) {
    Statement();
  }
  --scope_nesting_;
  if (recovery_.unclosed()) {
    EndStmt(row);
    return false;
  }
  if (at_.Kind() == TokenKind::kEnd) {
    EndStmt(row);
    return recovery_.FailUnclosedScope();
  }
  at_.Accept(TokenKind::kCloseBrace);
  EndStmt(row);
  return true;
}

// Sources indent what stands in a function: a declaration at the start of a line ends all scopes.
// An 'else' ends the scope of the 'if' it belongs to.
bool StatementParser::EndsUnclosed(ScopeRole role) {
  // An `else` where a statement of the `if` could stand: only if no `if` or `else` precedes it
  // directly can it belong to the one around.
  if (role == ScopeRole::kThen && at_.KeywordAt() == Keyword::kElse && !after_if_ &&
      (at_.Kind(1) == TokenKind::kOpenBrace || at_.KeywordAt(1) == Keyword::kIf)) {
    const ParseErrors::Construct construct(errors_);
    errors_.FailUnclosed({"scope of 'if'"});
    return true;
  }
  const Keyword word = at_.KeywordAt();
  // In a function these two words are types of variables if a ';' or '=' follows as for one.
  const bool variable = word == Keyword::kConstant || word == Keyword::kSetting;  // by its type
  if (!recovery_.unclosed() && at_.AtLineStart() && !variable &&
      (AtDeclaration(at_) || AtConditionalDeclaration(at_))) {
    const ParseErrors::Construct construct(errors_);
    recovery_.FailUnclosedScope();
    recovery_.EndScopes();
  }
  return recovery_.unclosed();
}

// One statement is one construct of errors: a broken one costs one message.
void StatementParser::Statement() {
  const ParseErrors::Construct construct(errors_);
  const uint32_t begin = at_.pos();
  const size_t rows = ast_.stmts.size();
  after_if_ = at_.KeywordAt() == Keyword::kIf || at_.KeywordAt() == Keyword::kElse;
  const bool is_if = after_if_;
  if (!StatementBody() && !recovery_.unclosed()) {
    recovery_.Recover();
  }
  after_if_ = is_if;  // whatever stood in it
  // As with declarations: each round takes a token, so that parsing ends.
  if (at_.pos() == begin && !recovery_.unclosed()) {
    at_.Advance();
  }
  // A rule that failed midway leaves a row without an end.
  if (ast_.stmts.size() > rows && ast_.stmts[rows].next == kNone) {
    EndStmt(static_cast<uint32_t>(rows));
  }
}

// Words are keywords only in the shape that a statement has with them (spec/rpl 1.2); in any other
// shape they are names, and the statement is a variable or an expression.
bool StatementParser::StatementBody() {
  if (at_.Kind() == TokenKind::kOpenBrace) {
    return Scope({}, at_.pos());
  }
  if (at_.Kind() == TokenKind::kSemicolon) {
    if (Diagnostic* made = errors_.Report(Code::kRpl1163, at_.Peek().span(), {})) {
      errors_.Propose(*made, at_.Peek().span(), "");
    }
    at_.Advance();
    return true;
  }
  const TokenKind next = at_.Kind(1);
  const bool paren = next == TokenKind::kOpenParen;
  switch (at_.KeywordAt()) {
    case Keyword::kConditional:
      if (paren) {
        return ConditionalStatement();
      }
      break;
    case Keyword::kAlias:
      if (paren) {
        return AliasStatement({}, at_.pos());
      }
      break;
    case Keyword::kIf:
      if (paren) {
        return If();
      }
      break;
    case Keyword::kFor:
      if (paren) {
        return For();
      }
      break;
    case Keyword::kWhile:
      if (paren) {
        return While();
      }
      break;
    case Keyword::kBreak:
      if (next == TokenKind::kSemicolon) {
        return Jump(StmtKind::kBreak);
      }
      break;
    case Keyword::kContinue:
      if (next == TokenKind::kSemicolon) {
        return Jump(StmtKind::kContinue);
      }
      break;
    case Keyword::kReturn:
      return Return();
    // An `else` without `if`: reported, and what follows is read as if it stood alone.
    case Keyword::kElse:
      if (next == TokenKind::kOpenBrace || at_.KeywordAt(1) == Keyword::kIf) {
        errors_.Report(Code::kRpl1164, at_.Peek().span(), {});
        at_.Advance();
        return at_.Kind() == TokenKind::kOpenBrace ? Scope({}, at_.pos()) : If();
      }
      break;
    default:  // a plain name
      break;
  }
  if (AtHeaderWithoutParen(at_)) {
    return HeaderWithoutParen();
  }
  if (at_.Kind() == TokenKind::kIdentifier && next == TokenKind::kOpenBrace &&
      at_.Kind(2) != TokenKind::kCloseBrace && BracesHoldStatements(at_.Behind(1))) {
    return ScopeBehindWord();
  }
  return AtTypedName(at_) ? VariableStatement() : ExpressionStatement();
}

// `loop {` and `do {` of other languages: a scope, no constructor.
bool StatementParser::ScopeBehindWord() {
  const bool loop = at_.TextAt(at_.Peek().span()) == "do";
  at_.Advance();
  errors_.FailHere(Code::kRpl1110, {{"what", "expression"}});
  if (!Scope({}, at_.pos())) {
    return false;
  }
  if (loop && at_.AtPrefix(Keyword::kWhile)) {
    SkipEndOfDo();
  }
  return true;
}

// 'while' '(' … ')' ';' — unless it is a loop of its own.
void StatementParser::SkipEndOfDo() {
  // A condition is short; what is longer is left to the usual rules.
  constexpr uint32_t kLongest = 256;
  uint32_t depth = 0;
  for (uint32_t ahead = 1; ahead < kLongest && at_.Kind(ahead) != TokenKind::kEnd; ++ahead) {
    if (at_.Kind(ahead) == TokenKind::kOpenParen) {
      ++depth;
    } else if (at_.Kind(ahead) == TokenKind::kCloseParen && --depth == 0) {
      at_.Skip(at_.Kind(ahead + 1) == TokenKind::kSemicolon ? ahead + 2 : 0);
      return;
    }
  }
}

// `if` and `while` without '(' (AtHeaderWithoutParen): reported, and the body is read.
bool StatementParser::HeaderWithoutParen() {
  const std::string what = "'" + std::string(at_.TextAt(at_.SpanOf(at_.pos()))) + "'";
  const bool is_if = at_.KeywordAt() == Keyword::kIf;
  at_.Advance();
  errors_.Expect(TokenKind::kOpenParen, {what});
  // The header without '(' cannot be parsed; its tokens are skipped up to the braces that hold
  // statements.
  while (at_.Kind() != TokenKind::kEnd && at_.Kind() != TokenKind::kCloseBrace &&
         !(at_.Kind() == TokenKind::kOpenBrace && BracesHoldStatements(at_))) {
    at_.Advance();
  }
  if (at_.Kind() != TokenKind::kOpenBrace) {
    return at_.Kind() != TokenKind::kEnd;
  }
  return Scope({}, at_.pos(), is_if ? ScopeRole::kThen : ScopeRole::kPlain) &&
         (!is_if || at_.KeywordAt() != Keyword::kElse || Else());
}

// 'conditional' '(' expr ')' before a scope or an alias. A second one is read and has no
// effect.
bool StatementParser::ConditionalStatement() {
  const uint32_t begin = at_.pos();
  ExprRange condition;
  if (!expressions_.Conditional(&condition)) {
    return false;
  }
  uint32_t second = kNone;
  while (at_.AtPrefix(Keyword::kConditional)) {
    second = second == kNone ? at_.pos() : second;
    ExprRange ignored;
    if (!expressions_.Conditional(&ignored)) {
      return false;
    }
  }
  const bool alias = at_.AtPrefix(Keyword::kAlias);
  if (second != kNone) {
    errors_.Report(Code::kRpl1102, at_.SpanOf(second),
                   {{"prefix", "conditional"}, {"what", alias ? "an alias" : "a scope"}});
  }
  if (alias) {
    return AliasStatement(condition, begin);
  }
  if (at_.Kind() == TokenKind::kOpenBrace) {
    return Scope(condition, begin);
  }
  if (at_.Kind() == TokenKind::kCloseBrace) {
    return errors_.Fail(Code::kRpl1103, at_.SpanOf(begin), {{"what", "'}'"}});
  }
  // Only a scope or an alias can be conditional. The statement is read all the same.
  errors_.FailHere(Code::kRpl1105);
  return at_.Kind() != TokenKind::kEnd && StatementBody();
}

// The row is added last, so that a broken alias leaves none.
bool StatementParser::AliasStatement(const ExprRange& condition, uint32_t begin) {
  Stmt alias{.kind = StmtKind::kAlias, .span = at_.SpanOf(begin), .condition = condition};
  if (!fields_.AliasBody(&alias.token, &alias.value)) {
    return false;
  }
  errors_.CheckDeclaredName(alias.token);
  errors_.CountLocal(alias.token);
  ast_.stmts.push_back(alias);
  EndStmt(static_cast<uint32_t>(ast_.stmts.size() - 1));
  return true;
}

// '(' expr ')'; goes on behind the ')' after an error in it
bool StatementParser::HeaderCondition(uint32_t row, const ConstructName& what) {
  const uint32_t open = at_.Advance();
  ExprRange condition;
  if (!expressions_.Expression(&condition) ||
      !errors_.CloseExpression(TokenKind::kCloseParen, what, open)) {
    return recovery_.RecoverBehind(open, Recovery::Semicolons::kEnd) ||
           at_.Kind() == TokenKind::kOpenBrace;
  }
  ast_.stmts[row].condition = condition;
  return true;
}

// A body without '{' is an error of its own. What was meant is read by the indent, as people
// wrote it.
bool StatementParser::BodyScope(const ConstructName& what, ScopeRole role) {
  if (at_.Kind() == TokenKind::kOpenBrace) {
    return Scope({}, at_.pos(), role);
  }
  // How far the header is indented decides which statements were meant as its body.
  const uint32_t indent = at_.IndentOf(at_.Previous());
  errors_.Expect(TokenKind::kOpenBrace, what);
  if (at_.Kind() == TokenKind::kEnd || at_.Kind() == TokenKind::kCloseBrace) {
    return false;
  }
  if (!at_.Accept(TokenKind::kSemicolon)) {
    BodyWithoutBrace(indent);
  }
  return true;
}

// What was meant as the body: a statement, those behind it that are indented more than the header,
// and the '}' of the brace that is missing, if it is not that of the scope around.
void StatementParser::BodyWithoutBrace(uint32_t header) {
  const auto indented = [&] {
    const uint32_t indent = at_.OnNewLine() ? at_.IndentOf(at_.pos()) : kNone;
    return header != kNone && indent != kNone && indent > header;
  };
  do {
    Statement();
  } while (!recovery_.unclosed() && at_.Kind() != TokenKind::kEnd &&
           at_.Kind() != TokenKind::kCloseBrace && indented());
  const uint32_t around = recovery_.BraceAround();
  if (at_.Kind() != TokenKind::kCloseBrace || around == kNone || recovery_.unclosed()) {
    return;
  }
  // The '}' that follows may close the brace that is missing here, or the one around. It is this
  // one's if it stands under the header, or, on one line, if the brace around was opened on another
  // line.
  const Span between{at_.SpanOf(around).end, at_.Peek().begin};
  const uint32_t outer = at_.IndentOf(around);
  const bool own = at_.OnNewLine() ? header != kNone && outer != kNone && header > outer &&
                                         at_.IndentOf(at_.pos()) == header
                                   : at_.TextAt(between).find('\n') != std::string_view::npos;
  if (own) {
    at_.Advance();
  }
}

// The row of an `if` holds its scope and, behind it, that of `else` or another `if`.
bool StatementParser::If() {
  const uint32_t row = BeginStmt(StmtKind::kIf, at_.Advance());
  if (!HeaderCondition(row, {"condition of 'if'"}) ||
      !BodyScope({"condition of 'if'"}, ScopeRole::kThen)) {
    return false;
  }
  const bool ok = at_.KeywordAt() != Keyword::kElse || Else();
  EndStmt(row);
  return ok;
}

// 'else' ( scope | if_statement ). A chain nests like scopes, for that is what it is.
bool StatementParser::Else() {
  const uint32_t token = at_.Advance();
  if (!at_.AtPrefix(Keyword::kIf)) {
    return BodyScope({"'else'"});
  }
  if (scope_nesting_ == limits_.nesting) {
    return errors_.Fail(Code::kRpl1009, at_.SpanOf(token),
                        {{"text", at_.TextOfToken(token)}, {"limit", limits_.nesting}});
  }
  ++scope_nesting_;
  const bool ok = If();
  --scope_nesting_;
  return ok;
}

// The variable of the header is the first row within the loop, so its scope is the loop.
bool StatementParser::For() {
  const uint32_t row = BeginStmt(StmtKind::kFor, at_.Advance());
  const uint32_t open = at_.pos();
  if (!ForHeader(row) && !recovery_.RecoverBehind(open, Recovery::Semicolons::kInside)) {
    return false;
  }
  const bool ok = BodyScope({"header of 'for'"});
  EndStmt(row);
  return ok;
}

// '(' variable ';' expr ';' expr ')'
bool StatementParser::ForHeader(uint32_t row) {
  const uint32_t open = at_.Advance();
  if (!AtTypedName(at_)) {
    return errors_.FailHere(Code::kRpl1160);
  }
  const auto variable = static_cast<uint32_t>(ast_.stmts.size());
  if (!Variable()) {
    return false;
  }
  // A loop without a first value is understood, so it is reported and read on.
  if (ast_.stmts[variable].value.empty()) {
    const uint32_t name = ast_.stmts[variable].token;
    errors_.Report(Code::kRpl1161, at_.SpanOf(name), {{"name", at_.TextOfToken(name)}});
  }
  // Two parts instead of three is what other languages allow; it has a message of its own, wherever
  // the list breaks off.
  if (at_.Kind() == TokenKind::kCloseParen) {
    return errors_.FailHere(Code::kRpl1162);
  }
  if (!errors_.EndExpression({"variable", ast_.stmts[variable].token})) {
    return false;
  }
  if (at_.Kind() == TokenKind::kSemicolon || at_.Kind() == TokenKind::kCloseParen) {
    return errors_.FailHere(Code::kRpl1162);
  }
  ExprRange condition;
  if (!expressions_.Expression(&condition)) {
    return false;
  }
  if (at_.Kind() == TokenKind::kCloseParen) {
    return errors_.FailHere(Code::kRpl1162);
  }
  if (!errors_.EndExpression({"condition of 'for'"})) {
    return false;
  }
  if (at_.Kind() == TokenKind::kCloseParen) {
    return errors_.FailHere(Code::kRpl1162);
  }
  ExprRange step;
  if (!expressions_.Expression(&step) ||
      !errors_.CloseExpression(TokenKind::kCloseParen, {"header of 'for'"}, open)) {
    return false;
  }
  ast_.stmts[row].condition = condition;
  ast_.stmts[row].value = step;
  return true;
}

// As `for`, without the variable and the step.
bool StatementParser::While() {
  const uint32_t row = BeginStmt(StmtKind::kWhile, at_.Advance());
  if (!HeaderCondition(row, {"condition of 'while'"}) || !BodyScope({"condition of 'while'"})) {
    return false;
  }
  EndStmt(row);
  return true;
}

// The caller has seen the ';'.
bool StatementParser::Jump(StmtKind kind) {
  const uint32_t row = BeginStmt(kind, at_.Advance());
  at_.Advance();  // ';'
  EndStmt(row);
  return true;
}

// Without a value in functions of type void; which one a function needs is checked later.
bool StatementParser::Return() {
  const uint32_t row = BeginStmt(StmtKind::kReturn, at_.Advance());
  ExprRange value;
  if (at_.Kind() != TokenKind::kSemicolon && !expressions_.Expression(&value)) {
    return false;
  }
  ast_.stmts[row].value = value;
  const bool ok = errors_.EndExpression({"'return'"});
  EndStmt(row);
  return ok;
}

// The note is for those who write sizes behind the name, as C has them.
bool StatementParser::VariableStatement() {
  const auto row = static_cast<uint32_t>(ast_.stmts.size());
  if (!Variable()) {
    return false;
  }
  const ConstructName what{"variable", ast_.stmts[row].token};
  const bool size = at_.Kind() == TokenKind::kOpenBracket;
  const bool ok =
      ast_.stmts[row].value.empty() ? errors_.ExpectSemicolon(what) : errors_.EndExpression(what);
  EndStmt(row);
  if (!ok && size && !errors_.found().empty() && errors_.found().back().code == Code::kRpl1110) {
    std::move(errors_.found().back())
        .Note(NoteKind::kAdvice, {{"advice", "sizes stand behind the type: 'f1[4] name;'"}});
  }
  return ok;
}

// ID [ dims ] ID [ '=' expr ]
bool StatementParser::Variable() {
  const uint32_t row = BeginStmt(StmtKind::kVariable, at_.pos());
  if (at_.KeywordAt() == Keyword::kRelaxed && at_.Kind(1) == TokenKind::kIdentifier &&
      (IsName(at_.Kind(2)) || at_.Kind(2) == TokenKind::kOpenBracket)) {
    errors_.NeedVersion2(at_.pos());
    ast_.stmts[row].relaxed = true;
    at_.Advance();
  }
  Field field;
  FieldForm form;
  field.type.token = at_.Advance();
  uint32_t name = kNone;
  if (!fields_.FieldSizes(field, &form) || !errors_.ExpectName(&name)) {
    return false;
  }
  ast_.stmts[row].token = name;
  ast_.stmts[row].type = field.type;
  if (form.ellipsis != kNone) {
    errors_.Report(Code::kRpl1132, at_.SpanOf(form.ellipsis), {{"name", at_.TextOfToken(name)}});
  }
  errors_.CheckDeclaredName(name);
  errors_.CountLocal(name);
  ExprRange value;
  if (at_.Accept(TokenKind::kAssign) && !expressions_.Expression(&value)) {
    return false;
  }
  ast_.stmts[row].value = value;
  EndStmt(row);
  return true;
}

// Any expression may be a statement. Whether it does something is a question of a later check.
bool StatementParser::ExpressionStatement() {
  // A token that only closes or separates is no expression at all, and the message says so.
  if (at_.Kind() >= TokenKind::kCloseParen && at_.Kind() <= TokenKind::kColon &&
      at_.Kind() != TokenKind::kOpenBracket && at_.Kind() != TokenKind::kOpenBrace) {
    return errors_.FailHere(Code::kRpl1175);  // not the end of an expression: there is none
  }
  const uint32_t row = BeginStmt(StmtKind::kExpression, at_.pos());
  ExprRange value;
  if (!expressions_.Expression(&value)) {
    return false;
  }
  ast_.stmts[row].value = value;
  const bool ok = errors_.EndExpression({"expression"});
  EndStmt(row);
  return ok;
}

}  // namespace kiln::rpl
