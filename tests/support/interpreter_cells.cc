// SPDX-License-Identifier: MIT
#include "tests/support/interpreter_cells.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

namespace kiln::oracle {
namespace {

// Exponent of the lowest set bit. Requires: not 0.
int LowestBit(double number) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  const auto digits = static_cast<uint64_t>(std::ldexp(fraction, 53));
  return exponent - 53 + std::countr_zero(digits);
}

}  // namespace

double UlpOf(double value) {
  const float magnitude = std::fabs(static_cast<float>(value));
  return double{std::nextafterf(magnitude, INFINITY)} - double{magnitude};
}

Cell Rounded(double number, double error) {
  const auto nearest = static_cast<float>(number);
  const bool subnormal = number != 0 && std::fabs(number) < double{FLT_MIN};
  if (!std::isfinite(nearest) || subnormal) {
    return {};
  }
  return {.bits = std::bit_cast<uint32_t>(nearest), .error = error};
}

Cell Near(double number, double ulps, double absolute) {
  const bool exact = double{static_cast<float>(number)} == number;
  return Rounded(number, exact ? 0 : std::max(ulps * UlpOf(number) + absolute, kRounded));
}

Cell SumOf(std::span<const double> terms, double ulps) {
  double sum = 0;
  double magnitude = 0;
  int lowest = 0;
  bool any = false;
  for (const double term : terms) {
    sum += term;
    magnitude += std::fabs(term);
    if (term != 0) {
      lowest = any ? std::min(lowest, LowestBit(term)) : LowestBit(term);
      any = true;
    }
  }
  const bool exact = !any || magnitude < std::ldexp(1, lowest + FLT_MANT_DIG);
  return Rounded(sum, exact ? 0 : std::max(ulps * UlpOf(magnitude), kRounded));
}

float FloatOfHalf(uint32_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31U);
  const auto fraction = static_cast<float>(bits & 0x3ffU);
  const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction == 0 ? sign * INFINITY : NAN;
  }
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

uint32_t HalfBits(float number) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(double{number}), &exponent);
  const uint32_t sign = std::signbit(number) ? 0x8000U : 0U;
  if (number == 0 || exponent < -13) {
    return sign | static_cast<uint32_t>(std::ldexp(fraction, exponent + 24));
  }
  return sign | static_cast<uint32_t>(exponent + 14) << 10 |
         (static_cast<uint32_t>(std::ldexp(fraction, 11)) & 0x3ffU);
}

Cell RoundedToHalf(const Cell& cell) {
  constexpr double kLargest = 65504;
  constexpr double kSmallest = 0x1p-14;
  constexpr int kDigitsLess = 13;  // than a float
  const double number = FloatOf(cell);
  const double magnitude = std::fabs(number);
  if (!std::isfinite(cell.error) || !(magnitude <= kLargest) ||
      (number != 0 && magnitude < kSmallest)) {
    return {};
  }
  const double step = std::ldexp(UlpOf(number), kDigitsLess);
  const double kept = number == 0 ? number : std::nearbyint(number / step) * step;
  const bool exact = cell.exact() && kept == number;
  return {.bits = std::bit_cast<uint32_t>(static_cast<float>(kept)),
          .error = exact ? 0 : step + std::ldexp(cell.error, kDigitsLess)};
}

bool AllExact(const Value& value) { return std::ranges::all_of(value, &Cell::exact); }

}  // namespace kiln::oracle
