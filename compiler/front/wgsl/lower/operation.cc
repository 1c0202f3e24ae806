// SPDX-License-Identifier: MIT
// Functions that are one builtin of the IR say so in functions.def. The rest is written out here:
// what WGSL defines where SPIR-V does not (`clamp` with bounds in the wrong order, fields of bits
// that leave the word) gets operands for which both agree.
// A function that the IR lacks is written out by those that it has, in terms whose results are
// defined for all operands. Where WGSL defines more than SPIR-V, the instruction carries a flag
// and the emitter writes the guard; nothing is guarded twice.
#include "compiler/front/wgsl/lower/operation.h"

#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/wgsl/lower/memory.h"
#include "compiler/front/wgsl/lower/packing.h"
#include "compiler/front/wgsl/lower/texture.h"
#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/value.h"

namespace kiln::wgsl::front {
namespace {

using ir::BinaryOp;

// The remainder of WGSL has the sign of the dividend: Rem of signed integers and floats.
// Without signs Mod is the same.
std::optional<BinaryOp> BinaryOf(Function function, bool is_signed, bool is_float) {
  switch (function) {
    case Function::kAdd:
      return BinaryOp::kAdd;
    case Function::kSub:
      return BinaryOp::kSub;
    case Function::kMul:
      return BinaryOp::kMul;
    case Function::kDiv:
      return BinaryOp::kDiv;
    case Function::kRem:
      return is_signed || is_float ? BinaryOp::kRem : BinaryOp::kMod;
    case Function::kAnd:
      return BinaryOp::kAnd;
    case Function::kOr:
      return BinaryOp::kOr;
    case Function::kXor:
      return BinaryOp::kXor;
    case Function::kShiftLeft:
      return BinaryOp::kShiftLeft;
    case Function::kShiftRight:
      return is_signed ? BinaryOp::kShiftRightArithmetic : BinaryOp::kShiftRight;
    case Function::kLess:
      return BinaryOp::kLess;
    case Function::kGreater:
      return BinaryOp::kGreater;
    case Function::kLessEqual:
      return BinaryOp::kLessEqual;
    case Function::kGreaterEqual:
      return BinaryOp::kGreaterEqual;
    case Function::kEqual:
      return BinaryOp::kEqual;
    case Function::kNotEqual:
      return BinaryOp::kNotEqual;
    default:
      return std::nullopt;
  }
}

// One operation over values that are there already. `first_` is the type of the first operand,
// from which most results follow.
class NumericLowering {
 public:
  NumericLowering(LowerContext& context, const NumericOperation& what,
                  std::vector<ir::InstId> operands)
      : context_(context),
        what_(what),
        x_(std::move(operands)),
        first_(context.types[what.operand_types[0]]),
        type_(TypeOf(context, what.operand_types[0])),
        result_(TypeOf(context, what.result)) {}

  // Operators, then functions that are one builtin of the IR, then the rest.
  ir::InstId Make() {
    if (const std::optional<BinaryOp> op =
            BinaryOf(what_.function, what_.scalar == ScalarKind::kI32, IsFloat(what_.scalar));
        op.has_value() && x_.size() == 2) {
      return Binary(*op);
    }
    if (const std::optional<ir::Builtin> builtin = FactsOf(what_.function).builtin) {
      return context_.Emit(ir::BuiltinCallInst{result_, *builtin, 0, context_.builder.Ids(x_)});
    }
    return Special();
  }

 private:
  ir::InstId Call(ir::TypeId type, ir::Builtin builtin, std::initializer_list<ir::InstId> list) {
    return context_.Emit(ir::BuiltinCallInst{type, builtin, 0, context_.builder.Ids(list)});
  }
  ir::InstId Op(ir::TypeId type, BinaryOp op, ir::InstId a, ir::InstId b) {
    return context_.Emit(ir::BinaryInst{type, op, a, b});
  }
  ir::InstId Same(uint64_t bits) {
    return context_.Repeated(ScalarOf(what_.scalar), first_.rows, bits);
  }
  bool IsVectorAt(size_t i) const {
    return context_.types[what_.operand_types[i]].kind == TypeKind::kVector;
  }
  bool IsMatrixAt(size_t i) const {
    return context_.types[what_.operand_types[i]].kind == TypeKind::kMatrix;
  }

  // A scalar beside a vector counts for each item, but products with matrices have both.
  ir::InstId Binary(BinaryOp op) {
    if (!IsMatrixAt(0) && !IsMatrixAt(1) && IsVectorAt(0) != IsVectorAt(1)) {
      const size_t scalar = IsVectorAt(0) ? 1 : 0;
      x_[scalar] = context_.Emit(
          ir::SplatInst{TypeOf(context_, what_.operand_types[1 - scalar]), x_[scalar]});
    }
    // Products of a scalar and a matrix have one form in the IR; multiplication of them
    // commutes.
    if (IsMatrixAt(1) && !IsMatrixAt(0) && !IsVectorAt(0)) {  // the IR has the matrix first
      std::swap(x_[0], x_[1]);
    }
    ir::InstId right = x_[1];
    const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kRem || op == BinaryOp::kMod;
    const bool shifts = op == BinaryOp::kShiftLeft || op == BinaryOp::kShiftRight ||
                        op == BinaryOp::kShiftRightArithmetic;
    // The count is u32 in WGSL and of the type of the left side in the IR.
    if (shifts && what_.scalar == ScalarKind::kI32) {
      right = context_.Emit(ir::BitcastInst{type_, right});
    }
    const ir::BinaryInst inst{result_, op, x_[0], right};
    // spec/wgsl 5.7: the flag makes the result defined where it is not in SPIR-V.
    return shifts || (divides && IsInteger(what_.scalar))
               ? context_.Emit(inst, ir::InstFlag::kTotal)
               : context_.Emit(inst);
  }

  // Functions without a row in the IR. Default: those of bits.
  ir::InstId Special() {
    switch (what_.function) {
      case Function::kNegate:
        return Negated();
      case Function::kNot:
        return context_.Emit(ir::UnaryInst{result_, ir::UnaryOp::kNot, x_[0], 0});
      case Function::kComplement:
        return context_.Emit(ir::UnaryInst{result_, ir::UnaryOp::kComplement, x_[0], 0});
      case Function::kAbs:
        return what_.scalar == ScalarKind::kU32 ? x_[0] : Call(result_, ir::Builtin::kAbs, {x_[0]});
      // min(max(x, low), high), the formula of WGSL: the builtin of SPIR-V is undefined for
      // bounds in the wrong order.
      case Function::kClamp:
        return Call(result_, ir::Builtin::kMin,
                    {Call(result_, ir::Builtin::kMax, {x_[0], x_[1]}), x_[2]});
      case Function::kSaturate:
        // The bounds are in order, so the builtin may be used.
        return Call(result_, ir::Builtin::kClamp,
                    {x_[0], Same(BitsOf(what_.scalar, WordOf(0.0))),
                     Same(BitsOf(what_.scalar, WordOf(1.0)))});
      case Function::kMix:
        if (!IsVectorAt(2) && IsVectorAt(0)) {
          x_[2] = context_.Emit(ir::SplatInst{type_, x_[2]});
        }
        return Call(result_, ir::Builtin::kMix, {x_[0], x_[1], x_[2]});
      case Function::kDistance:
      case Function::kLength:
        return Length();
      case Function::kDot:
        return Call(result_, IsFloat(what_.scalar) ? ir::Builtin::kDot : ir::Builtin::kDotIntegers,
                    {x_[0], x_[1]});
      // select(f, t, c) of WGSL has the value for false first, the IR the one for true.
      case Function::kSelect:
        return context_.Emit(ir::SelectInst{result_, x_[2], context_.builder.Ids({x_[1], x_[0]})});
      // Of one flag both are the flag.
      case Function::kAll:
      case Function::kAny:
        return !IsVectorAt(0)
                   ? x_[0]
                   : Call(result_,
                          what_.function == Function::kAll ? ir::Builtin::kAll : ir::Builtin::kAny,
                          {x_[0]});
      case Function::kFrexp:
        return Call(result_, ir::Builtin::kFrexp, {x_[0]});
      case Function::kModf:
        return Call(result_, ir::Builtin::kModf, {x_[0]});
      case Function::kFwidthCoarse:
        return Width(ir::Builtin::kDdxCoarse, ir::Builtin::kDdyCoarse);
      case Function::kFwidthFine:
        return Width(ir::Builtin::kDdxFine, ir::Builtin::kDdyFine);
      case Function::kBitcast:
        return context_.Emit(ir::BitcastInst{result_, x_[0]});
      default:
        return Bits();
    }
  }

  // Columns one by one: the IR negates vectors.
  // A matrix is negated column by column.
  ir::InstId Negated() {
    if (!IsMatrixAt(0)) {
      return context_.Emit(ir::UnaryInst{result_, ir::UnaryOp::kNegate, x_[0], 0});
    }
    const ir::TypeId column = context_.Vector(ScalarOf(what_.scalar), first_.rows);
    std::vector<ir::InstId> columns;
    for (uint32_t i = 0; i < first_.columns; ++i) {
      const ir::InstId one = context_.Emit(ir::ExtractInst{column, x_[0], i});
      columns.push_back(context_.Emit(ir::UnaryInst{column, ir::UnaryOp::kNegate, one, 0}));
    }
    return context_.Emit(ir::ConstructInst{result_, context_.builder.Ids(columns)});
  }

  ir::InstId Length() {
    const ir::InstId apart =
        what_.function == Function::kDistance ? Op(type_, BinaryOp::kSub, x_[0], x_[1]) : x_[0];
    return Call(result_, IsVectorAt(0) ? ir::Builtin::kLength : ir::Builtin::kAbs, {apart});
  }

  // |d/dx| + |d/dy|, WGSL's definition, with the kind of derivative that the name says.
  ir::InstId Width(ir::Builtin x, ir::Builtin y) {
    return Op(result_, BinaryOp::kAdd,
              Call(result_, ir::Builtin::kAbs, {Call(result_, x, {x_[0]})}),
              Call(result_, ir::Builtin::kAbs, {Call(result_, y, {x_[0]})}));
  }

  // --- bits of words
  // Results are found for words without a sign and taken back to the type of the operand:
  // SPIR-V's search for bits is one of bits, whatever the type.
  ir::InstId Bits() {
    const ir::TypeId words = context_.Vector(ir::Scalar::kU32, first_.rows);
    const auto same = [&](uint32_t value) {
      return context_.Repeated(ir::Scalar::kU32, first_.rows, value);
    };
    const auto as_words = [&](ir::InstId value) {
      return what_.scalar == ScalarKind::kI32 ? context_.Emit(ir::BitcastInst{words, value})
                                              : value;
    };
    const auto back = [&](ir::InstId value) {
      return what_.scalar == ScalarKind::kI32 ? context_.Emit(ir::BitcastInst{result_, value})
                                              : value;
    };
    switch (what_.function) {
      // 31 - msb: of 0 the position is -1, so that the difference wraps to 32.
      case Function::kCountLeadingZeros:
        return back(Op(words, BinaryOp::kSub, same(31),
                       Call(words, ir::Builtin::kFindMsb, {as_words(x_[0])})));
      // Of 0 the position is -1, the largest word, which min makes 32.
      case Function::kCountTrailingZeros:
        return back(Call(words, ir::Builtin::kMin,
                         {Call(words, ir::Builtin::kFindLsb, {as_words(x_[0])}), same(32)}));
      case Function::kExtractBits: {
        const auto [offset, count] = Field(x_[1], x_[2]);
        return Call(result_, ir::Builtin::kBitFieldExtract, {x_[0], offset, count});
      }
      case Function::kInsertBits: {
        const auto [offset, count] = Field(x_[2], x_[3]);
        return Call(result_, ir::Builtin::kBitFieldInsert, {x_[0], x_[1], offset, count});
      }
      default:
        return Packing(context_, what_.function, x_);
    }
  }

  // A field that lies in the word.
  // WGSL, "Bit Built-in Functions": offset and count are cut so that the field ends in the
  // word. SPIR-V leaves it undefined otherwise.
  std::pair<ir::InstId, ir::InstId> Field(ir::InstId offset, ir::InstId count) {
    const ir::TypeId word = context_.Vector(ir::Scalar::kU32, 1);
    offset = Call(word, ir::Builtin::kMin, {offset, context_.Uint(32)});
    const ir::InstId left = Op(word, BinaryOp::kSub, context_.Uint(32), offset);
    return {offset, Call(word, ir::Builtin::kMin, {count, left})};
  }

  LowerContext& context_;
  const NumericOperation& what_;
  std::vector<ir::InstId> x_;
  const Type first_;
  const ir::TypeId type_;
  const ir::TypeId result_;
};

}  // namespace

ir::InstId Numeric(LowerContext& context, const NumericOperation& what,
                   std::vector<ir::InstId> operands) {
  return NumericLowering(context, what, std::move(operands)).Make();
}

// The first operand may be there already: chains of operators are walked by a loop in
// lower/value.
ir::InstId Operation(LowerContext& context, const Expr& expr, ir::InstId first) {
  const auto function = static_cast<Function>(expr.op);
  if (function >= Function::kTextureDimensions) {
    return TextureOperation(context, expr);
  }
  if (function >= Function::kArrayLength) {
    return MemoryOperation(context, expr);
  }
  const std::span<const uint32_t> list = context.unit.List(ListId{expr.b});
  std::vector<ir::InstId> operands;
  std::vector<TypeId> types;
  for (size_t i = 0; i < list.size(); ++i) {
    operands.push_back(i == 0 && first.valid() ? first : ValueOf(context, ExprId{list[i]}));
    types.push_back(context.Get(ExprId{list[i]}).type);
  }
  context.at = expr.at;
  return Numeric(context,
                 {.function = function,
                  .scalar = context.types[types[0]].scalar,
                  .result = expr.type,
                  .operand_types = types},
                 std::move(operands));
}

// By shapes and scalars. Matrices convert column by column.
ir::InstId Convert(LowerContext& context, const Expr& expr, ir::InstId value) {
  const Type from = context.TypeRowOf(ExprId{expr.a});
  const Type to = context.types[expr.type];
  const ir::TypeId type = TypeOf(context, expr.type);
  if (to.kind == TypeKind::kMatrix) {
    const ir::TypeId column = context.Vector(ScalarOf(to.scalar), to.rows);
    const ir::TypeId source = context.Vector(ScalarOf(from.scalar), from.rows);
    std::vector<ir::InstId> columns;
    for (uint32_t i = 0; i < to.columns; ++i) {
      const ir::InstId one = context.Emit(ir::ExtractInst{source, value, i});
      columns.push_back(context.Emit(ir::ConvertInst{column, one}));
    }
    return context.Emit(ir::ConstructInst{type, context.builder.Ids(columns)});
  }
  // WGSL, "bool" as a constructor: what is not zero is true.
  if (to.scalar == ScalarKind::kBool) {
    const uint64_t zero = 0;
    return context.Emit(ir::BinaryInst{type, BinaryOp::kNotEqual, value,
                                       context.Repeated(ScalarOf(from.scalar), to.rows, zero)});
  }
  if (from.scalar == ScalarKind::kBool) {
    const Word one = IsFloat(to.scalar) ? WordOf(1.0) : Word{1};
    const ir::InstId set = context.Repeated(ScalarOf(to.scalar), to.rows, BitsOf(to.scalar, one));
    const ir::InstId unset = context.Repeated(ScalarOf(to.scalar), to.rows, 0);
    return context.Emit(ir::SelectInst{type, value, context.builder.Ids({set, unset})});
  }
  // Between words only the meaning of the bits changes.
  if (IsInteger(from.scalar) && IsInteger(to.scalar)) {
    return context.Emit(ir::BitcastInst{type, value});
  }
  const ir::ConvertInst inst{type, value};
  // WGSL, "Floating Point Conversion": too large is the largest, NaN is not defined by SPIR-V
  // without the flag.
  return IsFloat(from.scalar) && IsInteger(to.scalar)
             ? context.Emit(inst, ir::InstFlag::kSaturating)
             : context.Emit(inst);
}

// Below zero becomes far above the end, so that one comparison bounds it.
ir::InstId IndexStep(LowerContext& context, ExprId id) {
  const ir::InstId value = ValueOf(context, id);
  return context.TypeRowOf(id).scalar == ScalarKind::kI32
             ? context.Emit(ir::BitcastInst{context.Vector(ir::Scalar::kU32, 1), value})
             : value;
}

}  // namespace kiln::wgsl::front
