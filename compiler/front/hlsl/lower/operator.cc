// SPDX-License-Identifier: MIT
// One row of the checked expression is one instruction for each row of a matrix (spec/hlsl 6.3
// and 10.1). Operands have the types of the operator already, so only the class of their items
// is looked at.
#include "compiler/front/hlsl/lower/operator.h"

#include <optional>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/lower/shape.h"

namespace kiln::hlsl {

// One instruction for items of one class; spec/hlsl 10.1. `count`: items of a vector, 1 for a
// scalar.
ir::InstId Arithmetic(LowerContext& context, Operator op, Item item, uint32_t count,
                      ir::InstId left, ir::InstId right) {
  const ItemClass item_class = FactsOf(item).item_class;
  const ir::TypeId operands = context.Vector(FactsOf(item).scalar, count);
  // Logical operators reach here with flags whose sides were both computed.
  if (FactsOf(op).op_class == OperatorClass::kLogical) {
    const ir::BinaryOp made = op == Operator::kLogicalAnd ? ir::BinaryOp::kAnd : ir::BinaryOp::kOr;
    return context.Emit(ir::BinaryInst{operands, made, left, right});
  }
  const std::optional<ir::BinaryOp> found = InstructionOf(op, item_class);
  KILN_CHECK(found.has_value(), "operator '{}'", FactsOf(op).text);
  ir::BinaryOp made = *found;
  // spec/hlsl 3.1: an explicit `and`, so that no target has to mask.
  if (FactsOf(op).op_class == OperatorClass::kShift) {  // the amount is masked
    const ir::InstId mask = context.Repeated(FactsOf(item).scalar, count, 31);
    right = context.Emit(ir::BinaryInst{operands, ir::BinaryOp::kAnd, right, mask});
  }
  // spec/hlsl 1.5 (float_ne).
  if (op == Operator::kNotEqual && item_class == ItemClass::kFloat && context.ordered_not_equal) {
    made = ir::BinaryOp::kNotEqualOrdered;
  }
  const ir::TypeId type = IsComparison(op) ? context.Vector(ir::Scalar::kBool, count) : operands;
  return context.Emit(ir::BinaryInst{type, made, left, right});
}

// spec/hlsl 10.2. `-` of unsigned items is 0 - x, since the IR negates what has a sign.
ir::InstId UnaryValue(LowerContext& context, const Expr& expr, ir::InstId operand) {
  const auto op = static_cast<Operator>(expr.op);
  const Type row = context.TypeRow(expr.type);
  const ShapedOperand shaped{operand, expr.type};
  return ByRows(
      context, expr.type, std::span(&shaped, 1),
      [&](std::span<const ir::InstId> values, uint32_t count) {
        const ir::TypeId type = context.Vector(ScalarOf(row), count);
        if (op == Operator::kMinus && FactsOf(row.item).item_class == ItemClass::kUnsigned) {
          const ir::InstId zero = context.Repeated(ScalarOf(row), count, 0);
          return context.Emit(ir::BinaryInst{type, ir::BinaryOp::kSub, zero, values[0]});
        }
        const ir::UnaryOp made = op == Operator::kMinus ? ir::UnaryOp::kNegate
                                 : op == Operator::kNot ? ir::UnaryOp::kNot
                                                        : ir::UnaryOp::kComplement;
        return context.Emit(ir::UnaryInst{type, made, values[0], 0});
      });
}

// Matrices row by row; the two sides have one shape.
ir::InstId BinaryValue(LowerContext& context, const Expr& expr, ir::InstId left, ir::InstId right) {
  const TypeId operands = context.Get(ExprId{expr.a}).type;
  const ShapedOperand both[] = {{left, operands}, {right, context.Get(ExprId{expr.b}).type}};
  return ByRows(context, expr.type, both, [&](std::span<const ir::InstId> values, uint32_t count) {
    return Arithmetic(context, static_cast<Operator>(expr.op), context.TypeRow(operands).item,
                      count, values[0], values[1]);
  });
}

// The condition is the last operand of rows: one flag is given to each row as it is.
ir::InstId SelectValue(LowerContext& context, const Expr& expr, ir::InstId condition,
                       ir::InstId then, ir::InstId otherwise) {
  const Type row = context.TypeRow(expr.type);
  if (row.kind != TypeKind::kNumeric && row.kind != TypeKind::kEnum) {
    // Both exist; a branch picks one, because `select` is of vectors.
    const auto yield = [&](ir::InstId value) {
      const ir::BlockId block = context.builder.BeginBlock();
      context.Emit(ir::YieldInst{context.builder.Void(), value});
      context.builder.EndBlock();
      return block;
    };
    const ir::BlockId first = yield(then);
    const ir::BlockId second = yield(otherwise);
    return context.Emit(ir::SelectBlocksInst{TypeOf(context, expr.type), condition,
                                             context.builder.Ids({first, second})});
  }
  const ShapedOperand all[] = {
      {then, expr.type}, {otherwise, expr.type}, {condition, context.Get(ExprId{expr.a}).type}};
  return ByRows(context, expr.type, all, [&](std::span<const ir::InstId> values, uint32_t count) {
    return context.Emit(ir::SelectInst{context.Vector(ScalarOf(row), count), values[2],
                                       context.builder.Ids({values[0], values[1]})});
  });
}

}  // namespace kiln::hlsl
