// SPDX-License-Identifier: MIT
// Inbuilt functions: what they are, from spec/rpl 6 and GLSL.std.450; how exact they must be, from
// Vulkan. A function that Vulkan derives from a formula gets the error of that formula.
#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "compiler/base/check.h"
#include "tests/support/interpreter.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

using ir::Builtin;
using ir::Scalar;

constexpr double kSineError = 1.0 / (1 << 11);  // sin and cos of [-π, π]
constexpr double kLogError = 1.0 / (1 << 21);   // log and log2 of [0.5, 2]
constexpr double kLogUlps = 3;
constexpr double kArcUlps = 4096;

Cell Exact(uint32_t bits) { return {.bits = bits, .error = 0}; }
Cell Within(double number, double ulps) { return Rounded(number, ulps * UlpOf(number)); }

// Error of exp and exp2.
double ExpUlps(double x) { return 3 + 2 * std::fabs(x); }
double ExpError(double x) { return ExpUlps(x) * UlpOf(std::exp(x)); }
double LogError(double x, double log) {
  return x >= 0.5 && x <= 2 ? kLogError : kLogUlps * UlpOf(log);
}

// --- one argument
Cell Round(double x) {
  const double fraction = std::fabs(x - std::trunc(x));
  return fraction == 0.5 ? Cell{} : ExactFloat(std::nearbyint(x));  // ties go either way
}

// sin / cos
Cell Tan(double x) {
  const double tangent = std::tan(x);
  const double low = std::fabs(std::cos(x)) - kSineError;  // of the denominator
  return low <= 0 ? Cell{}
                  : Rounded(tangent, kSineError * (1 + std::fabs(tangent)) / low +
                                         kDivisionUlps * UlpOf(tangent));
}

Cell Asin(double x) { return std::fabs(x) > 1 ? Cell{} : Within(std::asin(x), kArcUlps); }
Cell Acos(double x) {
  return std::fabs(x) > 1 ? Cell{} : Rounded(std::acos(x), kArcUlps * kEpsilon);
}

// (exp(x) ± exp(-x)) / 2
double HyperbolicError(double x) {
  return 0.5 * (ExpError(x) + ExpError(-x)) + UlpOf(std::cosh(x));
}
Cell Tanh(double x) {
  return Rounded(std::tanh(x), 2 * HyperbolicError(x) / std::cosh(x) + kDivisionUlps * kEpsilon);
}

// log(x + sqrt(square)), where square = x² ± 1
Cell AreaFunction(double result, double x, double square) {
  const double root = std::sqrt(square);
  const double square_error = 2 * UlpOf(x * x + 1);
  const double root_error =
      square_error / (2 * std::max(root, std::sqrt(square_error))) + kSqrtUlps * UlpOf(root);
  const double sum = x + root;
  return Rounded(result, LogError(sum, std::log(sum)) + (root_error + UlpOf(sum)) / sum);
}
Cell Asinh(double x) { return AreaFunction(std::asinh(x), std::fabs(x), x * x + 1); }
Cell Acosh(double x) { return x < 1 ? Cell{} : AreaFunction(std::acosh(x), x, x * x - 1); }

// log((1 + x) / (1 - x)) / 2
Cell Atanh(double x) {
  const double ratio = (1 + x) / (1 - x);
  return std::fabs(x) >= 1 ? Cell{}
                           : Rounded(std::atanh(x), LogError(ratio, std::log(ratio)) +
                                                        (kDivisionUlps + 2) * kEpsilon);
}

Cell Log(double x) { return x <= 0 ? Cell{} : Rounded(std::log(x), LogError(x, std::log(x))); }
Cell Log2(double x) { return x <= 0 ? Cell{} : Rounded(std::log2(x), LogError(x, std::log2(x))); }
Cell Sqrt(double x) { return x < 0 ? Cell{} : Within(std::sqrt(x), kSqrtUlps); }
Cell InverseSqrt(double x) { return x <= 0 ? Cell{} : Within(1 / std::sqrt(x), kInverseSqrtUlps); }

using OneArgument = Cell (*)(double);

constexpr std::pair<Builtin, OneArgument> kOneArgument[] = {
    {Builtin::kRound, Round},
    {Builtin::kRoundEven, [](double x) { return ExactFloat(std::nearbyint(x)); }},
    {Builtin::kTrunc, [](double x) { return ExactFloat(std::trunc(x)); }},
    {Builtin::kAbs, [](double x) { return ExactFloat(std::fabs(x)); }},
    {Builtin::kSign, [](double x) { return ExactFloat(x > 0   ? 1
                                                      : x < 0 ? -1
                                                              : 0); }},
    {Builtin::kFloor, [](double x) { return ExactFloat(std::floor(x)); }},
    {Builtin::kCeil, [](double x) { return ExactFloat(std::ceil(x)); }},
    {Builtin::kFract, [](double x) { return Near(x - std::floor(x), 1); }},
    {Builtin::kSin, [](double x) { return Rounded(std::sin(x), kSineError); }},
    {Builtin::kCos, [](double x) { return Rounded(std::cos(x), kSineError); }},
    {Builtin::kTan, Tan},
    {Builtin::kAsin, Asin},
    {Builtin::kAcos, Acos},
    {Builtin::kAtan, [](double x) { return Within(std::atan(x), kArcUlps); }},
    {Builtin::kSinh, [](double x) { return Rounded(std::sinh(x), HyperbolicError(x)); }},
    {Builtin::kCosh, [](double x) { return Rounded(std::cosh(x), HyperbolicError(x)); }},
    {Builtin::kTanh, Tanh},
    {Builtin::kAsinh, Asinh},
    {Builtin::kAcosh, Acosh},
    {Builtin::kAtanh, Atanh},
    {Builtin::kExp, [](double x) { return Within(std::exp(x), ExpUlps(x)); }},
    {Builtin::kExp2, [](double x) { return Within(std::exp2(x), ExpUlps(x)); }},
    {Builtin::kLog, Log},
    {Builtin::kLog2, Log2},
    {Builtin::kSqrt, Sqrt},
    {Builtin::kInverseSqrt, InverseSqrt},
};

// --- more arguments
// exp2(y × log2(x))
Cell Pow(double x, double y) {
  if (x <= 0) {
    return {};
  }
  const double log = std::log2(x);
  const double exponent = y * log;
  const double exponent_error = std::fabs(y) * LogError(x, log) + UlpOf(exponent);
  const double power = std::exp2(exponent);
  return Rounded(power, power * exponent_error + ExpUlps(exponent) * UlpOf(power));
}

Cell Atan2(double y, double x) {
  if (y == 0 && x <= 0) {  // no angle, or the sign of a zero decides
    return {};
  }
  const double angle = std::atan2(y, x);
  return Rounded(angle, kArcUlps * UlpOf(angle));
}

Cell SmoothStep(double low, double high, double x) {
  if (low >= high) {
    return {};
  }
  const double t = std::clamp((x - low) / (high - low), 0.0, 1.0);
  if (t == 0 || t == 1) {
    return Rounded(t, UlpOf(1));  // the clamp may be a hair off
  }
  const double t_error = (kDivisionUlps + 2) * UlpOf(t);
  return Rounded(t * t * (3 - 2 * t),
                 6 * t * (1 - t) * t_error + t_error * t_error * 3 + 4 * UlpOf(t * t * 3));
}

// Fused, or rounded in between.
Cell Fma(double a, double b, double c) {
  const double terms[] = {a * b, c};
  return SumOf(terms, 2);
}

// x × (1 - a) + y × a
Cell Mix(double x, double y, double a) {
  const double terms[] = {x, -x * a, y * a};
  const Cell sum = SumOf(terms, 4);
  return sum.exact() && std::fabs(x * a) < 0x1p20
             ? sum
             : Rounded(x * (1 - a) + y * a,
                       4 * UlpOf(std::fabs(x) + std::fabs(x * a) + std::fabs(y * a)));
}

using Arguments = std::span<const double>;
using MoreArguments = Cell (*)(Arguments);

constexpr std::pair<Builtin, MoreArguments> kMoreArguments[] = {
    {Builtin::kMin, [](Arguments x) { return ExactFloat(std::min(x[0], x[1])); }},
    {Builtin::kMax, [](Arguments x) { return ExactFloat(std::max(x[0], x[1])); }},
    {Builtin::kClamp,
     [](Arguments x) { return x[1] > x[2] ? Cell{} : ExactFloat(std::clamp(x[0], x[1], x[2])); }},
    {Builtin::kStep, [](Arguments x) { return ExactFloat(x[1] < x[0] ? 0 : 1); }},
    {Builtin::kPow, [](Arguments x) { return Pow(x[0], x[1]); }},
    {Builtin::kAtan2, [](Arguments x) { return Atan2(x[0], x[1]); }},
    {Builtin::kMix, [](Arguments x) { return Mix(x[0], x[1], x[2]); }},
    {Builtin::kSmoothStep, [](Arguments x) { return SmoothStep(x[0], x[1], x[2]); }},
    {Builtin::kFma, [](Arguments x) { return Fma(x[0], x[1], x[2]); }},
};

Cell FloatResult(Builtin builtin, Arguments arguments) {
  if (std::ranges::any_of(arguments, [](double number) { return std::isnan(number); })) {
    return {};  // GLSL.std.450 leaves it open
  }
  for (const auto& [function, apply] : kOneArgument) {
    if (function == builtin) {
      return apply(arguments[0]);
    }
  }
  for (const auto& [function, apply] : kMoreArguments) {
    if (function == builtin) {
      return apply(arguments);
    }
  }
  KILN_UNREACHABLE();
}

using Words = std::span<const uint32_t>;

Cell UnsignedResult(Builtin builtin, Words x) {
  if (builtin == Builtin::kMin) {
    return Exact(std::min(x[0], x[1]));
  }
  if (builtin == Builtin::kMax) {
    return Exact(std::max(x[0], x[1]));
  }
  KILN_CHECK(builtin == Builtin::kClamp);
  return x[1] > x[2] ? Cell{} : Exact(std::clamp(x[0], x[1], x[2]));
}

Cell SignedResult(Builtin builtin, Words words) {
  const std::vector<int32_t> x(words.begin(), words.end());
  const auto exact = [](int32_t number) { return Exact(static_cast<uint32_t>(number)); };
  if (builtin == Builtin::kAbs) {
    return x[0] == INT_MIN ? Cell{} : exact(std::abs(x[0]));
  }
  if (builtin == Builtin::kSign) {
    return exact(x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0);
  }
  if (builtin == Builtin::kMin) {
    return exact(std::min(x[0], x[1]));
  }
  if (builtin == Builtin::kMax) {
    return exact(std::max(x[0], x[1]));
  }
  KILN_CHECK(builtin == Builtin::kClamp);
  return x[1] > x[2] ? Cell{} : exact(std::clamp(x[0], x[1], x[2]));
}

// --- booleans, 16-bit floats
Value AnyOrAll(Builtin builtin, const Value& mask) {
  const uint32_t decides = builtin == Builtin::kAny ? 1 : 0;
  bool exact = true;
  for (const Cell& cell : mask) {
    if (cell.exact() && cell.bits == decides) {
      return {Exact(decides)};
    }
    exact = exact && cell.exact();
  }
  return {exact ? Exact(1 - decides) : Cell{}};
}

// Products and sums may be rounded to 16 bits in between: of terms as large as the squared product
// of the largest arguments.
Cell Intermediate(Cell cell, std::span<const Value> arguments) {
  double largest = 1;
  for (const Value& argument : arguments) {
    double of_this = 1;
    for (const Cell& item : argument) {
      of_this = std::max(of_this, std::fabs(double{FloatOf(item)}));
    }
    largest *= of_this;
  }
  if (largest * largest > 0x1p14) {
    return {};  // one of them may be too large
  }
  cell = RoundedToHalf(cell);
  cell.error += 0x1p-6 * largest * largest;
  return cell;
}

bool RoundsOnce(Builtin builtin) {
  constexpr Builtin kOnce[] = {Builtin::kRound, Builtin::kRoundEven, Builtin::kTrunc,
                               Builtin::kAbs,   Builtin::kSign,      Builtin::kFloor,
                               Builtin::kCeil,  Builtin::kFract,     Builtin::kMin,
                               Builtin::kMax,   Builtin::kClamp,     Builtin::kStep};
  return std::ranges::find(kOnce, builtin) != std::end(kOnce);
}

Cell HalfResult(Builtin builtin, Arguments numbers) {
  const Cell cell = FloatResult(builtin, numbers);
  if (RoundsOnce(builtin)) {
    return RoundedToHalf(cell);
  }
  std::vector<Value> arguments;
  for (const double number : numbers) {
    arguments.push_back({ExactFloat(number)});
  }
  return Intermediate(cell, arguments);
}

}  // namespace

Value ApplyBuiltin(const ir::Pool& pool, Builtin builtin, ir::TypeId type,
                   std::span<const Value> arguments) {
  const ir::Type& operand = pool[type];
  if (builtin == Builtin::kAny || builtin == Builtin::kAll) {
    return AnyOrAll(builtin, arguments[0]);
  }
  if (std::optional<Value> whole = WholeResult(builtin, operand.rows, arguments)) {
    for (Cell& cell : *whole) {
      cell = operand.scalar == Scalar::kF16 ? Intermediate(cell, arguments) : cell;
    }
    return std::ranges::all_of(arguments, AllExact) ? *whole : Value(whole->size());
  }
  Value result;
  for (size_t i = 0; i < arguments[0].size(); ++i) {
    std::vector<double> numbers;
    std::vector<uint32_t> words;
    bool exact = true;
    for (const Value& argument : arguments) {
      exact = exact && argument[i].exact();
      numbers.push_back(FloatOf(argument[i]));
      words.push_back(argument[i].bits);
    }
    const Cell cell = operand.scalar == Scalar::kF32   ? FloatResult(builtin, numbers)
                      : operand.scalar == Scalar::kF16 ? HalfResult(builtin, numbers)
                      : operand.scalar == Scalar::kS32 ? SignedResult(builtin, words)
                                                       : UnsignedResult(builtin, words);
    result.push_back(exact ? cell : Cell{});
  }
  return result;
}

}  // namespace kiln::oracle
