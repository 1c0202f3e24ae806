// SPDX-License-Identifier: MIT
// Scalars of constants: an item and its bits. Converting is bit-exact and says nothing where
// the result is not defined, so that a fold never differs from what a device computes.
#include "compiler/front/hlsl/sema/constant.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::hlsl {
namespace {

// The bounds are exact as doubles, the upper one is the first that does not fit.
bool FitsLong(double value) {
  return value >= -9223372036854775808.0 && value < 9223372036854775808.0;
}

// The range of an integer item as doubles, exact: [least, end).
bool FitsInteger(Item item, double value) {
  if (item == Item::kLiteralInt) {
    return FitsLong(value);
  }
  return IsSigned(item) ? value >= -2147483648.0 && value < 2147483648.0
                        : value >= 0.0 && value < 4294967296.0;
}

}  // namespace

// A value is kept as the bits of its item: doubles and literals in 64, others in 32.
double Real(Scalar scalar) {
  KILN_CHECK(IsFloat(scalar.item));
  return IsWide(scalar.item) ? std::bit_cast<double>(scalar.bits)
                             : double{std::bit_cast<float>(static_cast<uint32_t>(scalar.bits))};
}

// With its sign where the item has one; bool is 0 or 1.
int64_t Integer(Scalar scalar) {
  KILN_CHECK(!IsFloat(scalar.item));
  if (scalar.item == Item::kLiteralInt) {
    return static_cast<int64_t>(scalar.bits);
  }
  const auto low = static_cast<uint32_t>(scalar.bits);
  return IsSigned(scalar.item) ? int64_t{static_cast<int32_t>(low)} : int64_t{low};
}

bool IsZero(Scalar scalar) { return IsFloat(scalar.item) ? Real(scalar) == 0.0 : scalar.bits == 0; }

bool IsFinite(Scalar scalar) { return !IsFloat(scalar.item) || std::isfinite(Real(scalar)); }

// Rounded to the width of the item.
Scalar OfReal(Item item, double value) {
  return {item, IsWide(item) ? std::bit_cast<uint64_t>(value)
                             : std::bit_cast<uint32_t>(static_cast<float>(value))};
}

Scalar OfInteger(Item item, int64_t value) {
  if (item == Item::kBool) {
    return BoolValue(value != 0);
  }
  const auto bits = static_cast<uint64_t>(value);
  return {item, item == Item::kLiteralInt ? bits : static_cast<uint32_t>(bits)};
}

// spec/hlsl 9.1. Nothing where the result is not defined: then the instruction stays and the
// device decides.
std::optional<Scalar> Converted(Scalar scalar, Item to) {
  if (to == Item::kBool) {
    return BoolValue(!IsZero(scalar));
  }
  if (IsFloat(scalar.item)) {
    const double value = Real(scalar);
    // A float that overflows its new width becomes infinite, which is defined.
    if (IsFloat(to)) {
      return std::isnan(value) ? std::nullopt : std::optional(OfReal(to, value));
    }
    const double whole = std::trunc(value);
    return FitsInteger(to, whole) ? std::optional(OfInteger(to, static_cast<int64_t>(whole)))
                                  : std::nullopt;
  }
  const int64_t value = Integer(scalar);
  if (!IsFloat(to)) {
    return OfInteger(to, value);
  }
  // One rounding: through a double an integer of 64 bits could be rounded twice.
  return IsWide(to) ? OfReal(to, static_cast<double>(value))
                    : Scalar{to, std::bit_cast<uint32_t>(static_cast<float>(value))};
}

// spec/hlsl 6.1: what a literal is when nothing else says it.
Item NaturalItem(Scalar literal) {
  if (literal.item == Item::kLiteralFloat) {
    return Item::kFloat;
  }
  if (literal.item != Item::kLiteralInt) {
    return literal.item;
  }
  const int64_t value = Integer(literal);
  const bool is_int =
      value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  return is_int ? Item::kInt : Item::kUint;
}

uint64_t BitsOf(Scalar scalar) {
  KILN_CHECK(!IsLiteral(scalar.item));
  return scalar.bits;
}

// Floats as the shortest text that reads back to the same value of their width.
std::string TextOf(Scalar scalar) {
  if (scalar.item == Item::kBool) {
    return scalar.bits != 0 ? "true" : "false";
  }
  if (!IsFloat(scalar.item)) {
    return fmt::format("{}", Integer(scalar));
  }
  return IsWide(scalar.item) ? fmt::format("{}", Real(scalar))
                             : fmt::format("{}", static_cast<float>(Real(scalar)));
}

}  // namespace kiln::hlsl
