// SPDX-License-Identifier: MIT
#include "tests/hlsl/meaning_row_list.h"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::hlsl {
namespace {

std::string LeafText(RowItem item, Side side, uint32_t leaf) {
  const char letter = kLetters[(leaf + leaf / 4) % 4];
  switch (item) {
    case RowItem::kBool:
      return side == Side::kPositive ? fmt::format("g.v.{} > 0u", letter)
             : side == Side::kLeft   ? fmt::format("g.v.{} > 15u", letter)
                                     : fmt::format("g.t.{} > 63", letter);
    case RowItem::kInt:
      return fmt::format("g.{}.{}", side == Side::kLeft ? "s" : "t", letter);
    case RowItem::kUint:
      return fmt::format("g.{}.{}", side == Side::kLeft ? "u" : "v", letter);
    case RowItem::kFloat:
      return fmt::format("g.{}.{}", side == Side::kLeft ? "f" : "g", letter);
  }
  return {};
}

}  // namespace

std::string_view NameOf(RowItem item) {
  constexpr std::string_view kNames[] = {"bool", "int", "uint", "float"};
  return kNames[static_cast<size_t>(item)];
}

std::string RowType::Text() const {
  std::string out(NameOf(item));
  out += shape.is_scalar() ? "" : std::to_string(shape.rows);
  return shape.is_matrix() ? out + 'x' + std::to_string(shape.columns) : out;
}

std::vector<RowShape> AllShapes() {
  std::vector<RowShape> shapes{{0, 0}};
  for (uint32_t rows = 1; rows <= 4; ++rows) {
    shapes.push_back({rows, 0});
    for (uint32_t columns = 1; columns <= 4; ++columns) {
      shapes.push_back({rows, columns});
    }
  }
  return shapes;
}

std::vector<ShapePair> MixedPairs() {
  std::vector<ShapePair> pairs;
  for (const RowShape shape :
       {RowShape{0, 0}, {2, 0}, {3, 0}, {4, 0}, {2, 2}, {3, 2}, {2, 4}, {4, 4}}) {
    pairs.push_back({shape, shape, shape});
  }
  for (const RowShape shape : {RowShape{3, 0}, {3, 3}}) {
    pairs.push_back({{}, shape, shape});
    pairs.push_back({shape, {}, shape});
  }
  return pairs;
}

std::string OperandText(const RowType& type, Side side, uint32_t first) {
  if (type.shape.is_scalar()) {
    return '(' + LeafText(type.item, side, first) + ')';
  }
  std::string out = type.Text() + " (";
  for (uint32_t leaf = 0; leaf < type.shape.leaves(); ++leaf) {
    out += (leaf == 0 ? "" : ", ") + LeafText(type.item, side, first + leaf);
  }
  return out + ')';
}

RowItem CommonItem(RowItem left, RowItem right) {
  const RowItem higher = std::max(left, right);
  return higher == RowItem::kBool ? RowItem::kInt : higher;
}

bool IsIntegerMatrix(const RowType& type) {
  return type.shape.is_matrix() && type.item != RowItem::kFloat;
}

Side SideOf(const RowType& type, const RowType& other, Side side) {
  const bool word = type.item == RowItem::kInt || type.item == RowItem::kUint;
  return word && other.item == RowItem::kFloat ? Side::kPositive : side;
}

void RowList::AddValue(std::string name, const RowType& result, const std::string& expression,
                       bool open, Version version) {
  Add({.name = std::move(name),
       .statements = fmt::format("{} r = {};", result.Text(), expression),
       .result = result,
       .version = version,
       .open = open});
}

void RowList::Binary(std::string_view op, const RowType& left, const RowType& right, Side left_side,
                     Side right_side, const RowType& result, bool open) {
  AddValue(fmt::format("{} {} {}", left.Text(), op, right.Text()), result,
           fmt::format("{} {} {}", OperandText(left, SideOf(left, right, left_side)), op,
                       OperandText(right, SideOf(right, left, right_side), 1)),
           open);
  last().integer_matrix |= IsIntegerMatrix(left) || IsIntegerMatrix(right);
}

}  // namespace kiln::hlsl
