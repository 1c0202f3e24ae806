// SPDX-License-Identifier: MIT
// How results of float arithmetic become cells: what every implementation has to agree on, and how
// far it may be off otherwise. Bounds: Vulkan 1.3, appendix "Precision and Operation of SPIR-V
// Instructions".
#pragma once

#include <initializer_list>
#include <span>

#include "tests/support/interpreter.h"

namespace kiln::oracle {

// Rounded once from exact operands: all devices agree on these bits. What is computed from it may
// differ, because devices may fuse, so it is not exact.
inline constexpr double kRounded = std::numeric_limits<double>::denorm_min();

double UlpOf(double value);  // of the float next to it

// The float nearest to `number`. Undefined where devices need not agree: not finite, subnormal.
Cell Rounded(double number, double error);
// Exact if `number` is a float; else `ulps` and `absolute` are the error.
Cell Near(double number, double ulps, double absolute = 0);
// Sum of numbers that are products of at most two floats. Exact if every order of adding and every
// fusing gives it; else within `ulps` of the largest magnitude that can occur.
Cell SumOf(std::span<const double> terms, double ulps);

bool AllExact(const Value& value);

}  // namespace kiln::oracle
