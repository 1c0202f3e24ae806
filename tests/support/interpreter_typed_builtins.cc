// SPDX-License-Identifier: MIT
// Inbuilt functions of typed modules: what they are, from docs/IR.md and GLSL.std.450; how exact,
// from Vulkan.
#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>

#include "compiler/base/check.h"
#include "tests/support/interpreter.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

using ir::Builtin;
using Cells = std::span<const Cell>;

Cell Exact(uint32_t bits) { return {.bits = bits, .error = 0}; }
Cell Truth(bool truth) { return Exact(truth ? 1 : 0); }
Cell ExactOf(float number) { return Exact(std::bit_cast<uint32_t>(number)); }

// Of two the one that is a number; of two numbers the smaller.
Cell NumberMin(float a, float b) {
  return std::isnan(a) ? ExactOf(b) : std::isnan(b) ? ExactOf(a) : ExactFloat(std::min(a, b));
}
Cell NumberMax(float a, float b) {
  return std::isnan(a) ? ExactOf(b) : std::isnan(b) ? ExactOf(a) : ExactFloat(std::max(a, b));
}

uint32_t ReverseBits(uint32_t word) {
  uint32_t reversed = 0;
  for (uint32_t bit = 0; bit < 32; ++bit) {
    reversed |= (word >> bit & 1U) << (31 - bit);
  }
  return reversed;
}

// The highest bit that differs from the sign; -1 if there is none.
uint32_t HighestBit(uint32_t word, bool is_signed) {
  const uint32_t from = is_signed && (word >> 31) != 0 ? ~word : word;
  return from == 0 ? UINT_MAX : 31U - static_cast<uint32_t>(std::countl_zero(from));
}

Cell ExtractBits(uint32_t word, uint32_t offset, uint32_t count, bool is_signed) {
  if (offset > 32 || count > 32 || offset + count > 32) {
    return {};
  }
  if (count == 0) {
    return Exact(0);
  }
  const uint32_t up = word << (32 - offset - count);
  return Exact(is_signed ? static_cast<uint32_t>(static_cast<int32_t>(up) >> (32 - count))
                         : up >> (32 - count));
}

Cell InsertBits(uint32_t base, uint32_t insert, uint32_t offset, uint32_t count) {
  if (offset > 32 || count > 32 || offset + count > 32) {
    return {};
  }
  const uint32_t ones = count == 32 ? UINT_MAX : (1U << count) - 1;
  const uint32_t mask = offset == 32 ? 0 : ones << offset;
  return Exact((base & ~mask) | (offset == 32 ? 0 : insert << offset & mask));
}

// --- packing: round (clamp (c, low, 1) × scale), where ties go either way
Cell Packed(Cells cells, double low, double scale, uint32_t width) {
  uint32_t word = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const double scaled = std::clamp(double{FloatOf(cells[i])}, low, 1.0) * scale;
    const double off = std::fabs(scaled - std::trunc(scaled));
    if (std::isnan(scaled) || std::fabs(off - 0.5) < 1.0 / 1024) {
      return {};
    }
    const auto number = static_cast<uint32_t>(static_cast<int32_t>(std::nearbyint(scaled)));
    word |= (number & ((1U << width) - 1)) << (width * static_cast<uint32_t>(i));
  }
  return Exact(word);
}

Value Unpacked(uint32_t word, bool is_signed, uint32_t width) {
  const double scale = std::ldexp(1.0, static_cast<int>(width) - (is_signed ? 1 : 0)) - 1;
  Value numbers;
  for (uint32_t at = 0; at < 32; at += width) {
    const uint32_t part = word >> at & ((1U << width) - 1);
    const auto sign = static_cast<int32_t>(part << (32 - width)) >> (32 - width);
    const double number = is_signed ? static_cast<double>(sign) : static_cast<double>(part);
    numbers.push_back(Near(std::clamp(number / scale, -1.0, 1.0), kDivisionUlps));
  }
  return numbers;
}

Cell OfComponents(Builtin builtin, bool is_signed, Cells x) {
  const auto f = [&](size_t i) { return FloatOf(x[i]); };
  switch (builtin) {
    case Builtin::kNMin:
      return NumberMin(f(0), f(1));
    case Builtin::kNMax:
      return NumberMax(f(0), f(1));
    case Builtin::kNClamp:
      return f(1) > f(2) ? Cell{} : NumberMin(FloatOf(NumberMax(f(0), f(1))), f(2));
    case Builtin::kDegrees:
      return Near(double{f(0)} * 180 / M_PI, 2.5);
    case Builtin::kRadians:
      return Near(double{f(0)} * M_PI / 180, 2.5);
    case Builtin::kLdexp:
      return Rounded(std::ldexp(double{f(0)}, static_cast<int32_t>(x[1].bits)), 0);
    case Builtin::kIsNan:
      return Truth(std::isnan(f(0)));
    case Builtin::kIsInf:
      return Truth(std::isinf(f(0)));
    case Builtin::kQuantizeToF16:
      return RoundedToHalf(x[0]);
    case Builtin::kBitCount:
      return Exact(static_cast<uint32_t>(std::popcount(x[0].bits)));
    case Builtin::kBitReverse:
      return Exact(ReverseBits(x[0].bits));
    case Builtin::kFindMsb:
      return Exact(HighestBit(x[0].bits, is_signed));
    case Builtin::kFindLsb:
      return Exact(x[0].bits == 0 ? UINT_MAX : static_cast<uint32_t>(std::countr_zero(x[0].bits)));
    case Builtin::kBitFieldExtract:
      return ExtractBits(x[0].bits, x[1].bits, x[2].bits, is_signed);
    case Builtin::kBitFieldInsert:
      return InsertBits(x[0].bits, x[1].bits, x[2].bits, x[3].bits);
    default:
      break;
  }
  KILN_UNREACHABLE();
}

// The two parts of one component.
std::pair<Cell, Cell> PartsOf(Builtin builtin, bool is_signed, Cells x) {
  const float number = FloatOf(x[0]);
  const uint64_t sum = uint64_t{x[0].bits} + (x.size() > 1 ? x[1].bits : 0);
  switch (builtin) {
    case Builtin::kFrexp: {
      int exponent = 0;
      const float fraction = std::frexp(number, &exponent);
      return std::isfinite(number)
                 ? std::pair(ExactFloat(fraction), Exact(static_cast<uint32_t>(exponent)))
                 : std::pair(Cell{}, Cell{});
    }
    case Builtin::kModf: {
      const double whole = std::trunc(number);
      return {Near(number - whole, 0), ExactFloat(whole)};
    }
    case Builtin::kAddCarry:
      return {Exact(static_cast<uint32_t>(sum)), Exact(static_cast<uint32_t>(sum >> 32))};
    case Builtin::kSubBorrow:
      return {Exact(x[0].bits - x[1].bits), Truth(x[0].bits < x[1].bits)};
    case Builtin::kMulExtended: {
      const uint64_t product =
          is_signed ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(x[0].bits)} *
                                            static_cast<int32_t>(x[1].bits))
                    : uint64_t{x[0].bits} * x[1].bits;
      return {Exact(static_cast<uint32_t>(product)), Exact(static_cast<uint32_t>(product >> 32))};
    }
    default:
      break;
  }
  KILN_UNREACHABLE();
}

// Functions of a whole value; nothing if it is another one.
std::optional<Value> WholeTyped(Builtin builtin, const ir::Type& type,
                                std::span<const Value> arguments) {
  const Value& x = arguments[0];
  switch (builtin) {
    case Builtin::kTransposeAny: {
      Value transposed;
      for (uint32_t row = 0; row < type.rows; ++row) {
        for (uint32_t column = 0; column < type.columns; ++column) {
          transposed.push_back(x[size_t{column} * type.rows + row]);
        }
      }
      return transposed;
    }
    case Builtin::kDotIntegers: {
      uint32_t sum = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        sum += x[i].bits * arguments[1][i].bits;
      }
      return Value{Exact(sum)};
    }
    case Builtin::kPackUnorm2x16:
      return Value{Packed(x, 0, 65535, 16)};
    case Builtin::kPackSnorm2x16:
      return Value{Packed(x, -1, 32767, 16)};
    case Builtin::kPackUnorm4x8:
      return Value{Packed(x, 0, 255, 8)};
    case Builtin::kPackSnorm4x8:
      return Value{Packed(x, -1, 127, 8)};
    case Builtin::kUnpackUnorm2x16:
      return Unpacked(x[0].bits, false, 16);
    case Builtin::kUnpackSnorm2x16:
      return Unpacked(x[0].bits, true, 16);
    case Builtin::kUnpackUnorm4x8:
      return Unpacked(x[0].bits, false, 8);
    case Builtin::kUnpackSnorm4x8:
      return Unpacked(x[0].bits, true, 8);
    case Builtin::kUnpackHalf2x16:
      return Value{ExactFloat(FloatOfHalf(x[0].bits & 0xffffU)),
                   ExactFloat(FloatOfHalf(x[0].bits >> 16))};
    case Builtin::kPackHalf2x16: {
      const Cell low = RoundedToHalf(x[0]);
      const Cell high = RoundedToHalf(x[1]);
      return Value{low.exact() && high.exact()
                       ? Exact(HalfBits(FloatOf(low)) | HalfBits(FloatOf(high)) << 16)
                       : Cell{}};
    }
    case Builtin::kFaceForward: {
      std::vector<double> terms;
      for (size_t i = 0; i < x.size(); ++i) {
        terms.push_back(double{FloatOf(arguments[1][i])} * FloatOf(arguments[2][i]));
      }
      const Cell dot = SumOf(terms, static_cast<double>(x.size()));
      if (std::fabs(FloatOf(dot)) <= dot.error) {
        return Value(x.size());
      }
      Value facing = x;
      for (Cell& cell : facing) {
        cell.bits ^= FloatOf(dot) < 0 ? 0U : 0x80000000U;
      }
      return facing;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

Value ApplyTypedBuiltin(const ir::Pool& pool, Builtin builtin, ir::TypeId type, ir::TypeId result,
                        std::span<const Value> arguments) {
  if (!std::ranges::all_of(arguments, AllExact)) {
    return Value(CellCount(pool, result));
  }
  const ir::Type& of = pool[type];
  if (std::optional<Value> whole = WholeTyped(builtin, of, arguments)) {
    return *std::move(whole);
  }
  const bool is_signed = ir::IsSignedScalar(of.scalar);
  const bool two = ir::FactsOf(builtin).result == 'P';
  Value first;
  Value second;
  for (size_t i = 0; i < arguments[0].size(); ++i) {
    std::vector<Cell> cells;
    for (const Value& argument : arguments) {
      cells.push_back(argument.size() == 1 ? argument[0] : argument[i]);
    }
    if (two) {
      const auto [a, b] = PartsOf(builtin, is_signed, cells);
      first.push_back(a);
      second.push_back(b);
    } else {
      first.push_back(OfComponents(builtin, is_signed, cells));
    }
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace kiln::oracle
