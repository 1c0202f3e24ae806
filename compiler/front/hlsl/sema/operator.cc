// SPDX-License-Identifier: MIT
// Integers are computed in 64 bits, unsigned, and cut to the width of their item, so nothing here
// overflows. A float is computed in its own width: a sum in double that is rounded to float
// afterwards would be rounded twice.
#include "compiler/front/hlsl/sema/operator.h"

#include <cmath>

#include "compiler/base/check.h"

namespace kiln::hlsl {
namespace {

using ir::BinaryOp;

// The instruction that an operator becomes, by the class of its items: signed, unsigned, float.
// An operator that a class lacks has a value that no instruction has.
constexpr BinaryOp kAbsent{0xffff};

struct Instructions {
  BinaryOp by_class[3];  // signed, unsigned, float
};
namespace names {  // what operators.def calls instructions
#define KILN_NAME(name) constexpr BinaryOp name = BinaryOp::k##name
KILN_NAME(Add);
KILN_NAME(Sub);
KILN_NAME(Mul);
KILN_NAME(Div);
KILN_NAME(Mod);
KILN_NAME(Rem);
KILN_NAME(And);
KILN_NAME(Or);
KILN_NAME(Xor);
KILN_NAME(ShiftLeft);
KILN_NAME(ShiftRight);
KILN_NAME(ShiftRightArithmetic);
KILN_NAME(Less);
KILN_NAME(Greater);
KILN_NAME(LessEqual);
KILN_NAME(GreaterEqual);
KILN_NAME(Equal);
KILN_NAME(NotEqual);
#undef KILN_NAME
constexpr BinaryOp None = kAbsent;

constexpr Instructions kInstructions[] = {
#define KILN_OPERATOR(op, text, op_class, s, u, f) {{s, u, f}},
#include "compiler/front/hlsl/sema/operators.def"
};
}  // namespace names

// Division by zero gives an infinity, which IEEE defines; the remainder of one is not defined.
template <class Number>
std::optional<Number> OnFloats(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::kAdd:
      return a + b;
    case Operator::kSub:
      return a - b;
    case Operator::kMul:
      return a * b;
    case Operator::kDiv:
      return a / b;
    case Operator::kMod:
      return b == 0 || !std::isfinite(a) ? std::nullopt : std::optional(std::fmod(a, b));
    default:
      return std::nullopt;
  }
}

// NaN is never folded: which one a device makes is its own affair.
std::optional<Scalar> FloatResult(Operator op, Scalar left, Scalar right) {
  if (IsWide(left.item)) {
    const std::optional<double> value = OnFloats<double>(op, Real(left), Real(right));
    return value && !std::isnan(*value) ? std::optional(OfReal(left.item, *value)) : std::nullopt;
  }
  const std::optional<float> value =
      OnFloats<float>(op, static_cast<float>(Real(left)), static_cast<float>(Real(right)));
  return value && !std::isnan(*value) ? std::optional(OfReal(left.item, *value)) : std::nullopt;
}

// Of two integers: nothing for a quotient by zero or one that does not fit.
// Both are undefined at run time, so the instruction stays, and HLSL2042 warns of a zero.
std::optional<Scalar> Quotient(Operator op, Scalar left, Scalar right) {
  const int64_t a = Integer(left);
  const int64_t b = Integer(right);
  const bool narrow_overflow =
      b == -1 && left.item != Item::kLiteralInt && a == std::numeric_limits<int32_t>::min();
  if (b == 0 || narrow_overflow || (b == -1 && a == std::numeric_limits<int64_t>::min())) {
    return std::nullopt;
  }
  return OfInteger(left.item, op == Operator::kDiv ? a / b : a % b);
}

// spec/hlsl 10.1: the count is masked by the width of the left operand.
// Items of 16 and 64 bits are not built, so every item that is no literal has 32 bits here.
Scalar Shifted(Operator op, Scalar left, Scalar right) {
  const uint64_t mask = left.item == Item::kLiteralInt ? 63 : 31;
  const auto count = static_cast<uint64_t>(Integer(right)) & mask;
  const int64_t value = Integer(left);
  return OfInteger(left.item, op == Operator::kShiftLeft
                                  ? static_cast<int64_t>(static_cast<uint64_t>(value) << count)
                                  : value >> count);
}

// Wraps in the width of the item: OfInteger cuts.
std::optional<Scalar> IntegerResult(Operator op, Scalar left, Scalar right) {
  const auto a = static_cast<uint64_t>(Integer(left));
  const auto b = static_cast<uint64_t>(Integer(right));
  const auto made = [&](uint64_t bits) { return OfInteger(left.item, static_cast<int64_t>(bits)); };
  switch (op) {
    case Operator::kAdd:
      return made(a + b);
    case Operator::kSub:
      return made(a - b);
    case Operator::kMul:
      return made(a * b);
    case Operator::kDiv:
    case Operator::kMod:
      return Quotient(op, left, right);
    case Operator::kBitAnd:
      return made(a & b);
    case Operator::kBitOr:
      return made(a | b);
    case Operator::kBitXor:
      return made(a ^ b);
    case Operator::kShiftLeft:
    case Operator::kShiftRight:
      return Shifted(op, left, right);
    default:
      return std::nullopt;
  }
}

// NaN is unequal to everything, itself included, as at run time.
template <class Number>
bool Compare(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::kLess:
      return a < b;
    case Operator::kGreater:
      return a > b;
    case Operator::kLessEqual:
      return a <= b;
    case Operator::kGreaterEqual:
      return a >= b;
    case Operator::kEqual:
      return a == b;
    default:
      return a != b;
  }
}

}  // namespace

// Flags compare for equality only; all other operators have raised them to int before.
std::optional<BinaryOp> InstructionOf(Operator op, ItemClass item_class) {
  if (item_class == ItemClass::kBool) {
    return op == Operator::kEqual      ? std::optional(BinaryOp::kEqual)
           : op == Operator::kNotEqual ? std::optional(BinaryOp::kNotEqual)
                                       : std::nullopt;
  }
  const BinaryOp found =
      names::kInstructions[static_cast<size_t>(op)].by_class[static_cast<size_t>(item_class) - 1];
  return found == kAbsent ? std::nullopt : std::optional(found);
}

// Requires: operands have the common item. Logical operators take flags and have no side that
// is skipped: constants have no effects.
std::optional<Scalar> Fold(Operator op, Scalar left, Scalar right) {
  if (FactsOf(op).op_class == OperatorClass::kLogical) {
    const bool both = left.bits != 0 && right.bits != 0;
    const bool one = left.bits != 0 || right.bits != 0;
    return BoolValue(op == Operator::kLogicalAnd ? both : one);
  }
  const bool is_float = IsFloat(left.item);
  if (IsComparison(op)) {
    return BoolValue(is_float ? Compare(op, Real(left), Real(right))
                              : Compare(op, Integer(left), Integer(right)));
  }
  return is_float ? FloatResult(op, left, right) : IntegerResult(op, left, right);
}

// Negating the smallest integer wraps, as it does at run time.
std::optional<Scalar> Fold(Operator op, Scalar operand) {
  switch (op) {
    case Operator::kPlus:
      return operand;
    case Operator::kNot:
      return BoolValue(IsZero(operand));
    case Operator::kMinus:
      return IsFloat(operand.item)
                 ? OfReal(operand.item, -Real(operand))
                 : OfInteger(operand.item,
                             static_cast<int64_t>(0 - static_cast<uint64_t>(Integer(operand))));
    case Operator::kComplement:
      return IsFloat(operand.item) ? std::nullopt
                                   : std::optional(OfInteger(operand.item, ~Integer(operand)));
    default:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::hlsl
