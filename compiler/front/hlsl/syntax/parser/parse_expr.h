// SPDX-License-Identifier: MIT
// Expressions and initialisers: operators here, what they stand between in parse_operand. A rule
// returns false after it has reported an error and left the tokens where recovery starts.
#pragma once

#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

// A part of an expression that is read.
struct Operand {
  uint32_t row = kNone;
  uint32_t first = kNone;  // row
  uint32_t begin = kNone;  // token, with the parentheses around it
};

// What ends an expression besides what can be no part of it.
enum class ExprEnd : uint8_t {
  kNone,     // expr of the grammar
  kComma,    // assign
  kGreater,  // a template argument: no '>', no comma
};

class ExpressionParser {
 public:
  ExpressionParser(ParseContext& context, Parsers& parsers)
      : context_(context), parsers_(parsers) {}

  bool Expression(ExprRange* range, ExprEnd end);
  bool Initialiser(ExprRange* range);  // assign or list
  // The same as a part of the expression around.
  bool Operators(Operand* operand, ExprEnd end);

  // Called for every row: a function may have a million of them.
  uint32_t Add(const Expr& expr) {
    CheckStop();
    context_.ast.exprs.push_back(expr);
    return static_cast<uint32_t>(context_.ast.exprs.size() - 1);
  }
  // The row that covers tokens from `begin` up to the current one.
  Operand AddOperand(Expr expr, uint32_t begin) {
    expr.begin = begin;
    expr.end = context_.at.pos();
    return {.row = Add(expr), .first = expr.first, .begin = begin};
  }
  void PushUnary(UnaryOp op, uint32_t token) {
    pending_.push_back({.precedence = kPrefixPrecedence,
                        .kind = ExprKind::kUnary,
                        .op = static_cast<uint8_t>(op),
                        .token = token});
  }
  // A cast to type row `type`, whose expression rows begin at `first`, or kNone.
  void PushCast(uint32_t type, uint32_t token, uint32_t first) {
    pending_.push_back({.precedence = kPrefixPrecedence,
                        .kind = ExprKind::kCast,
                        .token = token,
                        .left = {.row = type, .first = first}});
  }

 private:
  static constexpr uint8_t kPrefixPrecedence = 0xff;
  struct Pending {
    uint8_t precedence;
    ExprKind kind;
    uint8_t op = 0;
    uint32_t token;
    Operand left = {};      // of binary operators; kCast: see PushCast
    uint32_t then = kNone;  // kSelect: row of the second operand
  };
  bool PushBinary(const Operand& left);
  bool PushSelect(const Operand& condition);
  void Reduce(Operand* operand);
  bool List(Operand* operand);

  ParseContext& context_;
  Parsers& parsers_;
  std::vector<Pending> pending_;
};

}  // namespace kiln::hlsl::syntax
