// SPDX-License-Identifier: MIT
// Floats are computed as doubles and rounded once: a double has more than twice the digits of an
// f32, so sums, products, quotients and roots come out as in f32 itself. Words wrap as they do at
// run time, abstract integers do not; a shift loses no bits.
// One item of any function. A Word holds an integer with its sign, or the bits of a double;
// which one follows from the kind. Results are what a device may compute, never more exact in a
// way that a comparison could tell: so each result is rounded to its own width before it is
// used again.
#include "compiler/front/wgsl/sema/evaluate_scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace kiln::wgsl::front {
namespace {

// The texts become the reason of WGSL3001, behind the name of the function.
constexpr std::string_view kOverflow = "the result does not fit";
constexpr std::string_view kByZero = "division by zero";
constexpr std::string_view kShift = "the shift is not less than the width";
constexpr std::string_view kLost = "the shift loses bits";
constexpr std::string_view kDomain = "an operand is out of range";

// The low 32 bits of a value, as i32 with its sign, as u32 without.
ScalarResult Wrapped(ScalarKind kind, int64_t value) {
  const auto bits = static_cast<uint32_t>(static_cast<uint64_t>(value));
  return {.word =
              kind == ScalarKind::kI32 ? WordOf(int64_t{static_cast<int32_t>(bits)}) : Word{bits}};
}

// WGSL, "Bit Expressions": a count that is not less than the width, and bits that a constant
// left shift loses, are errors. What is lost is found by shifting back in 64 bits, then by the
// width of the type.
ScalarResult Shift(Function function, ScalarKind kind, int64_t value, uint64_t count) {
  const uint64_t width = kind == ScalarKind::kAbstractInt ? 64 : 32;
  if (count >= width) {
    return {.fault = kShift};
  }
  if (function == Function::kShiftRight) {
    return {.word = WordOf(value >> count)};
  }
  const auto wide = static_cast<int64_t>(static_cast<uint64_t>(value) << count);
  if (wide >> count != value) {
    return {.fault = kLost};
  }
  const ScalarResult fit = FitInt(kind, wide);
  return fit.ok() ? fit : ScalarResult{.fault = kLost};
}

// Nothing if the function is neither division nor remainder. The one quotient that does not fit
// is that of the smallest number by -1; u32 has no negative ones, so it never gets there.
std::optional<ScalarResult> Divide(Function function, ScalarKind kind, int64_t a, int64_t b) {
  if (function != Function::kDiv && function != Function::kRem) {
    return std::nullopt;
  }
  const int64_t least = kind == ScalarKind::kI32 ? std::numeric_limits<int32_t>::min()
                                                 : std::numeric_limits<int64_t>::min();
  if (b == 0) {
    return ScalarResult{.fault = kByZero};
  }
  if (a == least && b == -1) {
    return ScalarResult{.fault = kOverflow};
  }
  return ScalarResult{.word = WordOf(function == Function::kDiv ? a / b : a % b)};
}

// Words of 32 bits wrap. Abstract integers must not: for these the builtins tell of an overflow
// of 64 bits, whose wrapped result is then not used.
ScalarResult Arithmetic(Function function, ScalarKind kind, int64_t a, int64_t b) {
  int64_t made = 0;
  const bool over = function == Function::kAdd   ? __builtin_add_overflow(a, b, &made)
                    : function == Function::kSub ? __builtin_sub_overflow(a, b, &made)
                                                 : __builtin_mul_overflow(a, b, &made);
  if (kind == ScalarKind::kAbstractInt) {
    return over ? ScalarResult{.fault = kOverflow} : ScalarResult{.word = WordOf(made)};
  }
  // The product of two u32 needs 64 bits without a sign, in which the builtin sees an overflow
  // that is none for the low 32 bits.
  return Wrapped(kind,
                 static_cast<int64_t>(function == Function::kMul
                                          ? static_cast<uint64_t>(a) * static_cast<uint64_t>(b)
                                          : static_cast<uint64_t>(made)));
}

// Of bits; words of 32.
std::optional<ScalarResult> Bits(Function function, ScalarKind kind, std::span<const Word> x) {
  const auto bits = static_cast<uint32_t>(x[0]);
  const auto word = [&](uint32_t value) { return Wrapped(kind, value); };
  switch (function) {
    case Function::kCountLeadingZeros:
      return word(static_cast<uint32_t>(std::countl_zero(bits)));
    case Function::kCountTrailingZeros:
      return word(static_cast<uint32_t>(std::countr_zero(bits)));
    case Function::kCountOneBits:
      return word(static_cast<uint32_t>(std::popcount(bits)));
    case Function::kFirstTrailingBit:
      return word(bits == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(bits)));
    // For negative numbers the first bit that is not the sign; for 0 and -1 there is none,
    // which is -1.
    case Function::kFirstLeadingBit: {
      const uint32_t looked = kind == ScalarKind::kI32 && IntOf(x[0]) < 0 ? ~bits : bits;
      return word(looked == 0 ? ~0u : 31u - static_cast<uint32_t>(std::countl_zero(looked)));
    }
    case Function::kReverseBits: {
      uint32_t made = 0;
      for (uint32_t i = 0; i < 32; ++i) {
        made |= (bits >> i & 1u) << (31 - i);
      }
      return word(made);
    }
    // The field is cut to what lies in the word, as when it runs. It is moved to the top of 64
    // bits and down again, with or without its sign.
    case Function::kExtractBits: {
      const uint64_t offset = std::min<uint64_t>(x[1], 32);
      const uint64_t count = std::min<uint64_t>(x[2], 32 - offset);
      if (count == 0) {
        return word(0);
      }
      const uint64_t moved = uint64_t{bits} >> offset << (64 - count);
      return word(static_cast<uint32_t>(
          kind == ScalarKind::kI32
              ? static_cast<uint64_t>(static_cast<int64_t>(moved) >> (64 - count))
              : moved >> (64 - count)));
    }
    case Function::kInsertBits: {
      const uint64_t offset = std::min<uint64_t>(x[2], 32);
      const uint64_t count = std::min<uint64_t>(x[3], 32 - offset);
      const uint64_t mask = ((uint64_t{1} << count) - 1) << offset;
      return word(static_cast<uint32_t>((bits & ~mask) | (x[1] << offset & mask)));
    }
    default:
      return std::nullopt;
  }
}

// Words hold i32 with their sign in 64 bits and u32 without, so one int64_t compares and
// divides both as they should.
ScalarResult Integer(Function function, ScalarKind kind, std::span<const Word> x) {
  const int64_t a = IntOf(x[0]);
  const int64_t b = x.size() > 1 ? IntOf(x[1]) : 0;
  if (const std::optional<ScalarResult> divided = Divide(function, kind, a, b)) {
    return *divided;
  }
  switch (function) {
    case Function::kAdd:
    case Function::kSub:
    case Function::kMul:
      return Arithmetic(function, kind, a, b);
    case Function::kNegate:
      return Arithmetic(Function::kSub, kind, 0, a);
    case Function::kAnd:
      return {.word = x[0] & x[1]};
    case Function::kOr:
      return {.word = x[0] | x[1]};
    case Function::kXor:
      return {.word = x[0] ^ x[1]};
    // Of abstract integers and i32 all 64 bits turn, which keeps the sign; of u32 the low half.
    case Function::kComplement:
      return kind == ScalarKind::kU32 ? Wrapped(kind, ~a) : ScalarResult{.word = ~x[0]};
    case Function::kShiftLeft:
    case Function::kShiftRight:
      return Shift(function, kind, a, x[1]);
    case Function::kAbs:
      return a < 0 ? Arithmetic(Function::kSub, kind, 0, a) : ScalarResult{.word = x[0]};
    case Function::kSign:
      return {.word = WordOf(int64_t{(a > 0 ? 1 : 0) - (a < 0 ? 1 : 0)})};
    case Function::kMin:
      return {.word = WordOf(std::min(a, b))};
    case Function::kMax:
      return {.word = WordOf(std::max(a, b))};
    case Function::kClamp:
      return b > IntOf(x[2]) ? ScalarResult{.fault = "the lower bound is above the upper one"}
                             : ScalarResult{.word = WordOf(std::clamp(a, b, IntOf(x[2])))};
    default:
      // All functions of bits are those of 32-bit words: no abstract integer comes here, since
      // its overload would be that of i32.
      return Bits(function, kind, x).value_or(ScalarResult{.fault = "it is no constant"});
  }
}

// Of one float; nothing if the function is none of these. NaN where the operand is out of range.
// From the C++ library, in doubles. What is undefined for an operand (acos(2), log(-1)) is NaN
// there, which Float makes an error.
std::optional<double> OfOne(Function function, double a) {
  switch (function) {
    case Function::kNegate:
      return -a;
    case Function::kAbs:
      return std::abs(a);
    case Function::kAcos:
      return std::acos(a);
    case Function::kAcosh:
      return std::acosh(a);
    case Function::kAsin:
      return std::asin(a);
    case Function::kAsinh:
      return std::asinh(a);
    case Function::kAtan:
      return std::atan(a);
    case Function::kAtanh:
      return std::atanh(a);
    case Function::kCeil:
      return std::ceil(a);
    case Function::kCos:
      return std::cos(a);
    case Function::kCosh:
      return std::cosh(a);
    case Function::kDegrees:
      return a * (180.0 / std::numbers::pi);
    case Function::kExp:
      return std::exp(a);
    case Function::kExp2:
      return std::exp2(a);
    case Function::kFloor:
      return std::floor(a);
    case Function::kFract:
      return a - std::floor(a);
    case Function::kInverseSqrt:
      return 1.0 / std::sqrt(a);
    case Function::kLog:
      return std::log(a);
    case Function::kLog2:
      return std::log2(a);
    case Function::kRadians:
      return a * (std::numbers::pi / 180.0);
    // To even, as WGSL has it: the rounding mode is never changed.
    case Function::kRound:
      return std::nearbyint(a);
    case Function::kSaturate:
      return std::clamp(a, 0.0, 1.0);
    case Function::kSign:
      return static_cast<double>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0));
    case Function::kSin:
      return std::sin(a);
    case Function::kSinh:
      return std::sinh(a);
    case Function::kSqrt:
      return std::sqrt(a);
    case Function::kTan:
      return std::tan(a);
    case Function::kTanh:
      return std::tanh(a);
    case Function::kTrunc:
      return std::trunc(a);
    default:
      return std::nullopt;
  }
}

// Functions of two and three floats. `step` has the edge first, `mix` the factor last,
// `smoothstep` both edges before the value.
std::optional<double> OfMore(Function function, std::span<const Word> x) {
  const double a = FloatOf(x[0]);
  const double b = x.size() > 1 ? FloatOf(x[1]) : 0;
  const double c = x.size() > 2 ? FloatOf(x[2]) : 0;
  switch (function) {
    case Function::kAdd:
      return a + b;
    case Function::kSub:
      return a - b;
    case Function::kMul:
      return a * b;
    case Function::kDiv:
      return a / b;
    case Function::kRem:
      return std::fmod(a, b);
    case Function::kAtan2:
      return std::atan2(a, b);
    case Function::kMin:
      return std::min(a, b);
    case Function::kMax:
      return std::max(a, b);
    case Function::kPow:
      return std::pow(a, b);
    case Function::kStep:
      return b < a ? 0.0 : 1.0;
    case Function::kFma:
      return std::fma(a, b, c);
    case Function::kMix:
      return a * (1 - c) + b * c;
    case Function::kSmoothstep: {
      const double t = std::clamp((c - a) / (b - a), 0.0, 1.0);
      return t * t * (3 - 2 * t);
    }
    default:
      return std::nullopt;
  }
}

// Order matters: functions whose operands are not all floats, and those that WGSL forbids for
// some values although their formula has a result, come before the formulas.
ScalarResult Float(Function function, ScalarKind kind, std::span<const Word> x) {
  const double a = FloatOf(x[0]);
  if (function == Function::kLdexp) {
    // The exponent is cut to a range at whose ends every double is zero or infinite already, so
    // that it fits in an int.
    return RoundTo(kind,
                   std::ldexp(a, static_cast<int>(std::clamp<int64_t>(IntOf(x[1]), -5000, 5000))));
  }
  // The result is an f32 again, with the value of the nearest half; what no half reaches is an
  // error.
  if (function == Function::kQuantizeToF16) {
    return RoundTo(ScalarKind::kF16, a);
  }
  if (function == Function::kClamp) {
    const double low = FloatOf(x[1]);
    const double high = FloatOf(x[2]);
    return low > high ? ScalarResult{.fault = "the lower bound is above the upper one"}
                      : ScalarResult{.word = WordOf(std::clamp(a, low, high))};
  }
  if ((function == Function::kDiv || function == Function::kRem) && FloatOf(x[1]) == 0) {
    return {.fault = kByZero};
  }
  const bool wrong_smooth = function == Function::kSmoothstep && FloatOf(x[0]) == FloatOf(x[1]);
  const std::optional<double> made = x.size() == 1 ? OfOne(function, a) : OfMore(function, x);
  if (!made.has_value()) {
    return {.fault = "it is no constant"};
  }
  return std::isnan(*made) || wrong_smooth ? ScalarResult{.fault = kDomain} : RoundTo(kind, *made);
}

// Comparisons, of any kind of operand.
// Nothing if the function does not compare. Flags are words of 0 and 1, and compare as integers
// do.
std::optional<bool> Compare(Function function, ScalarKind kind, std::span<const Word> x) {
  const auto compare = [&](auto a, auto b) -> std::optional<bool> {
    switch (function) {
      case Function::kLess:
        return a < b;
      case Function::kGreater:
        return a > b;
      case Function::kLessEqual:
        return a <= b;
      case Function::kGreaterEqual:
        return a >= b;
      case Function::kEqual:
        return a == b;
      case Function::kNotEqual:
        return a != b;
      default:
        return std::nullopt;
    }
  };
  if (x.size() != 2) {
    return std::nullopt;
  }
  return IsFloat(kind) ? compare(FloatOf(x[0]), FloatOf(x[1])) : compare(IntOf(x[0]), IntOf(x[1]));
}

}  // namespace

// Comparisons and `select` come first: they have results of another type than their operands,
// and exist for all kinds.
ScalarResult EvaluateScalar(Function function, ScalarKind scalar, std::span<const Word> operands) {
  if (const std::optional<bool> flag = Compare(function, scalar, operands)) {
    return {.word = Word{*flag}};
  }
  if (function == Function::kSelect) {
    return {.word = operands[operands[2] != 0 ? 1 : 0]};
  }
  // Flags have `!`, `&` and `|` only. That no other function comes here is what overloads.def
  // says.
  if (scalar == ScalarKind::kBool) {
    switch (function) {
      case Function::kNot:
        return {.word = operands[0] ^ 1u};
      case Function::kAnd:
        return {.word = operands[0] & operands[1]};
      default:
        return {.word = operands[0] | operands[1]};
    }
  }
  return IsFloat(scalar) ? Float(function, scalar, operands) : Integer(function, scalar, operands);
}

}  // namespace kiln::wgsl::front
