// SPDX-License-Identifier: MIT
// Operator precedence with an explicit stack: an operator waits in `pending_` until one that binds
// less strongly, or the end of the expression, comes. Rows of the tree come out in post-order,
// which is the order in which operators leave the stack. Only brackets recurse, at most
// limits.nesting deep; chains of operators do not, which have at most limits.terms operands.
#include "compiler/front/hlsl/syntax/parser/parse_expr.h"

#include <array>

#include "compiler/front/hlsl/syntax/operators.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {
namespace {

// Those that bind to the right: a pending one of equal strength waits.
bool BindsRight(uint8_t precedence) { return precedence == kAssignment; }

// The strength of the token that follows an operand; kNotBinary ends the expression.
// Inside of a template list `>` ends the expression; in lists of arguments and initialisers a
// comma does.
uint8_t PrecedenceOf(TokenKind kind, ExprEnd end) {
  if (end == ExprEnd::kGreater && (kind == TokenKind::kGreater || kind == TokenKind::kShiftRight)) {
    return kNotBinary;
  }
  const uint8_t precedence = OperatorOf(kind).precedence;
  return precedence == kCommas && end != ExprEnd::kNone ? uint8_t{kNotBinary} : precedence;
}

}  // namespace

// `pending_` is one stack for all expressions that are open. Behind an error it is cut to what
// it had, so what waits of an inner one does not stay.
bool ExpressionParser::Expression(ExprRange* range, ExprEnd end) {
  const Level level(context_);
  const auto first = static_cast<uint32_t>(context_.ast.exprs.size());
  const size_t pending = pending_.size();
  Operand operand;
  const bool ok = Operators(&operand, end);
  pending_.resize(pending);
  if (ok) {
    *range = {first, operand.row};
  }
  return ok;
}

// A list in braces is an expression row, too, but only stands as an initialiser.
bool ExpressionParser::Initialiser(ExprRange* range) {
  if (!context_.at.At(TokenKind::kOpenBrace)) {
    return Expression(range, ExprEnd::kComma);
  }
  const Level level(context_);
  const auto first = static_cast<uint32_t>(context_.ast.exprs.size());
  const size_t pending = pending_.size();
  Operand list;
  const bool ok = List(&list);
  pending_.resize(pending);
  if (ok) {
    *range = {first, list.row};
  }
  return ok;
}

// '{' [ ( assign | list ) { ',' ( assign | list ) } [ ',' ] ] '}'
bool ExpressionParser::List(Operand* operand) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  const uint32_t open = at.pos();
  if (!context_.Enter(open)) {
    return false;
  }
  const auto first = static_cast<uint32_t>(context_.ast.exprs.size());
  at.Advance();
  while (!at.At(TokenKind::kCloseBrace)) {
    Operand item;
    const bool ok = at.At(TokenKind::kOpenBrace) ? List(&item) : Operators(&item, ExprEnd::kComma);
    if (!ok) {
      return false;
    }
    context_.items.push_back(item.row);
    if (!at.Accept(TokenKind::kComma)) {
      break;
    }
  }
  if (!context_.errors.ExpectClose(TokenKind::kCloseBrace, {"initialiser list"}, open)) {
    return false;
  }
  *operand = AddOperand(
      {.kind = ExprKind::kList, .token = open, .first = first, .a = level.TakeList()}, open);
  return true;
}

// Shunting yard: an operator that waits is reduced when one of its strength or weaker comes; one
// that binds to the right lets its equals wait on top of it. `base` separates this call's operators
// from those of the brackets around it. Leaves the token behind the expression current.
bool ExpressionParser::Operators(Operand* operand, ExprEnd end) {
  const size_t base = pending_.size();
  for (uint32_t terms = 1;; ++terms) {
    if (!parsers_.operands.Prefixed(operand)) {
      return false;
    }
    const TokenKind kind = context_.at.Kind();
    const uint8_t precedence = PrecedenceOf(kind, end);
    // A weaker operator, or one as strong that binds to the left, takes what waits as its left
    // side.
    while (pending_.size() > base && pending_.back().precedence >= precedence &&
           !(pending_.back().precedence == precedence && BindsRight(precedence))) {
      Reduce(operand);
    }
    if (precedence == kNotBinary) {
      return true;
    }
    // Operands of this expression alone: those in brackets belong to expressions of their own.
    if (terms == context_.limits.terms) {
      return context_.errors.Fail(Code::kHlsl1007, context_.at.pos(),
                                  {{"what", "expression"},
                                   {"size", std::to_string(terms + 1) + " operands"},
                                   {"limit", context_.limits.terms}});
    }
    // An operator that binds to the right stays until the end, so it counts as a level of
    // nesting; Reduce takes it off again.
    if (BindsRight(precedence) && !context_.Enter(context_.at.pos())) {
      return false;
    }
    if (!(kind == TokenKind::kQuestion ? PushSelect(*operand) : PushBinary(*operand))) {
      return false;
    }
  }
}

// The right side of `&&` and `||` may not be evaluated, so a marker says where its rows begin.
bool ExpressionParser::PushBinary(const Operand& left) {
  const OperatorRow& row = OperatorOf(context_.at.Kind());
  const uint32_t token = context_.at.Advance();
  if (row.kind == ExprKind::kLogical) {
    const auto marker = static_cast<uint32_t>(context_.ast.exprs.size());
    Add({.kind = ExprKind::kRight, .token = token, .first = marker, .a = left.row});
  }
  pending_.push_back(
      {.precedence = row.precedence, .kind = row.kind, .op = row.op, .token = token, .left = left});
  return true;
}

// c ? a : …  up to the ':'; the third operand follows as the right side of a pending operator.
bool ExpressionParser::PushSelect(const Operand& condition) {
  const uint32_t token = context_.at.Advance();
  auto marker = static_cast<uint32_t>(context_.ast.exprs.size());
  Add({.kind = ExprKind::kThen, .token = token, .first = marker, .a = condition.row});
  Operand then;
  if (!Operators(&then, ExprEnd::kNone) ||
      !context_.errors.Expect(TokenKind::kColon, {"second operand of '?'"})) {
    return false;
  }
  marker = static_cast<uint32_t>(context_.ast.exprs.size());
  Add({.kind = ExprKind::kElse, .token = token, .first = marker, .a = condition.row});
  pending_.push_back({.precedence = kAssignment,
                      .kind = ExprKind::kSelect,
                      .token = token,
                      .left = condition,
                      .then = then.row});
  return true;
}

// An operator leaves the stack: its right operand is there, its left one waited with it.
void ExpressionParser::Reduce(Operand* operand) {
  const Pending pending = pending_.back();
  pending_.pop_back();
  if (BindsRight(pending.precedence) || pending.precedence == kPrefixPrecedence) {
    --context_.nesting;
  }
  Expr expr{.kind = pending.kind,
            .op = pending.op,
            .token = pending.token,
            .first = pending.left.first,
            .a = pending.left.row,
            .b = operand->row};
  uint32_t begin = pending.left.begin;
  // A prefix operator begins where it stands; a cast also has the rows of its type.
  if (pending.precedence == kPrefixPrecedence) {
    begin = pending.token;
    expr.first = pending.left.first == kNone ? operand->first : pending.left.first;
  }
  if (pending.kind == ExprKind::kUnary) {
    expr.a = operand->row;
    expr.b = kNone;
  } else if (pending.kind == ExprKind::kSelect) {
    expr.b = context_.ast.AddList(std::array{pending.then, operand->row});
  }
  *operand = AddOperand(expr, begin);
}

}  // namespace kiln::hlsl::syntax
