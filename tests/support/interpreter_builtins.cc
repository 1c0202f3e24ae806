// SPDX-License-Identifier: MIT
// Inbuilt functions: what they are, from rpl.md 6 and GLSL.std.450; how exact they must be, from
// Vulkan. A function that Vulkan derives from a formula gets the error of that formula.
#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <utility>

#include "compiler/base/check.h"
#include "tests/support/interpreter.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

using ir::Builtin;
using ir::Scalar;

constexpr double kEpsilon = 1.0 / (1 << 23);
constexpr double kSineError = 1.0 / (1 << 11);  // sin and cos of [-π, π]
constexpr double kLogError = 1.0 / (1 << 21);   // log and log2 of [0.5, 2]
constexpr double kLogUlps = 3;
constexpr double kArcUlps = 4096;
constexpr double kDivisionUlps = 2.5;
constexpr double kInverseSqrtUlps = 2;
constexpr double kSqrtUlps = kInverseSqrtUlps + kDivisionUlps;

Cell Exact(uint32_t bits) { return {.bits = bits, .error = 0}; }
Cell ExactFloat(double number) { return Rounded(number, 0); }
Cell Within(double number, double ulps) { return Rounded(number, ulps * UlpOf(number)); }

// Error of exp and exp2.
double ExpUlps(double x) { return 3 + 2 * std::fabs(x); }
double ExpError(double x) { return ExpUlps(x) * UlpOf(std::exp(x)); }
double LogError(double x, double log) {
  return x >= 0.5 && x <= 2 ? kLogError : kLogUlps * UlpOf(log);
}

// --- one argument
// --------------------------------------------------------------------------------
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
// ------------------------------------------------------------------------------
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

// --- whole vectors
// -------------------------------------------------------------------------------
using Numbers = std::vector<double>;

Numbers NumbersOf(const Value& value) {
  Numbers numbers;
  for (const Cell& cell : value) {
    numbers.push_back(FloatOf(cell));
  }
  return numbers;
}

Numbers Products(const Numbers& a, const Numbers& b) {
  Numbers terms;
  for (size_t i = 0; i < a.size(); ++i) {
    terms.push_back(a[i] * b[i]);
  }
  return terms;
}

double Sum(const Numbers& terms) { return std::accumulate(terms.begin(), terms.end(), 0.0); }
double Magnitude(const Numbers& terms) {
  return std::accumulate(terms.begin(), terms.end(), 0.0,
                         [](double sum, double term) { return sum + std::fabs(term); });
}
double Dot(const Numbers& a, const Numbers& b) { return Sum(Products(a, b)); }

// Relative error of a length: of the sum of squares, halved, and of the root.
constexpr double kLengthUlps = 2 + kSqrtUlps;

Cell Length(const Numbers& v) {
  const double length = std::sqrt(Dot(v, v));
  return Rounded(length, kLengthUlps * UlpOf(length));
}

Value Normalize(const Numbers& v) {
  const double length = std::sqrt(Dot(v, v));
  Value result;
  for (const double x : v) {
    result.push_back(length == 0
                         ? Cell{}
                         : Rounded(x / length, (kLengthUlps + kDivisionUlps) * UlpOf(x / length)));
  }
  return result;
}

Value Cross(const Numbers& a, const Numbers& b) {
  Value result;
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3;
    const size_t k = (i + 2) % 3;
    const double terms[] = {a[j] * b[k], -a[k] * b[j]};
    result.push_back(SumOf(terms, 2));
  }
  return result;
}

// I - 2 (N · I) N
Value Reflect(const Numbers& incident, const Numbers& normal) {
  const Numbers terms = Products(incident, normal);
  const double ulps = 2.0 * static_cast<double>(incident.size()) + 2;
  Value result;
  for (size_t i = 0; i < incident.size(); ++i) {
    const double error =
        ulps * kEpsilon * (std::fabs(incident[i]) + 2 * Magnitude(terms) * std::fabs(normal[i]));
    result.push_back(Rounded(incident[i] - 2 * Sum(terms) * normal[i], error));
  }
  return result;
}

// k = 1 - η² (1 - (N · I)²);  k < 0: 0, else η I - (η (N · I) + √k) N
Value Refract(const Numbers& incident, const Numbers& normal, double eta) {
  const Numbers terms = Products(incident, normal);
  const double dot = Sum(terms);
  const double dot_error = static_cast<double>(terms.size()) * kEpsilon * Magnitude(terms);
  const double k = 1 - eta * eta * (1 - dot * dot);
  const double k_error =
      4 * kEpsilon * (1 + eta * eta * (1 + dot * dot)) + 2 * eta * eta * std::fabs(dot) * dot_error;
  if (std::fabs(k) <= k_error) {
    return Value(incident.size());
  }
  Value result;
  for (size_t i = 0; i < incident.size(); ++i) {
    if (k < 0) {
      result.push_back(ExactFloat(0));
      continue;
    }
    const double root = std::sqrt(k);
    const double factor = eta * dot + root;
    const double factor_error = std::fabs(eta) * dot_error + k_error / (2 * root) +
                                (kSqrtUlps + 2) * kEpsilon * (std::fabs(eta * dot) + root);
    const double error =
        3 * kEpsilon * (std::fabs(eta * incident[i]) + std::fabs(factor * normal[i])) +
        factor_error * std::fabs(normal[i]);
    result.push_back(Rounded(eta * incident[i] - factor * normal[i], error));
  }
  return result;
}

// --- matrices, column-major
// ----------------------------------------------------------------------
Numbers Minor(const Numbers& m, size_t size, size_t column, size_t row) {
  Numbers minor;
  for (size_t c = 0; c < size; ++c) {
    for (size_t r = 0; r < size; ++r) {
      if (c != column && r != row) {
        minor.push_back(m[c * size + r]);
      }
    }
  }
  return minor;
}

struct Bounded {
  double value = 0;
  double magnitude = 0;  // the same with every product positive: what rounding errors scale with
};

Bounded Determinant(const Numbers& m, size_t size) {
  if (size == 1) {
    return {m[0], std::fabs(m[0])};
  }
  Bounded sum;
  for (size_t row = 0; row < size; ++row) {
    const Bounded minor = Determinant(Minor(m, size, 0, row), size - 1);
    sum.value += (row % 2 == 0 ? 1 : -1) * m[row] * minor.value;
    sum.magnitude += std::fabs(m[row]) * minor.magnitude;
  }
  return sum;
}

constexpr double kDeterminantUlps = 8;

Cell DeterminantOf(const Numbers& m, size_t size) {
  const Bounded determinant = Determinant(m, size);
  return Rounded(determinant.value, kDeterminantUlps * kEpsilon * determinant.magnitude);
}

Value Inverse(const Numbers& m, size_t size) {
  const Bounded whole = Determinant(m, size);
  const double whole_error = kDeterminantUlps * kEpsilon * whole.magnitude;
  if (std::fabs(whole.value) <= 2 * whole_error) {
    return Value(m.size());
  }
  Value result;
  for (size_t column = 0; column < size; ++column) {
    for (size_t row = 0; row < size; ++row) {
      const Bounded minor = Determinant(Minor(m, size, row, column), size - 1);
      const double cofactor = ((row + column) % 2 == 0 ? 1 : -1) * minor.value;
      const double value = cofactor / whole.value;
      const double error =
          (kDeterminantUlps * kEpsilon * minor.magnitude + std::fabs(value) * whole_error) /
              (std::fabs(whole.value) - whole_error) +
          kDivisionUlps * UlpOf(value);
      result.push_back(Rounded(value, error));
    }
  }
  return result;
}

Value Transpose(const Numbers& m, size_t size) {
  Value result;
  for (size_t column = 0; column < size; ++column) {
    for (size_t row = 0; row < size; ++row) {
      result.push_back(ExactFloat(m[row * size + column]));
    }
  }
  return result;
}

Cell Distance(const Numbers& a, const Numbers& b) {
  Numbers difference;
  for (size_t i = 0; i < a.size(); ++i) {
    difference.push_back(a[i] - b[i]);
  }
  return Length(difference);
}

// What the operands of a function of whole vectors or matrices are.
struct Whole {
  size_t rows = 0;
  Numbers a;
  Numbers b;
  double eta = 0;
};
using WholeFunction = Value (*)(const Whole&);

constexpr std::pair<Builtin, WholeFunction> kWholeFunctions[] = {
    {Builtin::kLength, [](const Whole& x) { return Value{Length(x.a)}; }},
    {Builtin::kDistance, [](const Whole& x) { return Value{Distance(x.a, x.b)}; }},
    {Builtin::kDot,
     [](const Whole& x) { return Value{SumOf(Products(x.a, x.b), 1.0 * x.a.size())}; }},
    {Builtin::kNormalize, [](const Whole& x) { return Normalize(x.a); }},
    {Builtin::kCross, [](const Whole& x) { return Cross(x.a, x.b); }},
    {Builtin::kReflect, [](const Whole& x) { return Reflect(x.a, x.b); }},
    {Builtin::kRefract, [](const Whole& x) { return Refract(x.a, x.b, x.eta); }},
    {Builtin::kDeterminant, [](const Whole& x) { return Value{DeterminantOf(x.a, x.rows)}; }},
    {Builtin::kInverse, [](const Whole& x) { return Inverse(x.a, x.rows); }},
    {Builtin::kTranspose, [](const Whole& x) { return Transpose(x.a, x.rows); }},
};

}  // namespace

Value ApplyBuiltin(const ir::Pool& pool, Builtin builtin, ir::TypeId type,
                   std::span<const Value> arguments) {
  const ir::Type& operand = pool[type];
  for (const auto& [function, apply] : kWholeFunctions) {
    if (function == builtin) {
      const Value result = apply({.rows = operand.rows,
                                  .a = NumbersOf(arguments[0]),
                                  .b = arguments.size() > 1 ? NumbersOf(arguments[1]) : Numbers{},
                                  .eta = arguments.size() > 2 ? FloatOf(arguments[2][0]) : 0});
      return std::ranges::all_of(arguments, AllExact) ? result : Value(result.size());
    }
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
                      : operand.scalar == Scalar::kS32 ? SignedResult(builtin, words)
                                                       : UnsignedResult(builtin, words);
    result.push_back(exact ? cell : Cell{});
  }
  return result;
}

}  // namespace kiln::oracle
