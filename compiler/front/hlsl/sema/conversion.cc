// SPDX-License-Identifier: MIT
// A conversion of numbers is one of items and one of shapes; the shape decides its kind. Shapes are
// compared as values, so `float1x4` and `float4` are the same here.
#include "compiler/front/hlsl/sema/conversion.h"

#include <algorithm>

namespace kiln::hlsl {
namespace {

// A shape by value: `float1` is a scalar, `float1x4` a vector. `rows` and `columns` are those
// of matrices; a vector has one row.
struct ShapeOf {
  Form form;
  uint32_t rows, columns, count;
  explicit ShapeOf(const Type& type)
      : form(ValueForm(type)),
        rows(form == Form::kMatrix ? type.rows : 1),
        columns(form == Form::kMatrix ? type.columns : CountOf(type)),
        count(CountOf(type)) {}
};

// spec/hlsl 9.2, in the order in which rules win: same shape, splat, truncation, four items as
// a 2x2, a cast of as many items.
Conversion Shaped(const Type& from, const Type& to) {
  const ShapeOf a(from);
  const ShapeOf b(to);
  if (a.form == b.form && a.rows == b.rows && a.columns == b.columns) {
    return {.kind = ConversionKind::kNumeric, .implicit = true, .shape_rank = 0};
  }
  if (a.form == Form::kScalar) {
    return {.kind = ConversionKind::kSplat, .implicit = true, .shape_rank = 1};
  }
  const bool to_scalar = b.form == Form::kScalar;
  // A matrix to a column of it, and a matrix to a row: both keep the first items.
  const bool to_column = a.form == Form::kMatrix && to.form == Form::kMatrix && to.columns == 1 &&
                         to.rows <= from.rows;
  if (to_scalar || to_column || (a.form == b.form && a.rows >= b.rows && a.columns >= b.columns) ||
      (a.form == Form::kMatrix && b.form == Form::kVector &&
       ((to.rows == 1 && to.form == Form::kMatrix && b.columns <= a.columns)))) {
    return {.kind = ConversionKind::kTruncate, .implicit = true, .shape_rank = 2};
  }
  // A vector of 4 and a 2x2 matrix convert row by row, and by themselves.
  if (a.count == 4 && b.count == 4 && a.form != b.form) {
    return {.kind = ConversionKind::kReshape, .implicit = true, .shape_rank = 0};
  }
  // As many items in another shape: by a cast only.
  if (a.count == b.count) {
    return {.kind = ConversionKind::kReshape, .implicit = false, .shape_rank = 0};
  }
  return {};
}

// Item and shape are ranked each on its own; overloads weigh the shape first.
Conversion OfNumbers(const Type& from, const Type& to) {
  Conversion conversion = Shaped(from, to);
  conversion.item_rank = ItemRank(from.item, to.item);
  if (conversion.kind == ConversionKind::kNumeric && from.item == to.item) {
    conversion.kind = ConversionKind::kSame;
  }
  return conversion;
}

}  // namespace

// spec/hlsl 9.4: 0 the same, or a literal to its natural type; 1 a widening; 2 between int and
// uint; 3 any other.
uint8_t ItemRank(Item from, Item to) {
  if (from == to || (from == Item::kLiteralInt && to == Item::kInt) ||
      (from == Item::kLiteralFloat && to == Item::kFloat)) {
    return 0;
  }
  if (from == Item::kBool) {
    return to == Item::kInt ? 1 : 3;
  }
  const ItemClass a = FactsOf(from).item_class;
  const ItemClass b = FactsOf(to).item_class;
  // Items of one class differ in width alone.
  if (a == b) {
    return FactsOf(from).rank < FactsOf(to).rank ? 1 : 3;
  }
  return IsInteger(from) && IsInteger(to) ? 2 : 3;
}

// spec/hlsl 9.1 and 9.2. A type that failed converts to everything, in silence.
Conversion ConversionOf(const Types& types, TypeId from, TypeId to, Dialect dialect) {
  const Type& source = types[from];
  const Type& target = types[to];
  if (from == to || source.kind == TypeKind::kFailed || target.kind == TypeKind::kFailed) {
    return {.kind = ConversionKind::kSame, .implicit = true, .shape_rank = 0, .item_rank = 0};
  }
  if (source.kind == TypeKind::kNumeric && target.kind == TypeKind::kNumeric) {
    return OfNumbers(source, target);
  }
  // An enum is its underlying type and ranks behind it.
  if (source.kind == TypeKind::kEnum && target.kind == TypeKind::kNumeric) {
    Type underlying = source;
    underlying.kind = TypeKind::kNumeric;
    Conversion conversion = OfNumbers(underlying, target);
    if (conversion.kind == ConversionKind::kSame) {
      conversion.kind = ConversionKind::kNumeric;
    }
    conversion.item_rank = std::max<uint8_t>(1, conversion.item_rank);
    return conversion;
  }
  // Objects have no values that could be converted; only the same object type fits.
  const auto holds_values = [&](const Type& type, TypeId id) {
    return (type.kind == TypeKind::kNumeric || type.kind == TypeKind::kStruct ||
            type.kind == TypeKind::kArray || type.kind == TypeKind::kEnum) &&
           !types.HoldsObject(id);
  };
  if (!holds_values(source, from) || !holds_values(target, to)) {
    return {};
  }
  if (target.kind == TypeKind::kEnum) {  // a cast alone makes one of a number
    const bool scalar = source.kind == TypeKind::kEnum || types.IsScalar(from);
    return {.kind = scalar ? ConversionKind::kNumeric : ConversionKind::kNone};
  }
  // `(S)0`: one scalar fills every leaf.
  const bool to_aggregate = target.kind == TypeKind::kStruct || target.kind == TypeKind::kArray;
  if (to_aggregate && (types.IsScalar(from) || source.kind == TypeKind::kEnum)) {
    return {.kind = ConversionKind::kFill};
  }
  // Leaf by leaf, if there are as many. How many an open type has is known to a variant only.
  if (types.IsOpen(from) || types.IsOpen(to) || types.LeavesOf(from) != types.LeavesOf(to)) {
    return {};
  }
  // Structs convert by themselves in 2018, with HLSL2011; in 2021 they need a cast (spec/hlsl
  // 3.2).
  const bool structs = source.kind == TypeKind::kStruct && target.kind == TypeKind::kStruct;
  return {.kind = ConversionKind::kLeaves,
          .implicit = structs && dialect == Dialect::k2018,
          .reported = structs && dialect == Dialect::k2018};
}

// spec/hlsl 9.3: bool < int < uint < float < double by rank; a literal gives way to the other
// side where its kind allows.
Item CommonItem(Item a, Item b, Purpose purpose) {
  if (a == Item::kBool && b == Item::kBool) {
    return purpose == Purpose::kArithmetic ? Item::kInt : Item::kBool;
  }
  if (a == b) {
    return a;
  }
  if (IsLiteral(b)) {
    std::swap(a, b);
  }
  // Both are concrete: the higher rank wins.
  if (!IsLiteral(a)) {
    return FactsOf(a).rank >= FactsOf(b).rank ? a : b;
  }
  // a is a literal: it takes the other item where its kind allows
  if (IsLiteral(b)) {
    return Item::kLiteralFloat;
  }
  if (a == Item::kLiteralFloat) {
    return IsFloat(b) ? b : Item::kFloat;
  }
  return b == Item::kBool ? Item::kInt : b;
}

// spec/hlsl 9.3 for shapes. Nothing if the two have no common one.
std::optional<CommonType> CommonTypeOf(Types& types, TypeId left, TypeId right, Purpose purpose) {
  const Type a = types[left];
  const Type b = types[right];
  const Item item = CommonItem(a.item, b.item, purpose);
  const ShapeOf x(a);
  const ShapeOf y(b);
  // Equal as shapes: the type as written is kept if both are written alike, else the plain one.
  if (x.form == y.form && x.rows == y.rows && x.columns == y.columns) {
    const bool plain = a.form == b.form && a.rows == b.rows;
    return CommonType{plain                     ? types.WithItem(left, item)
                      : x.form == Form::kScalar ? types.Scalar(item)
                                                : types.Vector(item, x.count)};
  }
  if (x.form == Form::kScalar || y.form == Form::kScalar) {
    return CommonType{types.WithItem(x.form == Form::kScalar ? right : left, item)};
  }
  if (x.form != y.form) {
    const bool four = x.count == 4 && y.count == 4;
    return four ? std::optional(CommonType{types.WithItem(left, item)}) : std::nullopt;
  }
  // Two vectors, or two matrices: the common block, and each side says whether it was cut.
  const uint32_t rows = std::min(x.rows, y.rows);
  const uint32_t columns = std::min(x.columns, y.columns);
  const auto cut = [&](const ShapeOf& shape) {
    return shape.rows > rows || shape.columns > columns;
  };
  const TypeId type =
      x.form == Form::kVector ? types.Vector(item, columns) : types.Matrix(item, rows, columns);
  return CommonType{type, cut(x), cut(y)};
}

}  // namespace kiln::hlsl
