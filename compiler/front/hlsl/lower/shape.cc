// SPDX-License-Identifier: MIT
// Conversions of values that exist. Everything is split into what happens to items and what
// happens to shapes; matrices are taken row by row and put together again, since the IR's
// instructions work on vectors.
#include "compiler/front/hlsl/lower/shape.h"

#include <array>
#include <bit>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {
namespace {

// 1 in the representation of a scalar.
// In the bits of the scalar, which constants are made of.
uint64_t OneOf(ir::Scalar scalar) {
  return scalar == ir::Scalar::kF32   ? std::bit_cast<uint32_t>(1.0F)
         : scalar == ir::Scalar::kF64 ? std::bit_cast<uint64_t>(1.0)
                                      : 1;
}

}  // namespace

// The table of spec/hlsl 9.1, by scalars of the IR: halves are floats there.
ir::InstId ConvertItems(LowerContext& context, ir::InstId value, Item from, Item to,
                        uint32_t count) {
  const ir::Scalar source = FactsOf(from).scalar;
  const ir::Scalar target = FactsOf(to).scalar;
  if (source == target) {
    return value;
  }
  const ir::TypeId type = context.Vector(target, count);
  if (target == ir::Scalar::kBool) {
    const ir::InstId zero = context.Repeated(source, count, 0);
    return context.Emit(ir::BinaryInst{type, ir::BinaryOp::kNotEqual, value, zero});
  }
  if (source == ir::Scalar::kBool) {
    const ir::InstId one = context.Repeated(target, count, OneOf(target));
    const ir::InstId zero = context.Repeated(target, count, 0);
    return context.Emit(ir::SelectInst{type, value, context.builder.Ids({one, zero})});
  }
  if (ir::IsIntegerScalar(source) && ir::IsIntegerScalar(target)) {
    return context.Emit(ir::BitcastInst{type, value});
  }
  return context.Emit(ir::ConvertInst{type, value});
}

// Requires: one shape. What is no number is the same value under another name.
ir::InstId ConvertValue(LowerContext& context, ir::InstId value, TypeId from, TypeId to) {
  const Type source = context.TypeRow(from);
  const Type target = context.TypeRow(to);
  const bool numbers = (source.kind == TypeKind::kNumeric || source.kind == TypeKind::kEnum) &&
                       (target.kind == TypeKind::kNumeric || target.kind == TypeKind::kEnum);
  if (!numbers || AreOneScalar(source.item, target.item)) {
    return value;
  }
  const ShapedOperand operand{value, from};
  return ByRows(context, to, std::span(&operand, 1),
                [&](std::span<const ir::InstId> row, uint32_t count) {
                  return ConvertItems(context, row[0], source.item, target.item, count);
                });
}

// spec/hlsl 11: a scalar has `.x`, and splats for more letters.
ir::InstId SwizzleValue(LowerContext& context, ir::InstId value, ir::Scalar scalar, uint32_t count,
                        uint32_t packed) {
  const uint32_t letters = ir::SwizzleCount(packed);
  const ir::TypeId type = context.Vector(scalar, letters);
  if (count == 1) {
    return letters == 1 ? value : context.Emit(ir::SplatInst{type, value});
  }
  if (letters == 1) {
    return context.Emit(ir::ExtractInst{type, value, ir::SwizzleLetter(packed, 0)});
  }
  return context.Emit(ir::SwizzleInst{type, value, packed});
}

// spec/hlsl 9.2: the first items of the first rows.
ir::InstId TruncateValue(LowerContext& context, ir::InstId value, TypeId from, TypeId to) {
  static constexpr uint8_t kFirst[4] = {0, 1, 2, 3};
  const Type source = context.TypeRow(from);
  const Type target = context.TypeRow(to);
  const ir::Scalar scalar = ScalarOf(source);
  const auto cut = [&](ir::InstId row, uint32_t columns, uint32_t kept) {
    return columns == kept
               ? row
               : SwizzleValue(context, row, scalar, columns, ir::PackSwizzle(kept, kFirst));
  };
  if (ValueForm(source) != Form::kMatrix) {
    return cut(value, CountOf(source), CountOf(target));
  }
  const auto row = [&](uint32_t i) {
    return context.Emit(ir::ExtractInst{context.Vector(scalar, source.columns), value, i});
  };
  // To a column: the first item of each row.
  if (target.form == Form::kMatrix && target.columns == 1 && target.rows > 1) {
    std::vector<ir::InstId> items;  // the first of each row
    for (uint32_t i = 0; i < target.rows; ++i) {
      items.push_back(cut(row(i), source.columns, 1));
    }
    return context.Emit(ir::ConstructInst{TypeOf(context, to), context.builder.Ids(items)});
  }
  if (ValueForm(target) != Form::kMatrix) {
    return cut(row(0), source.columns, CountOf(target));
  }
  std::vector<ir::InstId> rows;
  for (uint32_t i = 0; i < target.rows; ++i) {
    rows.push_back(cut(row(i), source.columns, target.columns));
  }
  return context.Emit(ir::ConstructInst{TypeOf(context, to), context.builder.Ids(rows)});
}

// Of a matrix: one row, which all rows are.
ir::InstId SplatValue(LowerContext& context, ir::InstId scalar, TypeId to) {
  const Type target = context.TypeRow(to);
  switch (ValueForm(target)) {
    case Form::kScalar:
      return scalar;
    case Form::kVector:
      return context.Emit(ir::SplatInst{TypeOf(context, to), scalar});
    case Form::kMatrix:
      break;
  }
  const ir::InstId row =
      context.Emit(ir::SplatInst{context.Vector(ScalarOf(target), target.columns), scalar});
  return context.Emit(ir::ConstructInst{
      TypeOf(context, to), context.builder.Ids(std::vector<ir::InstId>(target.rows, row))});
}

// Of an array, a matrix (a row), a vector or a struct: `part` says of what type the part is.
ir::InstId ExtractPart(LowerContext& context, ir::InstId value, ir::TypeId part, uint32_t index) {
  return context.Emit(ir::ExtractInst{part, value, index});
}

// As deep as types nest.
// Items of arrays are one value that is repeated, so the cost is that of the type, not of its
// leaves.
ir::InstId FillValue(LowerContext& context, ir::InstId scalar, Item item, TypeId to) {
  CheckStop();
  const Type type = context.TypeRow(to);
  if (type.kind == TypeKind::kNumeric || type.kind == TypeKind::kEnum) {
    const ir::InstId one = ConvertItems(context, scalar, item, type.item, 1);
    return type.kind == TypeKind::kEnum ? one : SplatValue(context, one, to);
  }
  std::vector<ir::InstId> parts;
  if (type.kind == TypeKind::kArray) {
    ChargeMemory(type.extent * sizeof(ir::InstId));
    parts.assign(type.extent, FillValue(context, scalar, item, context.unit.types.ElementOf(to)));
  } else {
    for (uint32_t i = 0; i < context.unit.types.StructOf(to).count; ++i) {
      parts.push_back(FillValue(context, scalar, item, context.unit.types.MemberOf(to, i).type));
    }
    if (parts.empty()) {
      return context.Emit(
          ir::LoadInst{TypeOf(context, to), context.Emit(ir::TempInst{TypeOf(context, to)})});
    }
  }
  return context.Emit(ir::ConstructInst{TypeOf(context, to), context.builder.Ids(parts)});
}

}  // namespace kiln::hlsl
