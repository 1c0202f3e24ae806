// SPDX-License-Identifier: MIT
// Rows of conversions, truncations and selections.
#include <fmt/format.h>

#include "tests/hlsl/meaning_row_list.h"

namespace kiln::hlsl {

void AddConversions(RowList& list) {
  for (const RowItem from : kItems) {
    for (const RowItem to : kItems) {
      for (const RowShape shape : AllShapes()) {
        const RowType source{from, shape};
        const RowType type{to, shape};
        const bool small = (to == RowItem::kUint && from == RowItem::kFloat) ||
                           (to == RowItem::kFloat && from != RowItem::kBool && from != to);
        const Side side = small ? Side::kPositive : Side::kLeft;
        const std::string operand = OperandText(source, side);
        list.AddValue(fmt::format("({}) {}", type.Text(), source.Text()), type,
                      fmt::format("({}) {}", type.Text(), operand));
        list.last().integer_matrix |= IsIntegerMatrix(source);
        list.AddValue(fmt::format("{} = {}", type.Text(), source.Text()), type, operand);
        list.last().integer_matrix |= IsIntegerMatrix(source);
      }
    }
  }
  for (const RowShape shape : AllShapes()) {
    for (const RowItem item : kItems) {
      const RowType type{item, shape};
      list.AddValue(fmt::format("{} from a scalar", type.Text()), type,
                    OperandText({item, {}}, Side::kLeft));
      list.AddValue(fmt::format("({}) 1", type.Text()), type, fmt::format("({}) 1", type.Text()));
      list.AddValue(fmt::format("({}) 0.5", type.Text()), type,
                    fmt::format("({}) 0.5", type.Text()));
    }
  }
}

void AddTruncations(RowList& list) {
  for (const RowItem item : kItems) {
    for (uint32_t from = 2; from <= 4; ++from) {
      for (uint32_t to = 0; to < from; ++to) {
        const RowType source{item, {from, 0}};
        const RowType type{item, {to, 0}};
        list.AddValue(fmt::format("{} truncated to {}", source.Text(), type.Text()), type,
                      OperandText(source, Side::kLeft));
      }
    }
    for (uint32_t rows = 1; rows <= 4; ++rows) {
      for (uint32_t columns = 1; columns <= 4; ++columns) {
        const RowType type{item, {rows, columns}};
        list.AddValue(
            fmt::format("({}) {}4x4", type.Text(), NameOf(item)), type,
            fmt::format("({}) {}", type.Text(), OperandText({item, {4, 4}}, Side::kLeft)));
      }
    }
    const RowType four{item, {4, 0}};
    const RowType square{item, {2, 2}};
    list.AddValue(fmt::format("{} to {}", four.Text(), square.Text()), square,
                  fmt::format("({}) {}", square.Text(), OperandText(four, Side::kLeft)));
    list.AddValue(fmt::format("{} to {}", square.Text(), four.Text()), four,
                  fmt::format("({}) {}", four.Text(), OperandText(square, Side::kLeft)));
    list.last().integer_matrix |= item != RowItem::kFloat;
  }
}

// In 2021 the condition is a scalar; in 2018 it has components, and a scalar splats.
void AddSelections(RowList& list) {
  for (const RowItem left : kItems) {
    for (const RowItem right : kItems) {
      const bool bools = left == RowItem::kBool && right == RowItem::kBool;
      const RowItem item = bools ? RowItem::kBool : CommonItem(left, right);
      for (const ShapePair& shapes : MixedPairs()) {
        const std::string values = fmt::format(
            "{} : {}",
            OperandText({left, shapes.left}, SideOf({left, shapes.left}, {right, {}}, Side::kLeft)),
            OperandText({right, shapes.right}, Side::kRight, 1));
        const std::string name = fmt::format("{} : {}", RowType{left, shapes.left}.Text(),
                                             RowType{right, shapes.right}.Text());
        list.AddValue("bool ? " + name, {item, shapes.result}, "(g.v.x > 15u) ? " + values);
        list.AddValue("bool ? " + name, {item, shapes.result}, "(g.v.x > 15u) ? " + values, false,
                      Version::k2018);
        const RowType condition{RowItem::kBool, shapes.result};
        list.AddValue(condition.Text() + " ? " + name, {item, shapes.result},
                      OperandText(condition, Side::kRight, 2) + " ? " + values, false,
                      Version::k2018);
        list.last().integer_matrix |= shapes.result.is_matrix();
      }
    }
  }
}

}  // namespace kiln::hlsl
