// SPDX-License-Identifier: MIT
// Values of the IR by their shapes: rows of matrices, conversions, parts. Types are those of the
// checked module, by which a matrix is its rows.
#pragma once

#include <span>
#include <vector>

#include "compiler/front/hlsl/lower/context.h"
#include "compiler/front/hlsl/lower/type.h"

namespace kiln::hlsl {

// Calls make(row operands, row type) for each row of a matrix, or once with the operands of a
// scalar or vector, and puts the rows together as `result`. Operands that are `whole` are given to
// each row as they are. `row_type` has `result`'s items.
struct ShapedOperand {
  ir::InstId value;
  TypeId type;
};
template <class Make>
ir::InstId ByRows(LowerContext& context, TypeId result, std::span<const ShapedOperand> operands,
                  Make make) {
  const Type shape = context.TypeRow(operands[0].type);
  std::vector<ir::InstId> values;
  if (ValueForm(shape) != Form::kMatrix) {
    for (const ShapedOperand& operand : operands) {
      values.push_back(operand.value);
    }
    return make(std::span<const ir::InstId>(values), uint32_t{CountOf(shape)});
  }
  std::vector<ir::InstId> rows;
  for (uint32_t i = 0; i < shape.rows; ++i) {
    values.clear();
    for (const ShapedOperand& operand : operands) {
      const Type& type = context.TypeRow(operand.type);
      values.push_back(ValueForm(type) == Form::kMatrix
                           ? context.Emit(ir::ExtractInst{
                                 context.Vector(ScalarOf(type), type.columns), operand.value, i})
                           : operand.value);
    }
    rows.push_back(make(std::span<const ir::InstId>(values), uint32_t{shape.columns}));
  }
  return context.Emit(ir::ConstructInst{TypeOf(context, result), context.builder.Ids(rows)});
}

// Items of a vector of `count` as another item. See spec/hlsl 9.1
ir::InstId ConvertItems(LowerContext& context, ir::InstId value, Item from, Item to,
                        uint32_t count);
// A value of one type as one of another of the same shape.
ir::InstId ConvertValue(LowerContext& context, ir::InstId value, TypeId from, TypeId to);
ir::InstId TruncateValue(LowerContext& context, ir::InstId value, TypeId from, TypeId to);
// A scalar in all items.
ir::InstId SplatValue(LowerContext& context, ir::InstId scalar, TypeId to);
// Some components of a vector or scalar of `count`.
ir::InstId SwizzleValue(LowerContext& context, ir::InstId value, ir::Scalar scalar, uint32_t count,
                        uint32_t packed);
ir::InstId ExtractPart(LowerContext& context, ir::InstId value, ir::TypeId part, uint32_t index);
// A scalar, converted, in every leaf.
ir::InstId FillValue(LowerContext& context, ir::InstId scalar, Item item, TypeId to);

}  // namespace kiln::hlsl
