// SPDX-License-Identifier: MIT
// Statements. Scopes recurse, at most limits.nesting deep. See spec/rpl 2.2, 14 (grammar)
#include "compiler/front/rpl/parser.h"

namespace kiln::rpl {

uint32_t Parser::BeginStmt(StmtKind kind, uint32_t token) {
  const auto row = static_cast<uint32_t>(ast_.stmts.size());
  ast_.stmts.push_back({.kind = kind, .token = token, .span = SpanOf(token)});
  return row;
}

void Parser::EndStmt(uint32_t row) {
  ast_.stmts[row].next = static_cast<uint32_t>(ast_.stmts.size());
  ast_.stmts[row].span.end = SpanOf(Previous()).end;
}

// '{' { statement } '}'. `begin` is the token the statement starts with.
bool Parser::Scope(const ExprRange& condition, uint32_t begin, ScopeRole role) {
  const uint32_t open = pos_;
  const uint32_t row = BeginStmt(StmtKind::kScope, begin);
  ast_.stmts[row].condition = condition;
  if (scope_nesting_ == max_nesting_) {
    Report(Code::kRpl1009, SpanOf(open), {{"text", "{"}, {"limit", max_nesting_}});
    SkipBraces();
    EndStmt(row);
    return true;
  }
  ++scope_nesting_;
  after_if_ = false;
  Accept(TokenKind::kOpenBrace);  // if it is missing, that is reported
  while (Kind() != TokenKind::kCloseBrace && Kind() != TokenKind::kEnd && !EndsUnclosed(role)) {
    Statement();
  }
  --scope_nesting_;
  if (unclosed_) {
    EndStmt(row);
    return false;
  }
  if (Kind() == TokenKind::kEnd) {
    EndStmt(row);
    return FailUnclosedScope();
  }
  Accept(TokenKind::kCloseBrace);
  EndStmt(row);
  return true;
}

// Sources indent what stands in a function: a declaration at the start of a line ends all scopes.
// An 'else' ends the scope of the 'if' it belongs to.
bool Parser::EndsUnclosed(ScopeRole role) {
  if (role == ScopeRole::kThen && KeywordAt() == Keyword::kElse && !after_if_ &&
      (Kind(1) == TokenKind::kOpenBrace || KeywordAt(1) == Keyword::kIf)) {
    const Construct construct(*this);
    FailUnclosed({"scope of 'if'"});
    return true;
  }
  const Keyword word = KeywordAt();
  const bool variable = word == Keyword::kConstant || word == Keyword::kSetting;  // by its type
  if (!unclosed_ && AtLineStart() && !variable && (AtDeclaration() || AtConditionalDeclaration())) {
    const Construct construct(*this);
    FailUnclosedScope();
    unclosed_ = true;
  }
  return unclosed_;
}

void Parser::Statement() {
  const Construct construct(*this);
  const uint32_t begin = pos_;
  const size_t rows = ast_.stmts.size();
  after_if_ = KeywordAt() == Keyword::kIf || KeywordAt() == Keyword::kElse;
  const bool is_if = after_if_;
  if (!StatementBody() && !unclosed_) {
    Recover();
  }
  after_if_ = is_if;  // whatever stood in it
  if (pos_ == begin && !unclosed_) {
    Advance();
  }
  // A rule that failed midway leaves a row without an end.
  if (ast_.stmts.size() > rows && ast_.stmts[rows].next == kNone) {
    EndStmt(static_cast<uint32_t>(rows));
  }
}

bool Parser::StatementBody() {
  if (Kind() == TokenKind::kOpenBrace) {
    return Scope({}, pos_);
  }
  if (Kind() == TokenKind::kSemicolon) {
    if (Diagnostic* made = Report(Code::kRpl1163, Peek().span(), {})) {
      Propose(*made, Peek().span(), "");
    }
    Advance();
    return true;
  }
  const TokenKind next = Kind(1);
  const bool paren = next == TokenKind::kOpenParen;
  switch (KeywordAt()) {
    case Keyword::kConditional:
      if (paren) {
        return ConditionalStatement();
      }
      break;
    case Keyword::kAlias:
      if (paren) {
        return AliasStatement({}, pos_);
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
    case Keyword::kElse:
      if (next == TokenKind::kOpenBrace || KeywordAt(1) == Keyword::kIf) {
        Report(Code::kRpl1164, Peek().span(), {});
        Advance();
        return Kind() == TokenKind::kOpenBrace ? Scope({}, pos_) : If();
      }
      break;
    default:  // a plain name
      break;
  }
  if (AtHeaderWithoutParen()) {
    return HeaderWithoutParen();
  }
  if (Kind() == TokenKind::kIdentifier && next == TokenKind::kOpenBrace &&
      Kind(2) != TokenKind::kCloseBrace && Behind(1, &Parser::BracesHoldStatements)) {
    return ScopeBehindWord();
  }
  return AtTypedName() ? VariableStatement() : ExpressionStatement();
}

// `loop {` and `do {` of other languages: a scope, no constructor.
bool Parser::ScopeBehindWord() {
  const bool loop = TextAt(Peek().span()) == "do";
  Advance();
  FailHere(Code::kRpl1110, {{"what", "expression"}});
  if (!Scope({}, pos_)) {
    return false;
  }
  if (loop && AtPrefix(Keyword::kWhile)) {
    SkipEndOfDo();
  }
  return true;
}

// 'while' '(' … ')' ';' — unless it is a loop of its own.
void Parser::SkipEndOfDo() {
  constexpr uint32_t kLongest = 256;
  uint32_t depth = 0;
  for (uint32_t ahead = 1; ahead < kLongest && Kind(ahead) != TokenKind::kEnd; ++ahead) {
    if (Kind(ahead) == TokenKind::kOpenParen) {
      ++depth;
    } else if (Kind(ahead) == TokenKind::kCloseParen && --depth == 0) {
      pos_ += Kind(ahead + 1) == TokenKind::kSemicolon ? ahead + 2 : 0;
      return;
    }
  }
}

// `if x > 1.0 {`: no variable, whose name a '=' or ';' follows
bool Parser::AtHeaderWithoutParen() const {
  const Keyword word = KeywordAt();
  return (word == Keyword::kIf || word == Keyword::kWhile || word == Keyword::kFor) &&
         Kind(1) == TokenKind::kIdentifier && Kind(2) != TokenKind::kAssign &&
         Kind(2) != TokenKind::kSemicolon;
}

bool Parser::HeaderWithoutParen() {
  const std::string what = "'" + std::string(TextAt(SpanOf(pos_))) + "'";
  const bool is_if = KeywordAt() == Keyword::kIf;
  Advance();
  Expect(TokenKind::kOpenParen, {what});
  while (Kind() != TokenKind::kEnd && Kind() != TokenKind::kCloseBrace &&
         !(Kind() == TokenKind::kOpenBrace && BracesHoldStatements())) {
    Advance();
  }
  if (Kind() != TokenKind::kOpenBrace) {
    return Kind() != TokenKind::kEnd;
  }
  return Scope({}, pos_, is_if ? ScopeRole::kThen : ScopeRole::kPlain) &&
         (!is_if || KeywordAt() != Keyword::kElse || Else());
}

bool Parser::ConditionalStatement() {
  const uint32_t begin = pos_;
  ExprRange condition;
  if (!Conditional(&condition)) {
    return false;
  }
  uint32_t second = kNone;
  while (AtPrefix(Keyword::kConditional)) {
    second = second == kNone ? pos_ : second;
    ExprRange ignored;
    if (!Conditional(&ignored)) {
      return false;
    }
  }
  const bool alias = AtPrefix(Keyword::kAlias);
  if (second != kNone) {
    Report(Code::kRpl1102, SpanOf(second),
           {{"prefix", "conditional"}, {"what", alias ? "an alias" : "a scope"}});
  }
  if (alias) {
    return AliasStatement(condition, begin);
  }
  if (Kind() == TokenKind::kOpenBrace) {
    return Scope(condition, begin);
  }
  if (Kind() == TokenKind::kCloseBrace) {
    return Fail(Code::kRpl1103, SpanOf(begin), {{"what", "'}'"}});
  }
  FailHere(Code::kRpl1105);
  return Kind() != TokenKind::kEnd && StatementBody();
}

bool Parser::AliasStatement(const ExprRange& condition, uint32_t begin) {
  Stmt alias{.kind = StmtKind::kAlias, .span = SpanOf(begin), .condition = condition};
  if (!AliasBody(&alias.token, &alias.value)) {
    return false;
  }
  CheckDeclaredName(alias.token);
  CountLocal(alias.token);
  ast_.stmts.push_back(alias);
  EndStmt(static_cast<uint32_t>(ast_.stmts.size() - 1));
  return true;
}

// '(' expr ')'; goes on behind the ')' after an error in it
bool Parser::HeaderCondition(uint32_t row, const ConstructName& what) {
  const uint32_t open = Advance();
  ExprRange condition;
  if (!Expression(&condition) || !CloseExpression(TokenKind::kCloseParen, what, open)) {
    return RecoverBehind(open, Semicolons::kEnd) || Kind() == TokenKind::kOpenBrace;
  }
  ast_.stmts[row].condition = condition;
  return true;
}

bool Parser::BodyScope(const ConstructName& what, ScopeRole role) {
  if (Kind() == TokenKind::kOpenBrace) {
    return Scope({}, pos_, role);
  }
  const uint32_t indent = IndentOf(Previous());
  Expect(TokenKind::kOpenBrace, what);
  if (Kind() == TokenKind::kEnd || Kind() == TokenKind::kCloseBrace) {
    return false;
  }
  if (!Accept(TokenKind::kSemicolon)) {
    BodyWithoutBrace(indent);
  }
  return true;
}

// What was meant as the body: a statement, those behind it that are indented more than the header,
// and the '}' of the brace that is missing, if it is not that of the scope around.
void Parser::BodyWithoutBrace(uint32_t header) {
  const auto indented = [&] {
    const uint32_t indent = OnNewLine() ? IndentOf(pos_) : kNone;
    return header != kNone && indent != kNone && indent > header;
  };
  do {
    Statement();
  } while (!unclosed_ && Kind() != TokenKind::kEnd && Kind() != TokenKind::kCloseBrace &&
           indented());
  const uint32_t around = BraceAround();
  if (Kind() != TokenKind::kCloseBrace || around == kNone || unclosed_) {
    return;
  }
  const Span between{SpanOf(around).end, Peek().begin};
  const uint32_t outer = IndentOf(around);
  const bool own =
      OnNewLine() ? header != kNone && outer != kNone && header > outer && IndentOf(pos_) == header
                  : TextAt(between).find('\n') != std::string_view::npos;
  if (own) {
    Advance();
  }
}

bool Parser::If() {
  const uint32_t row = BeginStmt(StmtKind::kIf, Advance());
  if (!HeaderCondition(row, {"condition of 'if'"}) ||
      !BodyScope({"condition of 'if'"}, ScopeRole::kThen)) {
    return false;
  }
  const bool ok = KeywordAt() != Keyword::kElse || Else();
  EndStmt(row);
  return ok;
}

// 'else' ( scope | if_statement ). A chain nests like scopes, for that is what it is.
bool Parser::Else() {
  const uint32_t token = Advance();
  if (!AtPrefix(Keyword::kIf)) {
    return BodyScope({"'else'"});
  }
  if (scope_nesting_ == max_nesting_) {
    return Fail(Code::kRpl1009, SpanOf(token),
                {{"text", TextOfToken(token)}, {"limit", max_nesting_}});
  }
  ++scope_nesting_;
  const bool ok = If();
  --scope_nesting_;
  return ok;
}

bool Parser::For() {
  const uint32_t row = BeginStmt(StmtKind::kFor, Advance());
  const uint32_t open = pos_;
  if (!ForHeader(row) && !RecoverBehind(open, Semicolons::kInside)) {
    return false;
  }
  const bool ok = BodyScope({"header of 'for'"});
  EndStmt(row);
  return ok;
}

// '(' variable ';' expr ';' expr ')'
bool Parser::ForHeader(uint32_t row) {
  const uint32_t open = Advance();
  if (!AtTypedName()) {
    return FailHere(Code::kRpl1160);
  }
  const auto variable = static_cast<uint32_t>(ast_.stmts.size());
  if (!Variable()) {
    return false;
  }
  if (ast_.stmts[variable].value.empty()) {
    const uint32_t name = ast_.stmts[variable].token;
    Report(Code::kRpl1161, SpanOf(name), {{"name", TextOfToken(name)}});
  }
  if (Kind() == TokenKind::kCloseParen) {
    return FailHere(Code::kRpl1162);
  }
  if (!EndExpression({"variable", ast_.stmts[variable].token})) {
    return false;
  }
  if (Kind() == TokenKind::kSemicolon || Kind() == TokenKind::kCloseParen) {
    return FailHere(Code::kRpl1162);
  }
  ExprRange condition;
  if (!Expression(&condition)) {
    return false;
  }
  if (Kind() == TokenKind::kCloseParen) {
    return FailHere(Code::kRpl1162);
  }
  if (!EndExpression({"condition of 'for'"})) {
    return false;
  }
  if (Kind() == TokenKind::kCloseParen) {
    return FailHere(Code::kRpl1162);
  }
  ExprRange step;
  if (!Expression(&step) || !CloseExpression(TokenKind::kCloseParen, {"header of 'for'"}, open)) {
    return false;
  }
  ast_.stmts[row].condition = condition;
  ast_.stmts[row].value = step;
  return true;
}

bool Parser::While() {
  const uint32_t row = BeginStmt(StmtKind::kWhile, Advance());
  if (!HeaderCondition(row, {"condition of 'while'"}) || !BodyScope({"condition of 'while'"})) {
    return false;
  }
  EndStmt(row);
  return true;
}

bool Parser::Jump(StmtKind kind) {
  const uint32_t row = BeginStmt(kind, Advance());
  Advance();  // ';'
  EndStmt(row);
  return true;
}

bool Parser::Return() {
  const uint32_t row = BeginStmt(StmtKind::kReturn, Advance());
  ExprRange value;
  if (Kind() != TokenKind::kSemicolon && !Expression(&value)) {
    return false;
  }
  ast_.stmts[row].value = value;
  const bool ok = EndExpression({"'return'"});
  EndStmt(row);
  return ok;
}

bool Parser::VariableStatement() {
  const auto row = static_cast<uint32_t>(ast_.stmts.size());
  if (!Variable()) {
    return false;
  }
  const ConstructName what{"variable", ast_.stmts[row].token};
  const bool size = Kind() == TokenKind::kOpenBracket;
  const bool ok = ast_.stmts[row].value.empty() ? ExpectSemicolon(what) : EndExpression(what);
  EndStmt(row);
  if (!ok && size && !found_.empty() && found_.back().code == Code::kRpl1110) {
    std::move(found_.back())
        .Note(NoteKind::kAdvice, {{"advice", "sizes stand behind the type: 'f1[4] name;'"}});
  }
  return ok;
}

// ID [ dims ] ID [ '=' expr ]
bool Parser::Variable() {
  const uint32_t row = BeginStmt(StmtKind::kVariable, pos_);
  if (KeywordAt() == Keyword::kRelaxed && Kind(1) == TokenKind::kIdentifier &&
      (IsName(Kind(2)) || Kind(2) == TokenKind::kOpenBracket)) {
    NeedVersion2(pos_);
    ast_.stmts[row].relaxed = true;
    Advance();
  }
  Field field;
  FieldForm form;
  field.type.token = Advance();
  uint32_t name = kNone;
  if (!FieldSizes(field, &form) || !ExpectName(&name)) {
    return false;
  }
  ast_.stmts[row].token = name;
  ast_.stmts[row].type = field.type;
  if (form.ellipsis != kNone) {
    Report(Code::kRpl1132, SpanOf(form.ellipsis), {{"name", TextOfToken(name)}});
  }
  CheckDeclaredName(name);
  CountLocal(name);
  ExprRange value;
  if (Accept(TokenKind::kAssign) && !Expression(&value)) {
    return false;
  }
  ast_.stmts[row].value = value;
  EndStmt(row);
  return true;
}

bool Parser::ExpressionStatement() {
  if (Kind() >= TokenKind::kCloseParen && Kind() <= TokenKind::kColon &&
      Kind() != TokenKind::kOpenBracket && Kind() != TokenKind::kOpenBrace) {
    return FailHere(Code::kRpl1175);  // not the end of an expression: there is none
  }
  const uint32_t row = BeginStmt(StmtKind::kExpression, pos_);
  ExprRange value;
  if (!Expression(&value)) {
    return false;
  }
  ast_.stmts[row].value = value;
  const bool ok = EndExpression({"expression"});
  EndStmt(row);
  return ok;
}

}  // namespace kiln::rpl
