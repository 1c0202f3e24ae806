// SPDX-License-Identifier: MIT
// Operators and conversions. See spec/rpl 4.2, 5.2, 5.3
#include <array>
#include <bit>
#include <climits>
#include <cmath>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

using ir::BinaryOp;
using ir::Scalar;

Cell Exact(uint32_t bits) { return {.bits = bits, .error = 0}; }
Cell Truth(bool truth) { return Exact(truth ? 1 : 0); }

// What 16 bits keep of an integer, which stands here with its sign.
Cell InWidth(Scalar scalar, Cell cell) {
  if (scalar == Scalar::kU16) {
    cell.bits &= 0xffffU;
  } else if (scalar == Scalar::kS16) {
    cell.bits = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(cell.bits)));
  }
  return cell;
}

bool Compare(BinaryOp op, auto left, auto right) {
  switch (op) {
    case BinaryOp::kLess:
      return left < right;
    case BinaryOp::kGreater:
      return left > right;
    case BinaryOp::kLessEqual:
      return left <= right;
    case BinaryOp::kGreaterEqual:
      return left >= right;
    case BinaryOp::kEqual:
      return left == right;
    case BinaryOp::kNotEqual:
      return left != right;
    case BinaryOp::kNotEqualOrdered:
      return left < right || left > right;
    default:
      break;
  }
  KILN_UNREACHABLE();
}

// x - y * trunc (x / y), as Vulkan derives it: where the quotient is far from the next whole number
// and small, every implementation finds the same whole number.
Cell FloatRemainder(double a, double b) {
  const double quotient = a / b;
  const double off = std::fabs(quotient - std::nearbyint(quotient));
  if (b == 0 || std::fabs(quotient) > 1024 || (off < 1.0 / 1024 && quotient != 0)) {
    return {};
  }
  const std::array terms{a, -b * std::trunc(quotient)};
  return SumOf(terms, 1);
}

Cell FloatBinary(BinaryOp op, float left, float right) {
  const double a = left;
  const double b = right;
  switch (op) {
    case BinaryOp::kAdd:
      return SumOf(std::array{a, b}, 0);
    case BinaryOp::kSub:
      return SumOf(std::array{a, -b}, 0);
    case BinaryOp::kMul:
      return Near(a * b, 0);
    case BinaryOp::kDiv: {
      int exponent = 0;
      const bool power_of_two = std::fabs(std::frexp(b, &exponent)) == 0.5;
      return b == 0 ? Cell{} : Rounded(a / b, power_of_two ? 0 : kDivisionUlps * UlpOf(a / b));
    }
    case BinaryOp::kLess:
    case BinaryOp::kGreater:
    case BinaryOp::kLessEqual:
    case BinaryOp::kGreaterEqual:
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
    case BinaryOp::kNotEqualOrdered:
      return Truth(Compare(op, left, right));
    case BinaryOp::kRem:
      return FloatRemainder(a, b);
    default:
      break;
  }
  KILN_UNREACHABLE();
}

// The sign of the right operand (spec/rpl 5.2). Vulkan leaves OpSMod open for negative operands.
Cell SignedModulus(int32_t left, int32_t right) {
  if (right == 0 || (left == INT_MIN && right == -1)) {
    return {};
  }
  const int32_t rest = left % right;
  const int32_t modulus = rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
  return {.bits = static_cast<uint32_t>(modulus), .error = left < 0 || right < 0 ? kUndefined : 0};
}

// The sign of the left operand. Vulkan leaves OpSRem open for negative operands.
Cell SignedRemainder(int32_t left, int32_t right) {
  if (right == 0 || (left == INT_MIN && right == -1)) {
    return {};
  }
  return {.bits = static_cast<uint32_t>(left % right),
          .error = left < 0 || right < 0 ? kUndefined : 0};
}

Cell SignedDivision(int32_t left, int32_t right) {
  if (right == 0 || (left == INT_MIN && right == -1)) {
    return {};
  }
  return Exact(static_cast<uint32_t>(left / right));
}

Cell IntegerBinary(BinaryOp op, bool is_signed, uint32_t left, uint32_t right) {
  const auto a = static_cast<int32_t>(left);
  const auto b = static_cast<int32_t>(right);
  switch (op) {
    case BinaryOp::kAdd:
      return Exact(left + right);
    case BinaryOp::kSub:
      return Exact(left - right);
    case BinaryOp::kMul:
      return Exact(left * right);
    case BinaryOp::kDiv:
      return is_signed ? SignedDivision(a, b) : right == 0 ? Cell{} : Exact(left / right);
    case BinaryOp::kMod:
      return is_signed ? SignedModulus(a, b) : right == 0 ? Cell{} : Exact(left % right);
    case BinaryOp::kRem:
      return is_signed ? SignedRemainder(a, b) : right == 0 ? Cell{} : Exact(left % right);
    case BinaryOp::kNotEqualOrdered:
      break;  // of floats
    case BinaryOp::kAnd:
      return Exact(left & right);
    case BinaryOp::kOr:
      return Exact(left | right);
    case BinaryOp::kXor:
      return Exact(left ^ right);
    case BinaryOp::kShiftLeft:
      return right > 31 ? Cell{} : Exact(left << right);
    case BinaryOp::kShiftRight:
      return right > 31 ? Cell{} : Exact(left >> right);
    case BinaryOp::kShiftRightArithmetic:
      return right > 31 ? Cell{} : Exact(static_cast<uint32_t>(a >> right));
    case BinaryOp::kLess:
    case BinaryOp::kGreater:
    case BinaryOp::kLessEqual:
    case BinaryOp::kGreaterEqual:
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
      return Truth(is_signed ? Compare(op, a, b) : Compare(op, left, right));
  }
  KILN_UNREACHABLE();
}

// Requires: an operator of booleans.
Cell BooleanBinary(BinaryOp op, uint32_t left, uint32_t right) {
  if (op == BinaryOp::kAnd) {
    return Exact(left & right);
  }
  if (op == BinaryOp::kOr) {
    return Exact(left | right);
  }
  return Exact(op == BinaryOp::kEqual ? 1U ^ left ^ right : left ^ right);
}

Cell ScalarBinary(BinaryOp op, Scalar scalar, const Cell& left, const Cell& right) {
  if (!left.exact() || !right.exact()) {
    return {};
  }
  if (scalar == Scalar::kF32) {
    return FloatBinary(op, FloatOf(left), FloatOf(right));
  }
  if (scalar == Scalar::kF16) {
    const Cell result = FloatBinary(op, FloatOf(left), FloatOf(right));
    return op >= BinaryOp::kLess && op != BinaryOp::kRem ? result : RoundedToHalf(result);
  }
  if (scalar == Scalar::kBool) {
    return BooleanBinary(op, left.bits, right.bits);
  }
  const Cell result = IntegerBinary(op, ir::IsSignedScalar(scalar), left.bits, right.bits);
  const bool flag = op >= BinaryOp::kLess && op != BinaryOp::kRem;
  return flag ? result : InWidth(scalar, result);
}

// Rows × columns times rows × columns; vectors are columns on the right and rows on the left.
struct Grid {
  uint32_t rows;
  uint32_t columns;
};

Value GridProduct(Grid left_grid, const Value& left, Grid right_grid, const Value& right) {
  KILN_CHECK(left_grid.columns == right_grid.rows);
  Value product;
  for (uint32_t column = 0; column < right_grid.columns; ++column) {
    for (uint32_t row = 0; row < left_grid.rows; ++row) {
      std::vector<double> terms;
      bool exact = true;
      for (uint32_t i = 0; i < left_grid.columns; ++i) {
        const Cell& a = left[i * left_grid.rows + row];
        const Cell& b = right[column * right_grid.rows + i];
        exact = exact && a.exact() && b.exact();
        terms.push_back(double{FloatOf(a)} * double{FloatOf(b)});
      }
      product.push_back(exact ? SumOf(terms, left_grid.columns) : Cell{});
    }
  }
  return product;
}

struct Range {
  double low;
  double high;
};
// The integers of a type of at most 32 bits.
Range RangeOf(Scalar scalar) {
  const double end = std::ldexp(
      1.0, static_cast<int>(ir::BitWidthOf(scalar)) - (ir::IsSignedScalar(scalar) ? 1 : 0));
  return {ir::IsSignedScalar(scalar) ? -end : 0.0, end - 1};
}

// A half has the bits of a float here.
Cell ConvertScalar(Scalar from, Scalar to, const Cell& cell) {
  if (!cell.exact()) {
    return {};
  }
  if (from == Scalar::kF16) {
    return to == Scalar::kF32 ? cell : ConvertScalar(Scalar::kF32, to, cell);
  }
  if (to == Scalar::kF16) {
    return RoundedToHalf(from == Scalar::kF32 ? cell : ConvertScalar(from, Scalar::kF32, cell));
  }
  if (from == Scalar::kBool || (from != Scalar::kF32 && to != Scalar::kF32)) {
    return from == Scalar::kBool && to == Scalar::kF32 ? Near(cell.bits, 0)
                                                       : InWidth(to, Exact(cell.bits));
  }
  if (to == Scalar::kF32) {
    return Near(ir::IsSignedScalar(from) ? 1.0 * static_cast<int32_t>(cell.bits) : 1.0 * cell.bits,
                0);
  }
  const double whole = std::trunc(double{FloatOf(cell)});
  const Range range = RangeOf(to);
  if (!(whole >= range.low && whole <= range.high)) {
    return {};
  }
  return Exact(ir::IsSignedScalar(to) ? static_cast<uint32_t>(static_cast<int32_t>(whole))
                                      : static_cast<uint32_t>(whole));
}

}  // namespace

Value ApplyUnary(const ir::Pool& pool, ir::UnaryOp op, ir::TypeId type, const Value& operand) {
  const Scalar scalar = pool[type].scalar;
  Value result = operand;
  for (Cell& cell : result) {
    switch (op) {
      case ir::UnaryOp::kNegate:
        cell.bits = scalar == Scalar::kF32 || scalar == Scalar::kF16 ? cell.bits ^ 0x80000000U
                                                                     : 0U - cell.bits;
        break;
      case ir::UnaryOp::kNot:
        cell.bits ^= 1U;
        break;
      case ir::UnaryOp::kComplement:
        cell.bits = ~cell.bits;
        break;
      case ir::UnaryOp::kPlus:
        break;
    }
    cell = op == ir::UnaryOp::kPlus || cell.exact() ? InWidth(scalar, cell) : Cell{};
  }
  return result;
}

Value ApplyBinary(const ir::Pool& pool, BinaryOp op, ir::TypeId left_type, const Value& left,
                  ir::TypeId right_type, const Value& right) {
  const ir::Type& a = pool[left_type];
  const ir::Type& b = pool[right_type];
  const bool left_matrix = a.kind == ir::TypeKind::kMatrix;
  const bool right_matrix = b.kind == ir::TypeKind::kMatrix;
  if (op == BinaryOp::kMul && left_matrix && (right_matrix || b.rows > 1)) {
    return GridProduct({a.rows, a.columns}, left, {b.rows, right_matrix ? b.columns : 1U}, right);
  }
  if (op == BinaryOp::kMul && right_matrix) {
    return GridProduct({1, a.rows}, left, {b.rows, b.columns}, right);
  }
  Value result;
  for (size_t i = 0; i < left.size(); ++i) {
    result.push_back(ScalarBinary(op, a.scalar, left[i], right.size() == 1 ? right[0] : right[i]));
  }
  return result;
}

// As docs/IR.md has it: never undefined.
Value ApplyTotal(const ir::Pool& pool, BinaryOp op, ir::TypeId type, const Value& left,
                 const Value& right) {
  const bool is_signed = ir::IsSignedScalar(pool[type].scalar);
  const uint32_t width = ir::BitWidthOf(pool[type].scalar);
  const auto smallest = static_cast<uint32_t>(static_cast<int32_t>(-(int64_t{1} << (width - 1))));
  Value result = ApplyBinary(pool, op, type, left, type, right);
  for (size_t i = 0; i < result.size(); ++i) {
    const Cell& a = left[i];
    const Cell& b = right[i];
    if (!a.exact() || !b.exact()) {
      continue;
    }
    const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod || op == BinaryOp::kRem;
    if (!divides) {
      result[i] = ScalarBinary(op, pool[type].scalar, a, Exact(b.bits & (width - 1)));
    } else if (b.bits == 0 || (is_signed && a.bits == smallest && b.bits == UINT_MAX)) {
      result[i] = op == BinaryOp::kDiv ? a : Exact(0);
    }
  }
  return result;
}

Value ApplySaturating(const ir::Pool& pool, ir::TypeId from, ir::TypeId to, const Value& value) {
  const Range range = RangeOf(pool[to].scalar);
  const bool is_signed = ir::IsSignedScalar(pool[to].scalar);
  const auto exact = [&](double whole) {
    return Exact(is_signed ? static_cast<uint32_t>(static_cast<int32_t>(whole))
                           : static_cast<uint32_t>(whole));
  };
  Value result = ApplyConvert(pool, from, to, value);
  for (size_t i = 0; i < result.size(); ++i) {
    const double number = FloatOf(value[i]);
    if (!value[i].exact()) {
      continue;
    }
    if (std::isnan(number)) {
      result[i] = Exact(0);
    } else if (number < range.low || number > range.high) {
      result[i] = exact(number < 0 ? range.low : range.high);
    }
  }
  return result;
}

// Components become bits, lowest first, and bits components again. Requires: at most 32 bits each.
Value ApplyBitcast(const ir::Pool& pool, ir::TypeId from, ir::TypeId to, const Value& value) {
  const ir::Type& source = pool[from];
  const ir::Type& target = pool[to];
  const uint32_t in = ir::BitWidthOf(source.scalar);
  const uint32_t out = ir::BitWidthOf(target.scalar);
  Value result(target.rows);
  for (uint32_t i = 0; i < target.rows; ++i) {
    uint32_t bits = 0;
    bool known = true;
    for (uint32_t bit = 0; bit < out; ++bit) {
      const uint32_t at = i * out + bit;
      const Cell& cell = value[at / in];
      const uint32_t word = source.scalar == Scalar::kF16 ? HalfBits(FloatOf(cell)) : cell.bits;
      known = known && cell.exact();
      bits |= (word >> (at % in) & 1U) << bit;
    }
    const uint32_t held =
        target.scalar == Scalar::kF16 ? std::bit_cast<uint32_t>(FloatOfHalf(bits)) : bits;
    result[i] = known ? InWidth(target.scalar, Exact(held)) : Cell{};
  }
  return result;
}

Value ApplySelect(const Value& condition, const Value& yes, const Value& no) {
  Value result;
  for (size_t i = 0; i < yes.size(); ++i) {
    const Cell& cell = condition.size() == 1 ? condition[0] : condition[i];
    result.push_back(!cell.exact() ? Cell{} : cell.bits != 0 ? yes[i] : no[i]);
  }
  return result;
}

Value ApplyConvert(const ir::Pool& pool, ir::TypeId from, ir::TypeId to, const Value& value) {
  Value result;
  for (const Cell& cell : value) {
    result.push_back(ConvertScalar(pool[from].scalar, pool[to].scalar, cell));
  }
  return result;
}

}  // namespace kiln::oracle
