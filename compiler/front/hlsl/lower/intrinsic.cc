// SPDX-License-Identifier: MIT
// Most intrinsics are one builtin for each row of a matrix; those of several instructions have a
// function each.
#include "compiler/front/hlsl/lower/intrinsic.h"

#include <bit>
#include <optional>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/lower/image.h"
#include "compiler/front/hlsl/lower/operator.h"
#include "compiler/front/hlsl/lower/place.h"
#include "compiler/front/hlsl/lower/product.h"
#include "compiler/front/hlsl/lower/shape.h"
#include "compiler/front/hlsl/lower/value.h"

namespace kiln::hlsl {
namespace {

using Values = std::span<const ir::InstId>;

// `row_` is the type of the first argument, by whose items instructions are chosen.
class Lowerer {
 public:
  Lowerer(LowerContext& context, const Expr& expr)
      : context_(context),
        expr_(expr),
        intrinsic_(static_cast<Intrinsic>(expr.op)),
        list_(context.unit.List(ListId{expr.b})) {
    if (!list_.empty()) {
      argument_ = context.Get(ExprId{list_[0]}).type;
      row_ = context.TypeRow(argument_);
    }
  }

  // Barriers have no arguments, and the first argument of an atomic is a place: both come
  // before values.
  ir::InstId Run() {
    if (const std::optional<ir::InstId> barrier = Barrier()) {
      return *barrier;
    }
    if (intrinsic_ >= Intrinsic::kInterlockedAdd &&
        intrinsic_ <= Intrinsic::kInterlockedCompareStore) {
      return Atomic();
    }
    std::vector<ir::InstId> values;
    for (const uint32_t argument : list_) {
      values.push_back(ValueOf(context_, ExprId{argument}));
    }
    context_.at = expr_.at;
    switch (intrinsic_) {
      case Intrinsic::kNonUniformResourceIndex:
        return values[0];
      case Intrinsic::kDot:
        return DotValue(context_, argument_, values[0], values[1]);
      case Intrinsic::kMul:
        return MulValue(context_, expr_, values);
      case Intrinsic::kAll:
      case Intrinsic::kAny:
        return AllOrAny(values[0], row_);
      case Intrinsic::kTranspose:
        return Transpose(values[0]);
      case Intrinsic::kDeterminant:
        return Determinant(values[0]);
      case Intrinsic::kFrexp:
      case Intrinsic::kModf:
        return PartOfTwo(values[0]);
      case Intrinsic::kLength:
      case Intrinsic::kDistance:
      case Intrinsic::kNormalize:
        return Lengths(values);
      case Intrinsic::kClip:
        return Clip(values[0]);
      case Intrinsic::kLit:
        return Lit(values);
      case Intrinsic::kDst:
        return Dst(values);
      case Intrinsic::kD3DCOLORtoUBYTE4:
        return Color(values[0]);
      default:
        return PerRow(values);
    }
  }

 private:
  // Of the first argument's items.
  ir::Scalar scalar() const { return ScalarOf(row_); }
  ir::TypeId Of(uint32_t count) { return context_.Vector(scalar(), count); }

  ir::InstId Builtin(ir::TypeId type, ir::Builtin builtin, std::initializer_list<ir::InstId> list) {
    return context_.Emit(ir::BuiltinCallInst{type, builtin, 0, context_.builder.Ids(list)});
  }
  ir::InstId Builtin(ir::TypeId type, ir::Builtin builtin, Values list) {
    return context_.Emit(ir::BuiltinCallInst{type, builtin, 0, context_.builder.Ids(list)});
  }
  ir::InstId Binary(Operator op, uint32_t count, ir::InstId a, ir::InstId b) {
    return Arithmetic(context_, op, row_.item, count, a, b);
  }
  // A float in each item, rounded to the width of the items.
  ir::InstId Number(uint32_t count, double value) {
    return context_.Repeated(scalar(), count, BitsOf(OfReal(row_.item, value)));
  }

  // By rows if the arguments are matrices (spec/hlsl 6.3), else once.
  ir::InstId PerRow(Values values) {
    std::vector<ShapedOperand> operands;
    for (size_t i = 0; i < values.size(); ++i) {
      operands.push_back({values[i], context_.Get(ExprId{list_[i]}).type});
    }
    return ByRows(context_, expr_.type, operands,
                  [&](Values row, uint32_t count) { return OneRow(row, count); });
  }

  // The builtin of the table for the class of the items. What the table has no builtin for is
  // special.
  ir::InstId OneRow(Values row, uint32_t count) {
    if (const std::optional<ir::InstId> special = Special(row, count)) {
      return *special;
    }
    const IntrinsicFacts& facts = FactsOf(intrinsic_);
    const ItemClass item_class = FactsOf(row_.item).item_class;
    const std::optional<ir::Builtin> builtin = item_class == ItemClass::kFloat ? facts.of_float
                                               : item_class == ItemClass::kSigned
                                                   ? facts.of_signed
                                                   : facts.of_unsigned;
    KILN_CHECK(builtin.has_value(), "intrinsic '{}'", facts.name);
    const Item result = context_.TypeRow(expr_.type).item;
    if (facts.result == IntrinsicResult::kUint) {  // of the item, then as unsigned
      const ir::InstId made = Builtin(Of(count), *builtin, row);
      return ConvertItems(context_, made, row_.item, Item::kUint, count);
    }
    return Builtin(context_.Vector(FactsOf(result).scalar, count), *builtin, row);
  }

  // spec/hlsl 18, column "lowering".
  std::optional<ir::InstId> Special(Values row, uint32_t count) {
    switch (intrinsic_) {
      case Intrinsic::kLog10:
        return Binary(Operator::kMul, count, Builtin(Of(count), ir::Builtin::kLog2, {row[0]}),
                      Number(count, 0.30102999566));
      case Intrinsic::kRcp:
        return Binary(Operator::kDiv, count, Number(count, 1.0), row[0]);
      case Intrinsic::kSaturate:
        // NaN becomes 0 (spec/hlsl 3.1).
        return Builtin(Of(count), ir::Builtin::kNClamp,
                       {row[0], Number(count, 0.0), Number(count, 1.0)});
      case Intrinsic::kAbs:
        return FactsOf(row_.item).item_class == ItemClass::kUnsigned
                   ? row[0]
                   : Builtin(Of(count), ir::Builtin::kAbs, {row[0]});
      case Intrinsic::kSign:
        return Sign(row[0], count);
      case Intrinsic::kMad:
        return IsFloat(row_.item) ? Builtin(Of(count), ir::Builtin::kFma, row)
                                  : Binary(Operator::kAdd, count,
                                           Binary(Operator::kMul, count, row[0], row[1]), row[2]);
      case Intrinsic::kFmod:
        return Binary(Operator::kMod, count, row[0], row[1]);
      case Intrinsic::kLdexp:
        return Binary(Operator::kMul, count, row[0],
                      Builtin(Of(count), ir::Builtin::kExp2, {row[1]}));
      case Intrinsic::kIsfinite:
        return Finite(row[0], count);
      case Intrinsic::kAsfloat:
      case Intrinsic::kAsint:
      case Intrinsic::kAsuint:
        return Bits(row[0], count);
      case Intrinsic::kF16tof32:
      case Intrinsic::kF32tof16:
        return Half(row[0], count);
      default:
        return std::nullopt;
    }
  }

  // spec/hlsl 18: the result is an int, whatever the argument is.
  ir::InstId Sign(ir::InstId value, uint32_t count) {
    if (FactsOf(row_.item).item_class == ItemClass::kUnsigned) {
      const ir::InstId least =
          Builtin(Of(count), ir::Builtin::kMin, {value, context_.Repeated(scalar(), count, 1)});
      return ConvertItems(context_, least, row_.item, Item::kInt, count);
    }
    return ConvertItems(context_, Builtin(Of(count), ir::Builtin::kSign, {value}), row_.item,
                        Item::kInt, count);
  }

  // Neither NaN nor infinite. SPIR-V's own instruction for it is of kernels.
  ir::InstId Finite(ir::InstId value, uint32_t count) {
    const ir::TypeId flags = context_.Vector(ir::Scalar::kBool, count);
    const ir::InstId either = context_.Emit(
        ir::BinaryInst{flags, ir::BinaryOp::kOr, Builtin(flags, ir::Builtin::kIsNan, {value}),
                       Builtin(flags, ir::Builtin::kIsInf, {value})});
    return context_.Emit(ir::UnaryInst{flags, ir::UnaryOp::kNot, either, 0});
  }

  // asfloat and its like: a bitcast, or nothing if the type is the same.
  ir::InstId Bits(ir::InstId value, uint32_t count) {
    const ir::Scalar to = ScalarOf(context_.TypeRow(expr_.type));
    return to == scalar() ? value
                          : context_.Emit(ir::BitcastInst{context_.Vector(to, count), value});
  }

  // Item by item: the functions take two halves at once.
  ir::InstId Half(ir::InstId value, uint32_t count) {
    const bool unpack = intrinsic_ == Intrinsic::kF16tof32;
    const ir::TypeId one = context_.Vector(unpack ? ir::Scalar::kF32 : ir::Scalar::kU32, 1);
    std::vector<ir::InstId> items;
    for (uint32_t i = 0; i < count; ++i) {
      const ir::InstId item = count == 1 ? value : ExtractPart(context_, value, Of(1), i);
      if (unpack) {
        const ir::InstId both =
            Builtin(context_.Vector(ir::Scalar::kF32, 2), ir::Builtin::kUnpackHalf2x16, {item});
        items.push_back(ExtractPart(context_, both, one, 0));
      } else {
        const ir::InstId both = context_.Emit(ir::ConstructInst{
            context_.Vector(ir::Scalar::kF32, 2),
            context_.builder.Ids({item, context_.Repeated(ir::Scalar::kF32, 1, 0)})});
        items.push_back(Builtin(one, ir::Builtin::kPackHalf2x16, {both}));
      }
    }
    return count == 1 ? items[0]
                      : context_.Emit(ir::ConstructInst{
                            context_.Vector(unpack ? ir::Scalar::kF32 : ir::Scalar::kU32, count),
                            context_.builder.Ids(items)});
  }

  // length, distance and normalize of one item: the builtins are of vectors.
  // A normalised scalar is its sign.
  ir::InstId Lengths(Values values) {
    if (CountOf(row_) > 1) {
      return PerRowOrOne(values);
    }
    ir::InstId value = values[0];
    if (intrinsic_ == Intrinsic::kDistance) {
      value = Binary(Operator::kSub, 1, values[0], values[1]);
    }
    const bool sign = intrinsic_ == Intrinsic::kNormalize;
    return Builtin(Of(1), sign ? ir::Builtin::kSign : ir::Builtin::kAbs, {value});
  }
  // A vector has no rows to go through.
  ir::InstId PerRowOrOne(Values values) {
    const IntrinsicFacts& facts = FactsOf(intrinsic_);
    return Builtin(TypeOf(context_, expr_.type), *facts.of_float, values);
  }

  // Of a matrix row by row, then of the rows.
  ir::InstId AllOrAny(ir::InstId value, const Type& row) {
    const ir::TypeId flag = context_.Vector(ir::Scalar::kBool, 1);
    const bool all = intrinsic_ == Intrinsic::kAll;
    const auto of_vector = [&](ir::InstId items, uint32_t count) {
      return count == 1 ? items
                        : Builtin(flag, all ? ir::Builtin::kAll : ir::Builtin::kAny, {items});
    };
    if (ValueForm(row) != Form::kMatrix) {
      return of_vector(value, CountOf(row));
    }
    ir::InstId made;
    for (uint32_t i = 0; i < row.rows; ++i) {
      const ir::InstId line = of_vector(
          ExtractPart(context_, value, context_.Vector(ir::Scalar::kBool, row.columns), i),
          row.columns);
      made = i == 0 ? line
                    : context_.Emit(ir::BinaryInst{
                          flag, all ? ir::BinaryOp::kAnd : ir::BinaryOp::kOr, made, line});
    }
    return made;
  }

  // The builtin transposes floats; other items are taken one by one (spec/hlsl 18).
  ir::InstId Transpose(ir::InstId value) {
    if (ValueForm(row_) != Form::kMatrix) {
      return value;  // a row as a column: the same vector
    }
    const ir::TypeId type = TypeOf(context_, expr_.type);
    if (IsFloat(row_.item)) {
      return Builtin(type, ir::Builtin::kTransposeAny, {value});
    }
    std::vector<ir::InstId> lines;
    for (uint32_t i = 0; i < row_.rows; ++i) {
      lines.push_back(ExtractPart(context_, value, Of(row_.columns), i));
    }
    std::vector<ir::InstId> rows;
    for (uint32_t k = 0; k < row_.columns; ++k) {
      std::vector<ir::InstId> items;
      for (const ir::InstId line : lines) {
        items.push_back(ExtractPart(context_, line, Of(1), k));
      }
      rows.push_back(context_.Emit(ir::ConstructInst{Of(row_.rows), context_.builder.Ids(items)}));
    }
    return context_.Emit(ir::ConstructInst{type, context_.builder.Ids(rows)});
  }

  // A 1x1 matrix is its own determinant.
  ir::InstId Determinant(ir::InstId value) {
    return ValueForm(row_) == Form::kMatrix
               ? Builtin(TypeOf(context_, expr_.type), ir::Builtin::kDeterminant, {value})
               : value;
  }

  // frexp and modf give a struct of two parts, row by row.
  ir::InstId PartOfTwo(ir::InstId value) {
    const ShapedOperand operand{value, argument_};
    const bool frexp = intrinsic_ == Intrinsic::kFrexp;
    return ByRows(context_, expr_.type, std::span(&operand, 1), [&](Values row, uint32_t count) {
      const ir::DeclId parts =
          context_.TwoParts(scalar(), frexp ? ir::Scalar::kS32 : scalar(), count);
      const ir::TypeId type =
          context_.builder.Intern({.kind = ir::TypeKind::kDeclared, .element = parts.value});
      const ir::InstId made =
          Builtin(type, frexp ? ir::Builtin::kFrexp : ir::Builtin::kModf, {row[0]});
      if (expr_.c == 0 || !frexp) {
        return ExtractPart(context_, made, Of(count), expr_.c);
      }
      const ir::InstId exponent =
          ExtractPart(context_, made, context_.Vector(ir::Scalar::kS32, count), 1);
      return ConvertItems(context_, exponent, Item::kInt, row_.item, count);
    });
  }

  // spec/hlsl 18: if any item is below zero the invocation is discarded. NaN is not below zero.
  ir::InstId Clip(ir::InstId value) {
    const ir::TypeId flag = context_.Vector(ir::Scalar::kBool, 1);
    ir::InstId any;
    const uint32_t rows = ValueForm(row_) == Form::kMatrix ? row_.rows : 1;
    const uint32_t count = rows == 1 ? CountOf(row_) : row_.columns;
    for (uint32_t i = 0; i < rows; ++i) {
      const ir::InstId line = rows == 1 ? value : ExtractPart(context_, value, Of(count), i);
      ir::InstId below = Binary(Operator::kLess, count, line, Number(count, 0.0));
      if (count > 1) {
        below = Builtin(flag, ir::Builtin::kAny, {below});
      }
      any = i == 0 ? below : context_.Emit(ir::BinaryInst{flag, ir::BinaryOp::kOr, any, below});
    }
    const ir::BlockId block = context_.builder.BeginBlock();
    context_.Emit(ir::DemoteInst{context_.builder.Void()});
    context_.builder.EndBlock();
    return context_.Emit(ir::IfInst{context_.builder.Void(), any, context_.builder.Ids({block})});
  }

  // (1, max (l, 0), l < 0 or h < 0 ? 0 : pow (h, m), 1)
  // spec/hlsl 3.1: power, as Direct3D has it.
  ir::InstId Lit(Values v) {
    const ir::TypeId flag = context_.Vector(ir::Scalar::kBool, 1);
    const ir::InstId zero = Number(1, 0.0);
    const ir::InstId one = Number(1, 1.0);
    const ir::InstId diffuse = Builtin(Of(1), ir::Builtin::kNMax, {v[0], zero});
    const ir::InstId dark = context_.Emit(ir::BinaryInst{flag, ir::BinaryOp::kOr,
                                                         Binary(Operator::kLess, 1, v[0], zero),
                                                         Binary(Operator::kLess, 1, v[1], zero)});
    const ir::InstId power = Builtin(Of(1), ir::Builtin::kPow, {v[1], v[2]});
    const ir::InstId specular =
        context_.Emit(ir::SelectInst{Of(1), dark, context_.builder.Ids({zero, power})});
    return context_.Emit(
        ir::ConstructInst{Of(4), context_.builder.Ids({one, diffuse, specular, one})});
  }

  // (1, a.y b.y, a.z, b.w)
  ir::InstId Dst(Values v) {
    const auto item = [&](ir::InstId value, uint32_t i) {
      return ExtractPart(context_, value, Of(1), i);
    };
    const ir::InstId y = Binary(Operator::kMul, 1, item(v[0], 1), item(v[1], 1));
    return context_.Emit(ir::ConstructInst{
        Of(4), context_.builder.Ids({Number(1, 1.0), y, item(v[0], 2), item(v[1], 3)})});
  }

  // int4 (v.zyxw * 255.001953)
  ir::InstId Color(ir::InstId value) {
    static constexpr uint8_t kOrder[4] = {2, 1, 0, 3};
    const ir::InstId turned =
        context_.Emit(ir::SwizzleInst{Of(4), value, ir::PackSwizzle(4, kOrder)});
    const ir::InstId scaled = Binary(Operator::kMul, 4, turned, Number(4, 255.001953));
    return ConvertItems(context_, scaled, Item::kFloat, Item::kInt, 4);
  }

  // Nothing if the intrinsic is no barrier. Kinds and scope are those of spec/hlsl 18.
  std::optional<ir::InstId> Barrier() {
    using enum Intrinsic;
    const bool waits = intrinsic_ == kGroupMemoryBarrierWithGroupSync ||
                       intrinsic_ == kDeviceMemoryBarrierWithGroupSync ||
                       intrinsic_ == kAllMemoryBarrierWithGroupSync;
    const bool group =
        intrinsic_ == kGroupMemoryBarrier || intrinsic_ == kGroupMemoryBarrierWithGroupSync;
    const bool device =
        intrinsic_ == kDeviceMemoryBarrier || intrinsic_ == kDeviceMemoryBarrierWithGroupSync;
    const bool all =
        intrinsic_ == kAllMemoryBarrier || intrinsic_ == kAllMemoryBarrierWithGroupSync;
    if (!group && !device && !all) {
      return std::nullopt;
    }
    const auto bit = [](ir::MemoryKind kind) { return 1u << static_cast<uint32_t>(kind); };
    uint32_t kinds = device ? 0 : bit(ir::MemoryKind::kWorkgroup);
    if (!group) {
      kinds |= bit(ir::MemoryKind::kBuffer) | bit(ir::MemoryKind::kImage);
      // Scope kNone: nobody waits.
    }
    const ir::BarrierMode mode{
        .execution = waits ? ir::MemoryScope::kWorkgroup : ir::MemoryScope::kNone,
        .scope = group ? ir::MemoryScope::kWorkgroup : ir::MemoryScope::kDevice,
        .kinds = static_cast<uint8_t>(kinds)};
    return context_.Emit(ir::BarrierInst{context_.builder.Void(), ir::Pack(mode)});
  }

  // spec/hlsl 10.3: values before the place.
  // Values are computed first, since computing one may change what the place is reached by.
  ir::InstId Atomic() {
    using enum Intrinsic;
    std::vector<ir::InstId> values;
    for (size_t i = 1; i < list_.size(); ++i) {
      values.push_back(ValueOf(context_, ExprId{list_[i]}));
    }
    const Place place = PlaceOf(context_, ExprId{list_[0]});
    context_.at = expr_.at;
    std::vector<ir::InstId> operands{place.is_texel() ? TexelInst(context_, place)
                                                      : PlaceInst(context_, place)};
    operands.insert(operands.end(), values.begin(), values.end());
    const ir::AtomicOp op = intrinsic_ == kInterlockedAdd        ? ir::AtomicOp::kAdd
                            : intrinsic_ == kInterlockedAnd      ? ir::AtomicOp::kAnd
                            : intrinsic_ == kInterlockedOr       ? ir::AtomicOp::kOr
                            : intrinsic_ == kInterlockedXor      ? ir::AtomicOp::kXor
                            : intrinsic_ == kInterlockedMin      ? ir::AtomicOp::kMin
                            : intrinsic_ == kInterlockedMax      ? ir::AtomicOp::kMax
                            : intrinsic_ == kInterlockedExchange ? ir::AtomicOp::kExchange
                                                                 : ir::AtomicOp::kCompareExchange;
    return context_.Emit(ir::AtomicInst{
        TypeOf(context_, expr_.type), op,
        ir::Pack({IsShared() ? ir::MemoryScope::kWorkgroup : ir::MemoryScope::kDevice,
                  ir::MemoryOrder::kRelaxed}),
        context_.builder.Ids(operands)});
  }

  // Scope follows from where the place lies: groupshared memory is the workgroup's.
  bool IsShared() const {
    ExprId id{list_[0]};
    while (context_.Get(id).kind == ExprKind::kIndex ||
           context_.Get(id).kind == ExprKind::kMember) {
      id = ExprId{context_.Get(id).a};
    }
    const Expr& root = context_.Get(id);
    return root.kind == ExprKind::kGlobal &&
           context_.unit.globals[root.a].kind == GlobalKind::kShared;
  }

  LowerContext& context_;
  const Expr& expr_;
  const Intrinsic intrinsic_;
  const std::span<const uint32_t> list_;
  TypeId argument_;
  Type row_;
};

}  // namespace

// Requires: the arguments are those that the check has converted.
ir::InstId IntrinsicValue(LowerContext& context, const Expr& expr) {
  return Lowerer(context, expr).Run();
}

}  // namespace kiln::hlsl
