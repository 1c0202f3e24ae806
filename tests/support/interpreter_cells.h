// SPDX-License-Identifier: MIT
// How results of float arithmetic become cells: what every implementation has to agree on, and how
// far it may be off otherwise. Bounds: Vulkan 1.3, appendix "Precision and Operation of SPIR-V
// Instructions".
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include "tests/support/interpreter.h"

namespace kiln::oracle {

// Rounded once from exact operands: all devices agree on these bits. What is computed from it may
// differ, because devices may fuse, so it is not exact.
inline constexpr double kRounded = std::numeric_limits<double>::denorm_min();

inline constexpr double kEpsilon = 1.0 / (1 << 23);
inline constexpr double kDivisionUlps = 2.5;
inline constexpr double kInverseSqrtUlps = 2;
inline constexpr double kSqrtUlps = kInverseSqrtUlps + kDivisionUlps;

double UlpOf(double value);  // of the float next to it

// The float nearest to `number`. Undefined where devices need not agree: not finite, subnormal.
Cell Rounded(double number, double error);
// Exact if `number` is a float; else `ulps` and `absolute` are the error.
Cell Near(double number, double ulps, double absolute = 0);
// Sum of numbers that are products of at most two floats. Exact if every order of adding and every
// fusing gives it; else within `ulps` of the largest magnitude that can occur.
Cell SumOf(std::span<const double> terms, double ulps);

inline Cell ExactFloat(double number) { return Rounded(number, 0); }
bool AllExact(const Value& value);

// A function of whole vectors or matrices of so many rows; nothing if it is another one.
std::optional<Value> WholeResult(ir::Builtin builtin, uint32_t rows,
                                 std::span<const Value> arguments);

// --- 16-bit floats, kept as the float of the same value
float FloatOfHalf(uint32_t bits);
uint32_t HalfBits(float number);  // Requires: it is a half
// What a float result is in 16 bits: exact if it is one; else within a step of it and the error
// that its bound in steps means. Undefined where a half is subnormal or not finite.
Cell RoundedToHalf(const Cell& cell);

}  // namespace kiln::oracle
