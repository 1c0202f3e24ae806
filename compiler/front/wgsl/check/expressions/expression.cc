// SPDX-License-Identifier: MIT
// Expressions are rows in post-order, and checking is one loop over them: operands come before
// the row that uses them, and what was made of each row is kept under its number. No function
// here recurses, so the depth of an expression costs nothing. The first row that fails ends the
// expression.
#include "compiler/front/wgsl/check/expressions/expression.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/expressions/access.h"
#include "compiler/front/wgsl/check/expressions/call.h"
#include "compiler/front/wgsl/check/expressions/name.h"
#include "compiler/front/wgsl/check/expressions/operation.h"
#include "compiler/front/wgsl/check/expressions/value.h"

namespace kiln::wgsl::front {
namespace {

// Literals of abstract type have a value in 64 bits, or in a double; what does not fit is
// WGSL3002.
ExprId CheckLiteral(CheckContext& context, const syntax::Expr& expr) {
  const std::optional<Literal> literal = ReadLiteral(context.Text(expr.token));
  if (!literal.has_value()) {  // the lexer said so
    return context.Failed(expr.at);
  }
  if (!literal->value.ok()) {
    context.Say(context.At(Code::kWgsl3002, expr.at)
                    .With("value", context.Text(expr.token))
                    .With("type", TextOf(literal->kind)));
    return context.Failed(expr.at);
  }
  if (literal->kind == ScalarKind::kF16 && !context.has_f16) {
    context.Forbid(expr.at, "it needs 'enable f16;'");
    return context.Failed(expr.at);
  }
  return context.AddConstant(context.types().Scalar(literal->kind),
                             std::span(&literal->value.word, 1), expr.at);
}

// Functions, types and words of the language are no operands of anything. So nobody behind this
// asks what has no type for its type.
bool AreValues(CheckContext& context, std::span<const ExprId> operands) {
  for (const ExprId id : operands) {
    if (!context.IsFailed(id) && context.Get(id).kind < ExprKind::kConstant) {
      context.Mismatch(context.Get(id).at, "value", context.FoundText(id));
      return false;
    }
  }
  return true;
}

// What a row computes from: what is called is none of them.
std::vector<ExprId> OperandsOf(const CheckContext& context, const syntax::Expr& expr) {
  std::vector<ExprId> operands;
  switch (expr.kind) {
    case syntax::ExprKind::kLiteral:
    case syntax::ExprKind::kName:
      break;
    case syntax::ExprKind::kCall:
      for (const uint32_t argument : context.ast.List(syntax::ListId{expr.b})) {
        operands.push_back(context.rows[argument]);
      }
      break;
    case syntax::ExprKind::kMember:
    case syntax::ExprKind::kUnary:
      operands = {context.rows[expr.a]};
      break;
    case syntax::ExprKind::kIndex:
    case syntax::ExprKind::kBinary:
      operands = {context.rows[expr.a], context.rows[expr.b]};
      break;
  }
  return operands;
}

// One row of the syntax tree, whose operands are rows before it and were checked.
ExprId CheckRow(CheckContext& context, uint32_t row) {
  const syntax::Expr& expr = context.ast.exprs[row];
  const auto operand = [&](uint32_t id) { return context.rows[id]; };
  const std::vector<ExprId> operands = OperandsOf(context, expr);
  if (!AreValues(context, operands)) {
    return context.Failed(expr.at);
  }
  switch (expr.kind) {
    case syntax::ExprKind::kLiteral:
      return CheckLiteral(context, expr);
    case syntax::ExprKind::kName:
      return CheckName(context, expr, row);
    case syntax::ExprKind::kCall:
      return CheckCall(context, operand(expr.a), operands, expr.at);
    case syntax::ExprKind::kIndex:
      return CheckIndex(context, operand(expr.a), operand(expr.b), expr.at);
    case syntax::ExprKind::kMember:
      return CheckMember(context, operand(expr.a), expr.token, expr.at);
    case syntax::ExprKind::kUnary: {
      if (expr.op == Operator::kAddressOf) {
        return CheckAddress(context, operand(expr.a), expr.at);
      }
      if (expr.op == Operator::kIndirection) {
        return CheckIndirection(context, operand(expr.a), expr.at);
      }
      return MakeOperation(context, FunctionOf(expr.op), operands, expr.at);
    }
    case syntax::ExprKind::kBinary: {
      // The two that look at their right side only if they need it are no functions.
      if (expr.op == Operator::kLogicalAnd || expr.op == Operator::kLogicalOr) {
        return MakeLogical(context, expr.op == Operator::kLogicalOr, operand(expr.a),
                           operand(expr.b), expr.at);
      }
      return MakeOperation(context, FunctionOf(expr.op), operands, expr.at);
    }
  }
  KILN_UNREACHABLE();
}

}  // namespace

// A loop over the rows of the expression in post-order, so nothing recurses however long it is.
// The first row that fails ends it: those behind it are made of it, or would be a second error.
ExprId CheckExpression(CheckContext& context, syntax::ExprId id) {
  for (uint32_t row = context.ast[id].first; row <= id.value; ++row) {
    CheckStop();
    context.rows[row] = CheckRow(context, row);
    if (context.IsFailed(context.rows[row])) {
      return context.Failed(context.ast[id].at);
    }
  }
  return context.rows[id.value];
}

TypeId CheckType(CheckContext& context, syntax::ExprId id) {
  const ExprId made = CheckExpression(context, id);
  if (context.IsFailed(made)) {
    return context.types().Failed();
  }
  if (context.Get(made).kind != ExprKind::kType) {
    context.Mismatch(context.Get(made).at, "type", context.FoundText(made));
    return context.types().Failed();
  }
  return context.TypeOf(made);
}

// A value with a row of constants. That of an override is not one.
ExprId CheckConstant(CheckContext& context, syntax::ExprId id) {
  const ExprId value = ValueOf(context, CheckExpression(context, id));
  if (!context.IsFailed(value) && context.Get(value).kind != ExprKind::kConstant) {
    context.Say(context.At(Code::kWgsl3003, context.Get(value).at).With("stage", "constant"));
    return context.Failed(context.Get(value).at);
  }
  return value;
}

}  // namespace kiln::wgsl::front
