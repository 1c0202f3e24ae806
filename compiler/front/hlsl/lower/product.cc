// SPDX-License-Identifier: MIT
// An HLSL matrix of R rows is an IR matrix of R columns, its transpose, so `mul (a, b)` is the
// product of b and a there. Where an operand is no float matrix in the IR, because its items are
// integers or a dimension is 1, row i of the product is the sum over k of a[i][k] × row k of b:
// vector products and sums.
#include "compiler/front/hlsl/lower/product.h"

#include <vector>

#include "compiler/front/hlsl/lower/operator.h"
#include "compiler/front/hlsl/lower/shape.h"

namespace kiln::hlsl {
namespace {

// An operand of `mul` as rows and columns: vectors have one of them.
// `left` decides what a vector is: a row on the left, a column on the right (spec/hlsl 18).
struct Grid {
  ir::InstId value;
  Type type;
  uint32_t rows = 1;
  uint32_t columns = 1;
};

Grid GridOf(const Type& type, ir::InstId value, bool left) {
  if (type.form == Form::kMatrix) {
    return {value, type, type.rows, type.columns};
  }
  return left ? Grid{value, type, 1, CountOf(type)} : Grid{value, type, CountOf(type), 1};
}

class Product {
 public:
  Product(LowerContext& context, Item item) : context_(context), item_(item) {}

  // The result has the rows of a, each a vector of the columns of b.
  ir::InstId Of(const Grid& a, const Grid& b, TypeId result) {
    std::vector<ir::InstId> rows;
    for (uint32_t i = 0; i < a.rows; ++i) {
      rows.push_back(RowOf(a, b, i));
    }
    if (rows.size() == 1) {
      return rows[0];
    }
    return context_.Emit(ir::ConstructInst{TypeOf(context_, result), context_.builder.Ids(rows)});
  }

 private:
  ir::Scalar scalar() const { return FactsOf(item_).scalar; }

  // Row k: a vector of the columns, or a scalar.
  // Reduced shapes have no rows to be taken: they are their only one.
  ir::InstId Line(const Grid& grid, uint32_t k) {
    const ir::TypeId line = context_.Vector(scalar(), grid.columns);
    return grid.rows == 1 ? grid.value : ExtractPart(context_, grid.value, line, k);
  }

  ir::InstId Item_(const Grid& grid, uint32_t i, uint32_t k) {
    const ir::InstId line = Line(grid, i);
    return grid.columns == 1 ? line : ExtractPart(context_, line, context_.Vector(scalar(), 1), k);
  }

  // Sums from the left, so that the result is the same for each target.
  ir::InstId RowOf(const Grid& a, const Grid& b, uint32_t i) {
    ir::InstId sum;
    for (uint32_t k = 0; k < a.columns; ++k) {
      ir::InstId factor = Item_(a, i, k);
      if (b.columns > 1) {
        factor = context_.Emit(ir::SplatInst{context_.Vector(scalar(), b.columns), factor});
      }
      const ir::InstId term =
          Arithmetic(context_, Operator::kMul, item_, b.columns, factor, Line(b, k));
      sum = k == 0 ? term : Arithmetic(context_, Operator::kAdd, item_, b.columns, sum, term);
    }
    return sum;
  }

  LowerContext& context_;
  const Item item_;
};

}  // namespace

// Of one item it is a product; integers have a builtin of their own.
ir::InstId DotValue(LowerContext& context, TypeId type, ir::InstId left, ir::InstId right) {
  const Type row = context.TypeRow(type);
  if (CountOf(row) == 1) {
    return Arithmetic(context, Operator::kMul, row.item, 1, left, right);
  }
  const ir::Builtin builtin = IsFloat(row.item) ? ir::Builtin::kDot : ir::Builtin::kDotIntegers;
  return context.Emit(ir::BuiltinCallInst{context.Vector(ScalarOf(row), 1), builtin, 0,
                                          context.builder.Ids({left, right})});
}

// spec/hlsl 6.3: floats with at least one whole matrix multiply in one instruction, operands
// swapped because matrices are transposed in the IR.
ir::InstId MulValue(LowerContext& context, const Expr& expr, std::span<const ir::InstId> operands) {
  const std::span<const uint32_t> list = context.unit.List(ListId{expr.b});
  const TypeId left_type = context.Get(ExprId{list[0]}).type;
  const Type left = context.TypeRow(left_type);
  const Type right = context.TypeRowOf(ExprId{list[1]});
  const Form a = ValueForm(left);
  const Form b = ValueForm(right);
  const bool plain = left.form != Form::kMatrix && right.form != Form::kMatrix;
  if (plain) {
    return DotValue(context, left_type, operands[0], operands[1]);
  }
  // Reduced shapes count as what they are in the source, so only whole matrices multiply as such.
  const bool whole_left = a == Form::kMatrix || left.form != Form::kMatrix;
  const bool whole_right = b == Form::kMatrix || right.form != Form::kMatrix;
  if (IsFloat(left.item) && whole_left && whole_right &&
      (a == Form::kMatrix || b == Form::kMatrix)) {
    return context.Emit(
        ir::BinaryInst{TypeOf(context, expr.type), ir::BinaryOp::kMul, operands[1], operands[0]});
  }
  // rows of a column: a vector whose items are scalars
  return Product(context, left.item)
      .Of(GridOf(left, operands[0], true), GridOf(right, operands[1], false), expr.type);
}

}  // namespace kiln::hlsl
