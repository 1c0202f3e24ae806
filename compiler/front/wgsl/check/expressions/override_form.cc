// SPDX-License-Identifier: MIT
// An override is baked into a variant (spec/wgsl 5.4), so an expression over overrides must be
// one that the IR computes when a variant is specialised. This is the test for that, and the
// table of the operators; lowering translates exactly what passes it. Keep the two in step:
// what passes here and is not known there fails a check of kiln, not of the source.
#include "compiler/front/wgsl/check/expressions/override_form.h"

namespace kiln::wgsl::front {

// The operators that the IR has for compile-time expressions. What is missing here is refused
// for overrides with WGSL1008, never computed in another way.
std::optional<ir::CexprOp> CexprOpOf(Function function, size_t operands) {
  if (operands == 1) {
    switch (function) {
      case Function::kNegate:
        return ir::CexprOp::kNegate;
      case Function::kNot:
        return ir::CexprOp::kNot;
      case Function::kComplement:
        return ir::CexprOp::kComplement;
      default:
        return std::nullopt;
    }
  }
  switch (function) {
#define KILN_WGSL_ROW(function, op) \
  case Function::k##function:       \
    return ir::CexprOp::k##op;
    KILN_WGSL_ROW(Add, Add)
    KILN_WGSL_ROW(Sub, Sub)
    KILN_WGSL_ROW(Mul, Mul)
    KILN_WGSL_ROW(Div, Div)
    KILN_WGSL_ROW(Rem, Mod)
    KILN_WGSL_ROW(And, And)
    KILN_WGSL_ROW(Or, Or)
    KILN_WGSL_ROW(Xor, Xor)
    KILN_WGSL_ROW(ShiftLeft, ShiftLeft)
    KILN_WGSL_ROW(ShiftRight, ShiftRight)
    KILN_WGSL_ROW(Less, Less)
    KILN_WGSL_ROW(Greater, Greater)
    KILN_WGSL_ROW(LessEqual, LessEqual)
    KILN_WGSL_ROW(GreaterEqual, GreaterEqual)
    KILN_WGSL_ROW(Equal, Equal)
    KILN_WGSL_ROW(NotEqual, NotEqual)
#undef KILN_WGSL_ROW
    default:
      return std::nullopt;
  }
}

// There is no 16-bit value among options; an override of type f16 is refused by what asks.
std::optional<ir::ValueKind> CexprKindOf(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::kBool:
      return ir::ValueKind::kFlag;
    case ScalarKind::kI32:
      return ir::ValueKind::kSint;
    case ScalarKind::kU32:
      return ir::ValueKind::kUint;
    case ScalarKind::kF32:
      return ir::ValueKind::kFloat;
    default:
      return std::nullopt;
  }
}

// `depth` bounds the recursion: a sum of a thousand overrides is deeper than any limit and is
// refused.
bool IsCexpr(const Unit& unit, ExprId id, uint32_t depth) {
  if (depth == 0) {
    return false;
  }
  const Expr& expr = unit[id];
  if (unit.types[expr.type].kind != TypeKind::kScalar ||
      !CexprKindOf(unit.types[expr.type].scalar).has_value()) {
    return false;
  }
  switch (expr.kind) {
    case ExprKind::kConstant:
    case ExprKind::kOverride:
      return true;
    case ExprKind::kConvert:
      return IsCexpr(unit, ExprId{expr.a}, depth - 1);
    case ExprKind::kLogical:
      return IsCexpr(unit, ExprId{expr.a}, depth - 1) && IsCexpr(unit, ExprId{expr.b}, depth - 1);
    case ExprKind::kOperation: {
      const std::span<const uint32_t> list = unit.List(ListId{expr.b});
      bool right = CexprOpOf(static_cast<Function>(expr.op), list.size()).has_value();
      for (const uint32_t operand : list) {
        right = right && IsCexpr(unit, ExprId{operand}, depth - 1);
      }
      return right;
    }
    default:
      return false;
  }
}

}  // namespace kiln::wgsl::front
