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

bool AllExact(const Value& value) { return std::ranges::all_of(value, &Cell::exact); }

}  // namespace kiln::oracle
