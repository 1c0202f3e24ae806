// SPDX-License-Identifier: MIT
// Rows of operators: arithmetic, comparisons, bits, logic, increments, compound assignments.
#include <algorithm>

#include <fmt/format.h>

#include "tests/hlsl/meaning_row_list.h"

namespace kiln::hlsl {

void AddArithmetic(RowList& list) {
  for (const std::string_view op : {"+", "-", "*", "/", "%"}) {
    const bool divides = op == "/" || op == "%";
    const auto add = [&](RowItem left, RowItem right, const ShapePair& shapes) {
      const RowItem item = CommonItem(left, right);
      const Side left_side = op == "%" && left == RowItem::kInt ? Side::kPositive : Side::kLeft;
      list.Binary(op, {left, shapes.left}, {right, shapes.right}, left_side,
                  divides ? Side::kPositive : Side::kRight, {item, shapes.result},
                  op == "%" && item == RowItem::kFloat);
    };
    for (const RowItem left : kItems) {
      for (const RowItem right : kItems) {
        for (const ShapePair& shapes : MixedPairs()) {
          add(left, right, shapes);
        }
      }
    }
    for (const RowItem item : kNumbers) {
      for (const RowShape shape : AllShapes()) {
        add(item, item, {shape, shape, shape});
      }
    }
  }
}

void AddComparisons(RowList& list) {
  for (const std::string_view op : {"<", "<=", ">", ">=", "==", "!="}) {
    for (const RowItem left : kItems) {
      for (const RowItem right : kItems) {
        for (const ShapePair& shapes : MixedPairs()) {
          list.Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                      {RowItem::kBool, shapes.result});
        }
      }
    }
    for (const RowItem item : kItems) {
      for (const RowShape shape : AllShapes()) {
        list.Binary(op, {item, shape}, {item, shape}, Side::kPositive, Side::kRight,
                    {RowItem::kBool, shape});
      }
    }
  }
}

void AddBits(RowList& list) {
  for (const std::string_view op : {"&", "|", "^"}) {
    for (const RowItem left : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
      for (const RowItem right : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
        for (const ShapePair& shapes : MixedPairs()) {
          list.Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                      {CommonItem(left, right), shapes.result});
        }
      }
    }
  }
}

void AddShifts(RowList& list) {
  for (const std::string_view op : {"<<", ">>"}) {
    for (const RowItem left : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
      for (const RowItem right : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
        for (const ShapePair& shapes : MixedPairs()) {
          list.Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                      {left == RowItem::kBool ? RowItem::kInt : left, shapes.result});
        }
      }
    }
  }
}

// By version: scalars that leave out the right side, or every component of both.
void AddLogic(RowList& list) {
  for (const std::string_view op : {"&&", "||"}) {
    for (const RowItem left : kItems) {
      for (const RowItem right : kItems) {
        list.Binary(op, {left, {}}, {right, {}}, Side::kLeft, Side::kRight, {RowItem::kBool, {}});
        for (const ShapePair& shapes : MixedPairs()) {
          list.Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                      {RowItem::kBool, shapes.result});
          list.last().version = Version::k2018;
        }
      }
    }
    for (const Version version : {Version::k2021, Version::k2018}) {
      list.Add(
          {.name = fmt::format("{} with an effect on its right", op),
           .statements = fmt::format(
               "uint n = 0; bool b = (g.v.x > 15u) {} (++n > 0u); uint r = n * 2 + (b ? 1u : 0u);",
               op),
           .result = {RowItem::kUint, {}},
           .version = version});
    }
  }
}

void AddUnary(RowList& list) {
  for (const RowShape shape : AllShapes()) {
    for (const RowItem item : kItems) {
      const RowType type{item, shape};
      const std::string operand = OperandText(type, Side::kLeft);
      const RowType number{item == RowItem::kBool ? RowItem::kInt : item, shape};
      list.AddValue("- " + type.Text(), number, "-" + operand);
      list.AddValue("+ " + type.Text(), number, "+" + operand);
      list.AddValue("! " + type.Text(), {RowItem::kBool, shape}, "!" + operand);
      list.last().integer_matrix |= IsIntegerMatrix(type);
      if (item != RowItem::kFloat && item != RowItem::kBool) {
        list.AddValue("~ " + type.Text(), type, "~" + operand);
      }
    }
  }
}

// The place and the value of an increment.
void AddSteps(RowList& list) {
  for (const RowShape shape : AllShapes()) {
    for (const RowItem item : kNumbers) {
      const RowType type{item, shape};
      for (const std::string_view step : {"++r", "--r", "r++", "r--"}) {
        list.Add({.name = fmt::format("{} of {}", step, type.Text()),
                  .statements = fmt::format("{0} r = {1}; {2};", type.Text(),
                                            OperandText(type, Side::kLeft), step),
                  .result = type});
        std::string value(step);
        std::ranges::replace(value, 'r', 'p');
        list.Add({.name = fmt::format("value of {} of {}", step, type.Text()),
                  .statements = fmt::format("{0} p = {1}; {0} r = {2};", type.Text(),
                                            OperandText(type, Side::kLeft), value),
                  .result = type});
      }
    }
  }
}

// The common type and back to that of the place.
void AddCompound(RowList& list) {
  for (const std::string_view op : {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"}) {
    const bool arithmetic = op == "+" || op == "-" || op == "*" || op == "/" || op == "%";
    for (const RowItem left : kNumbers) {
      for (const RowItem right : kItems) {
        const bool floats = left == RowItem::kFloat || right == RowItem::kFloat;
        const bool below_zero = op == "-" && left == RowItem::kUint && right == RowItem::kFloat;
        if ((floats && !arithmetic) || below_zero) {
          continue;
        }
        for (const ShapePair& shapes : MixedPairs()) {
          if (shapes.left != shapes.result) {
            continue;
          }
          const RowType type{left, shapes.left};
          const bool small = left != RowItem::kFloat && (floats || op == "%");
          list.Add({.name = fmt::format("{} {}= {}", type.Text(), op,
                                        RowType{right, shapes.right}.Text()),
                    .statements =
                        fmt::format("{} r = {}; r {}= {};", type.Text(),
                                    OperandText(type, small ? Side::kPositive : Side::kLeft), op,
                                    OperandText({right, shapes.right}, Side::kPositive, 1)),
                    .result = type,
                    .open = floats && (op == "%" || (op == "/" && left != RowItem::kFloat))});
        }
      }
    }
  }
}

}  // namespace kiln::hlsl
