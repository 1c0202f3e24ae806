// SPDX-License-Identifier: MIT
// Statements of functions.
#pragma once

#include "compiler/front/rpl/parser/parse_context.h"
#include "compiler/front/rpl/parser/parse_expr.h"
#include "compiler/front/rpl/parser/parse_field.h"

namespace kiln::rpl {

class StatementParser {
 public:
  StatementParser(ParseContext& context, ExpressionParser& expressions, FieldParser& fields)
      : at_(context.at),
        errors_(context.errors),
        recovery_(context.recovery),
        ast_(context.ast),
        limits_(context.limits),
        expressions_(expressions),
        fields_(fields) {}

  // The '{' of a function, which is the current token, or is missing and reported.
  bool Body() { return Scope({}, at_.pos()); }

 private:
  enum class ScopeRole : uint8_t { kPlain, kThen };  // kThen: behind the condition of an 'if'
  bool Scope(const ExprRange& condition, uint32_t begin, ScopeRole role = ScopeRole::kPlain);
  bool EndsUnclosed(ScopeRole role);
  void Statement();
  bool StatementBody();
  bool ConditionalStatement();
  bool AliasStatement(const ExprRange& condition, uint32_t begin);
  bool If();
  bool Else();
  bool For();
  bool ForHeader(uint32_t row);
  bool While();
  bool Jump(StmtKind kind);
  bool Return();
  bool Variable();
  bool VariableStatement();
  bool ExpressionStatement();
  bool HeaderCondition(uint32_t row, const ConstructName& what);
  bool BodyScope(const ConstructName& what, ScopeRole role = ScopeRole::kPlain);
  void BodyWithoutBrace(uint32_t header);
  bool ScopeBehindWord();
  void SkipEndOfDo();
  bool HeaderWithoutParen();
  uint32_t BeginStmt(StmtKind kind, uint32_t token);
  void EndStmt(uint32_t row);

  TokenCursor& at_;
  ParseErrors& errors_;
  Recovery& recovery_;
  Ast& ast_;
  const LanguageLimits& limits_;
  ExpressionParser& expressions_;
  FieldParser& fields_;
  bool after_if_ = false;       // the statement before the current token started with if or else
  uint32_t scope_nesting_ = 0;  // of scopes
};

}  // namespace kiln::rpl
