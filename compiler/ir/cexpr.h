// SPDX-License-Identifier: MIT
// Compile-time expressions: interned rows, operands before users. A condition is a Cexpr that
// yields a flag; row 0 is the literal `true`. Names are bound by resolve, because the option or
// constant may be declared by another module. Wrong constructs are rows too (kInvalid): they are
// diagnosed only when asked, since an unreached declaration is never evaluated (spec/rpl 8.1).
//
// Rows carry no spans, so that equal expressions are one query. Whoever *uses* a cexpr keeps the
// number of the first of a run of spans, one per node of the expression tree in pre-order; the
// evaluator reports errors as (pre-order node number) and the user adds its run.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compiler/ir/ids.h"

namespace kiln::ir {

enum class CexprOp : uint16_t {
  kLiteral,  // kind = ValueKind, a = bits (flag 0/1, uint, sint, float bits) or StringId (string)
  kName,     // a = StringId
  kNegate,
  kNot,
  kComplement,
  kPlus,  // a
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,  // a, b
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kLogicalAnd,
  kLogicalOr,  // a, b
  kConvert,    // kind = target ValueKind, a
  kSelect,     // a ? b : c with b = ListId of two cexprs (version 2)
  kComposite,  // typed constants (version 2): a = TypeId (generic), b = ListId of cexprs
  kInvalid,  // kind = InvalidCexpr, a = StringId of the offending text, b = number (argument count)
};

enum class ValueKind : uint16_t { kFlag, kUint, kSint, kFloat, kString, kFailed };

enum class InvalidCexpr : uint16_t {
  kFieldAccess,
  kIndex,
  kAssignment,
  kCall,              // RPL3011
  kConstructorType,   // RPL3015
  kConstructorCount,  // RPL3016
};

struct Cexpr {
  CexprOp op = CexprOp::kLiteral;
  uint16_t kind = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t zero = 0;  // 1: kWrapping, of an operator that MayWrap
  friend bool operator==(const Cexpr&, const Cexpr&) = default;
};
static_assert(sizeof(Cexpr) == 16 && std::is_trivially_copyable_v<Cexpr>);

inline constexpr CexprId kTrue{0};

// Cexpr::zero of an operator whose integers wrap, as in typed modules of languages where they do:
// sums, differences, products, negations and quotients lose their upper bits, counts of shifts are
// masked, bitwise operators take signed numbers, a rest has the sign of the left side, and a
// conversion between integers keeps all bits. All others are checked: what does not fit is an
// error.
inline constexpr uint32_t kWrapping = 1;
constexpr bool MayWrap(CexprOp op) {
  return op == CexprOp::kNegate || op == CexprOp::kComplement ||
         (op >= CexprOp::kAdd && op <= CexprOp::kShiftRight) || op == CexprOp::kConvert;
}

// What the words of a row are: the operand schema of compile-time expressions.
enum class CexprShape : uint8_t { kLiteral, kName, kUnary, kBinary, kSelect, kComposite, kInvalid };
constexpr CexprShape ShapeOf(CexprOp op) {
  if (op == CexprOp::kLiteral) {
    return CexprShape::kLiteral;
  }
  if (op == CexprOp::kName) {
    return CexprShape::kName;
  }
  if (op <= CexprOp::kPlus || op == CexprOp::kConvert) {
    return CexprShape::kUnary;
  }
  if (op <= CexprOp::kLogicalOr) {
    return CexprShape::kBinary;
  }
  if (op == CexprOp::kSelect) {
    return CexprShape::kSelect;
  }
  return op == CexprOp::kComposite ? CexprShape::kComposite : CexprShape::kInvalid;
}

}  // namespace kiln::ir
