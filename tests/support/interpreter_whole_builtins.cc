// SPDX-License-Identifier: MIT
// Inbuilt functions of whole vectors and matrices. See spec/rpl 6.2, 6.3
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tests/support/interpreter.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

using ir::Builtin;

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
     [](const Whole& x) {
       return Value{SumOf(Products(x.a, x.b), static_cast<double>(x.a.size()))};
     }},
    {Builtin::kNormalize, [](const Whole& x) { return Normalize(x.a); }},
    {Builtin::kCross, [](const Whole& x) { return Cross(x.a, x.b); }},
    {Builtin::kReflect, [](const Whole& x) { return Reflect(x.a, x.b); }},
    {Builtin::kRefract, [](const Whole& x) { return Refract(x.a, x.b, x.eta); }},
    {Builtin::kDeterminant, [](const Whole& x) { return Value{DeterminantOf(x.a, x.rows)}; }},
    {Builtin::kInverse, [](const Whole& x) { return Inverse(x.a, x.rows); }},
    {Builtin::kTranspose, [](const Whole& x) { return Transpose(x.a, x.rows); }},
};

}  // namespace

std::optional<Value> WholeResult(Builtin builtin, uint32_t rows, std::span<const Value> arguments) {
  for (const auto& [function, apply] : kWholeFunctions) {
    if (function == builtin) {
      return apply({.rows = rows,
                    .a = NumbersOf(arguments[0]),
                    .b = arguments.size() > 1 ? NumbersOf(arguments[1]) : Numbers{},
                    .eta = arguments.size() > 2 ? FloatOf(arguments[2][0]) : 0});
    }
  }
  return std::nullopt;
}

}  // namespace kiln::oracle
