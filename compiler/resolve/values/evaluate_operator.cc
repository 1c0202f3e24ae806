// SPDX-License-Identifier: MIT
// One function for each operator. Failure travels upwards without a message: the first row where
// things go wrong describes it, and every row above fails in silence.
#include "compiler/resolve/values/evaluate_operator.h"

#include <bit>
#include <cmath>
#include <limits>

#include "compiler/base/check.h"

namespace kiln::resolve {
namespace {

using ir::CexprOp;
using ir::ValueKind;

constexpr bool IsNumber(ValueKind kind) {
  return kind == ValueKind::kUint || kind == ValueKind::kSint || kind == ValueKind::kFloat;
}

int32_t Signed(Value v) { return static_cast<int32_t>(v.bits); }
float Float(Value v) { return std::bit_cast<float>(v.bits); }

Value Flag(bool flag) { return {.kind = ValueKind::kFlag, .bits = flag ? 1u : 0u}; }
Value Uint(uint32_t number) { return {.kind = ValueKind::kUint, .bits = number}; }

// Evaluation of one operator: its operands, and why there is no result.
struct Operation {
  CexprOp op;
  ValueKind target;
  Value left, right;
  Failure& failure;
  bool& failed_here;
  bool wraps = false;  // integers lose their upper bits (ir::kWrapping)

  // The operands are kept for the message; the result is a failed value.
  Value Fail(Code code) const {
    failure = {.code = code, .op = op, .target = target, .left = left, .right = right};
    failed_here = true;
    return {};
  }
  // Signed results are computed in 64 bits, where the sum and the product of two numbers of 32 bits
  // always fit; then they are brought back.
  Value Sint(int64_t number) const {
    if (wraps) {
      return {.kind = ValueKind::kSint, .bits = static_cast<uint32_t>(number)};
    }
    if (number < std::numeric_limits<int32_t>::min() ||
        number > std::numeric_limits<int32_t>::max()) {
      return Fail(Code::kRpl3020);
    }
    return {.kind = ValueKind::kSint, .bits = static_cast<uint32_t>(number)};
  }
  // Overflow to infinity is an error, and so is a NaN: neither of them has a literal in the
  // language.
  Value Real(float number) const {
    if (!std::isfinite(number)) {
      return Fail(Code::kRpl3022);
    }
    return {.kind = ValueKind::kFloat, .bits = std::bit_cast<uint32_t>(number)};
  }
};

// Result of an operator on two numbers of one kind, one function per kind.
template <class OnUint, class OnSint, class OnFloat>
Value OnNumbers(const Operation& o, OnUint on_uint, OnSint on_sint, OnFloat on_float) {
  if (!IsNumber(o.left.kind) || !IsNumber(o.right.kind)) {
    return o.Fail(Code::kRpl3005);
  }
  // Both are numbers but not of one kind: the operands have to be converted by whoever wrote them.
  if (o.left.kind != o.right.kind) {
    return o.Fail(Code::kRpl3006);
  }
  switch (o.left.kind) {
    case ValueKind::kUint:
      return on_uint(o.left.bits, o.right.bits);
    case ValueKind::kSint:
      return on_sint(int64_t{Signed(o.left)}, int64_t{Signed(o.right)});
    case ValueKind::kFloat:
      return on_float(Float(o.left), Float(o.right));
    case ValueKind::kFlag:
    case ValueKind::kString:
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

// Unsigned numbers wrap around, as those of shaders do.
Value Add(const Operation& o) {
  return OnNumbers(
      o, [](uint32_t a, uint32_t b) { return Uint(a + b); },
      [&](int64_t a, int64_t b) { return o.Sint(a + b); },
      [&](float a, float b) { return o.Real(a + b); });
}

Value Subtract(const Operation& o) {
  return OnNumbers(
      o, [](uint32_t a, uint32_t b) { return Uint(a - b); },
      [&](int64_t a, int64_t b) { return o.Sint(a - b); },
      [&](float a, float b) { return o.Real(a - b); });
}

Value Multiply(const Operation& o) {
  return OnNumbers(
      o, [](uint32_t a, uint32_t b) { return Uint(a * b); },
      [&](int64_t a, int64_t b) { return o.Sint(a * b); },
      [&](float a, float b) { return o.Real(a * b); });
}

// Of floats a division by zero gives no finite number, which Real refuses; of signed integers the
// least number divided by -1 does not fit, which Sint refuses.
Value Divide(const Operation& o) {
  return OnNumbers(
      o, [&](uint32_t a, uint32_t b) { return b == 0 ? o.Fail(Code::kRpl3019) : Uint(a / b); },
      [&](int64_t a, int64_t b) { return b == 0 ? o.Fail(Code::kRpl3019) : o.Sint(a / b); },
      [&](float a, float b) { return o.Real(a / b); });
}

// The result has the sign of the right operand.
int64_t FloorModulo(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  // The remainder of C++ has the sign of the left operand, so it is moved by one divisor where the
  // signs differ.
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Value Modulo(const Operation& o) {
  const auto integer = [](ValueKind kind) {
    return kind == ValueKind::kUint || kind == ValueKind::kSint;
  };
  if (!integer(o.left.kind) || !integer(o.right.kind)) {
    return o.Fail(Code::kRpl3008);
  }
  return OnNumbers(
      o, [&](uint32_t a, uint32_t b) { return b == 0 ? o.Fail(Code::kRpl3019) : Uint(a % b); },
      [&](int64_t a, int64_t b) {
        // WGSL's remainder has the sign of the left operand, RPL's that of the right one.
        return b == 0 ? o.Fail(Code::kRpl3019) : o.Sint(o.wraps ? a % b : FloorModulo(a, b));
      },
      [](float, float) -> Value { KILN_UNREACHABLE(); });
}

// NaN is no value here (Real), so the order of floats is total.
template <class Compare>
Value Ordering(const Operation& o, Compare compare) {
  const auto flag = [&](auto a, auto b) { return Flag(compare(a, b)); };
  return OnNumbers(o, flag, flag, flag);
}

Value Less(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a < b; });
}
Value Greater(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a > b; });
}
Value LessEqual(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a <= b; });
}
Value GreaterEqual(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a >= b; });
}

// Strings are interned in one pool, so equal text is equal bits; only floats differ from their
// bits.
Value Equal(const Operation& o) {
  // Comparing values of different kinds is an error and not false.
  if (o.left.kind != o.right.kind) {
    return o.Fail(Code::kRpl3006);
  }
  if (o.left.kind == ValueKind::kFloat) {
    return Flag(Float(o.left) == Float(o.right));
  }
  return Flag(o.left.bits == o.right.bits);
}

Value NotEqual(const Operation& o) {
  Value value = Equal(o);
  // A failed value stays failed.
  value.bits ^= value.failed() ? 0u : 1u;
  return value;
}

// Flags are no numbers: 1 && 2 is an error and not true.
template <class Combine>
Value OnFlags(const Operation& o, Combine combine) {
  if (o.left.kind != ValueKind::kFlag || o.right.kind != ValueKind::kFlag) {
    return o.Fail(Code::kRpl3009);
  }
  return Flag(combine(o.left.bits != 0, o.right.bits != 0));
}

Value LogicalAnd(const Operation& o) {
  return OnFlags(o, [](bool a, bool b) { return a && b; });
}
Value LogicalOr(const Operation& o) {
  return OnFlags(o, [](bool a, bool b) { return a || b; });
}

// Bits of numbers. Those of floats have no operators.
template <class Combine>
Value OnUints(const Operation& o, Combine combine) {
  // WGSL has bitwise operators on signed integers, RPL on unsigned ones only.
  if (o.wraps && o.left.kind == ValueKind::kSint && o.right.kind == ValueKind::kSint) {
    return {.kind = ValueKind::kSint, .bits = combine(o.left.bits, o.right.bits)};
  }
  if (o.left.kind != ValueKind::kUint || o.right.kind != ValueKind::kUint) {
    return o.Fail(Code::kRpl3007);
  }
  return Uint(combine(o.left.bits, o.right.bits));
}

Value And(const Operation& o) {
  return OnUints(o, [](uint32_t a, uint32_t b) { return a & b; });
}
Value Or(const Operation& o) {
  return OnUints(o, [](uint32_t a, uint32_t b) { return a | b; });
}
Value Xor(const Operation& o) {
  return OnUints(o, [](uint32_t a, uint32_t b) { return a ^ b; });
}

// RPL3021 for counts of 32 or more, which SPIR-V leaves undefined.
bool ShiftsTooFar(const Operation& o) {
  return o.left.kind == ValueKind::kUint && o.right.kind == ValueKind::kUint && o.right.bits > 31;
}
// Of wrapping operators the left operand gives the kind, and a signed one keeps its sign.
Value ShiftWrapping(const Operation& o) {
  // The mask keeps the shift of C++ defined, whatever the count is.
  const uint32_t count = o.right.bits & 31;
  const bool is_signed = o.left.kind == ValueKind::kSint;
  if ((!is_signed && o.left.kind != ValueKind::kUint) ||
      (o.right.kind != ValueKind::kUint && o.right.kind != ValueKind::kSint)) {
    return o.Fail(Code::kRpl3008);
  }
  // Shifted to the left, signed and unsigned numbers have the same bits.
  uint32_t bits = o.left.bits << count;
  if (o.op == CexprOp::kShiftRight) {
    bits = is_signed ? static_cast<uint32_t>(Signed(o.left) >> count) : o.left.bits >> count;
  }
  return {.kind = o.left.kind, .bits = bits};
}

Value ShiftLeft(const Operation& o) {
  return ShiftsTooFar(o) ? o.Fail(Code::kRpl3021)
                         : OnUints(o, [](uint32_t a, uint32_t b) { return a << b; });
}
Value ShiftRight(const Operation& o) {
  return ShiftsTooFar(o) ? o.Fail(Code::kRpl3021)
                         : OnUints(o, [](uint32_t a, uint32_t b) { return a >> b; });
}

// The negation of the least number does not fit, and Sint finds that out.
Value Negate(const Operation& o) {
  if (o.wraps && o.left.kind == ValueKind::kUint) {
    return Uint(0u - o.left.bits);
  }
  if (o.left.kind == ValueKind::kSint) {
    return o.Sint(-int64_t{Signed(o.left)});
  }
  return o.left.kind == ValueKind::kFloat ? o.Real(-Float(o.left)) : o.Fail(Code::kRpl3010);
}

// Flags have `!` alone, numbers have `~`.
Value Not(const Operation& o) {
  return o.left.kind == ValueKind::kFlag ? Flag(o.left.bits == 0) : o.Fail(Code::kRpl3009);
}

Value Complement(const Operation& o) {
  if (o.wraps && o.left.kind == ValueKind::kSint) {
    return {.kind = ValueKind::kSint, .bits = ~o.left.bits};
  }
  return o.left.kind == ValueKind::kUint ? Uint(~o.left.bits) : o.Fail(Code::kRpl3007);
}

// `number` is exact: every source kind fits a double.
Value ConvertNumber(const Operation& o, double number) {
  switch (o.target) {
    case ValueKind::kUint:
      // The comparison is false for a NaN, so it fails here instead of being converted, which would
      // be undefined.
      return number >= 0 && number <= std::numeric_limits<uint32_t>::max()
                 ? Uint(static_cast<uint32_t>(number))
                 : o.Fail(Code::kRpl3023);
    case ValueKind::kSint:
      return number >= std::numeric_limits<int32_t>::min() &&
                     number <= std::numeric_limits<int32_t>::max()
                 ? o.Sint(static_cast<int64_t>(number))
                 : o.Fail(Code::kRpl3023);
    case ValueKind::kFloat:
      return o.Real(static_cast<float>(number));
    case ValueKind::kFlag:
    case ValueKind::kString:
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

// From flags to numbers: 1 and 0. To flags there is no conversion.
Value Convert(const Operation& o) {
  const auto integer = [](ValueKind kind) {
    return kind == ValueKind::kUint || kind == ValueKind::kSint;
  };
  // WGSL converts between integers by their bits.
  if (o.wraps && integer(o.left.kind) && integer(o.target)) {
    return {.kind = o.target, .bits = o.left.bits};
  }
  switch (o.left.kind) {
    case ValueKind::kFlag:
    case ValueKind::kUint:
      return ConvertNumber(o, o.left.bits);
    case ValueKind::kSint:
      return ConvertNumber(o, Signed(o.left));
    case ValueKind::kFloat:
      if (o.target == ValueKind::kFloat) {
        return o.left;  // -0.0 stays what it is
      }
      // Towards zero, as a cast does.
      return ConvertNumber(o, std::trunc(double{Float(o.left)}));
    case ValueKind::kString:
      return o.Fail(Code::kRpl3017);
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

// Both branches are evaluated and checked, as for && (spec/rpl 14.3).
Value Select(const Operation& o, Value if_false) {
  if (o.left.kind != ValueKind::kFlag) {
    return o.Fail(Code::kRpl3009);
  }
  if (o.right.kind != if_false.kind) {
    // The message is about the two branches, so they take the places of the operands.
    Operation branches = o;
    branches.left = o.right;
    branches.right = if_false;
    return branches.Fail(Code::kRpl3006);
  }
  return o.left.bits != 0 ? o.right : if_false;
}

Value Dispatch(const Operation& o, Value third) {
  switch (o.op) {
    case CexprOp::kNegate:
      return Negate(o);
    case CexprOp::kNot:
      return Not(o);
    case CexprOp::kComplement:
      return Complement(o);
    case CexprOp::kPlus:
      // Plus is checked like the others: its operand must be known.
      return o.left;
    case CexprOp::kAdd:
      return Add(o);
    case CexprOp::kSub:
      return Subtract(o);
    case CexprOp::kMul:
      return Multiply(o);
    case CexprOp::kDiv:
      return Divide(o);
    case CexprOp::kMod:
      return Modulo(o);
    case CexprOp::kAnd:
      return And(o);
    case CexprOp::kOr:
      return Or(o);
    case CexprOp::kXor:
      return Xor(o);
    case CexprOp::kShiftLeft:
      return o.wraps ? ShiftWrapping(o) : ShiftLeft(o);
    case CexprOp::kShiftRight:
      return o.wraps ? ShiftWrapping(o) : ShiftRight(o);
    case CexprOp::kLess:
      return Less(o);
    case CexprOp::kGreater:
      return Greater(o);
    case CexprOp::kLessEqual:
      return LessEqual(o);
    case CexprOp::kGreaterEqual:
      return GreaterEqual(o);
    case CexprOp::kEqual:
      return Equal(o);
    case CexprOp::kNotEqual:
      return NotEqual(o);
    case CexprOp::kLogicalAnd:
      return LogicalAnd(o);
    case CexprOp::kLogicalOr:
      return LogicalOr(o);
    case CexprOp::kConvert:
      return Convert(o);
    case CexprOp::kSelect:
      return Select(o, third);
    case CexprOp::kLiteral:
    case CexprOp::kName:
    case CexprOp::kComposite:
    case CexprOp::kInvalid:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace

// Operands that failed were reported, so nothing is said about them again.
Value Apply(const ir::Cexpr& row, Value left, Value right, Value third, Failure& failure,
            bool& failed_here) {
  failed_here = false;
  const uint32_t count = OperandCount(row.op);
  // Missing operands are failed values too, so only those that the operator has are asked.
  if (left.failed() || (count > 1 && right.failed()) || (count > 2 && third.failed())) {
    return {};
  }
  Value value = Dispatch({.op = row.op,
                          .target = row.op == CexprOp::kConvert ? static_cast<ValueKind>(row.kind)
                                                                : ValueKind::kFailed,
                          .left = left,
                          .right = right,
                          .failure = failure,
                          .failed_here = failed_here,
                          .wraps = ir::MayWrap(row.op) && row.zero == ir::kWrapping},
                         third);
  // A result rests on an instance option if any operand does, whether or not the operand decides
  // the value.
  value.instance = left.instance || (count > 1 && right.instance) || (count > 2 && third.instance);
  return value;
}

}  // namespace kiln::resolve
