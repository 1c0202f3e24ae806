// SPDX-License-Identifier: MIT
// Expressions, and what is made of them wherever they stand: sizes and conditions. A rule returns
// false after it has reported an error and left the tokens where recovery starts.
#pragma once

#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/rpl/parser/parse_context.h"

namespace kiln::rpl {

class ExpressionParser {
 public:
  explicit ExpressionParser(ParseContext& context)
      : at_(context.at),
        errors_(context.errors),
        recovery_(context.recovery),
        ast_(context.ast),
        limits_(context.limits),
        items_(context.items) {}

  bool Expression(ExprRange* range);
  bool Sizes(uint32_t* sizes);             // { '[' expr ']' }
  bool Conditional(ExprRange* condition);  // 'conditional' '(' expr ')'

 private:
  struct Operand {
    uint32_t row = kNone;
    Span span;  // with the parentheses around it
  };
  struct Pending {
    uint8_t precedence;
    ExprKind kind;
    uint8_t op;
    uint32_t token;
    Operand left;           // of binary operators
    uint32_t then = kNone;  // kSelect: row of the second operand
  };
  bool EnterNested(uint32_t token);  // counts one level; false: RPL1009
  bool Operators(Operand* operand);
  bool Prefixed(Operand* operand);
  bool Primary(Operand* operand);
  bool Postfix(Operand* operand);
  bool Member(Operand* operand);
  bool Index(Operand* operand);
  bool Group(Operand* operand);
  bool Name(Operand* operand);
  void SkipTypeArguments(uint32_t name);
  void FailComma();
  bool ArrayConstructor(Operand* operand, uint32_t name);
  bool Items(TokenKind close, uint32_t name, uint32_t* list);
  bool Literal(Operand* operand, ExprKind kind);
  bool PushBinary(const Operand& left);
  bool PushSelect(const Operand& condition);
  void Reduce(Operand* operand);
  bool FailOperandDue();
  uint32_t AddExpr(const Expr& expr) {
    CheckStop();  // a function may have a million of them
    ast_.exprs.push_back(expr);
    return static_cast<uint32_t>(ast_.exprs.size() - 1);
  }

  TokenCursor& at_;
  ParseErrors& errors_;
  Recovery& recovery_;
  Ast& ast_;
  const LanguageLimits& limits_;
  std::vector<uint32_t>& items_;
  uint32_t nesting_ = 0;  // of the expression being parsed
  std::vector<Pending> pending_;
};

}  // namespace kiln::rpl
