// SPDX-License-Identifier: MIT
// Scalar constants of a source and their conversions. See spec/hlsl 8.2, 9.1, 10.3
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "compiler/front/hlsl/sema/item.h"

namespace kiln::hlsl {

// Bits by item: booleans 0 or 1; 32-bit integers in the low word; a literal int all 64, signed;
// floats of 32 bits in the low word; double and literal float all 64.
struct Scalar {
  Item item = Item::kInt;
  uint64_t bits = 0;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

constexpr bool IsWide(Item item) { return item == Item::kDouble || item == Item::kLiteralFloat; }

constexpr Scalar BoolValue(bool value) { return {Item::kBool, value ? 1u : 0u}; }
constexpr Scalar IntValue(int32_t value) { return {Item::kInt, static_cast<uint32_t>(value)}; }
constexpr Scalar UintValue(uint32_t value) { return {Item::kUint, value}; }
constexpr Scalar FloatValue(float value) { return {Item::kFloat, std::bit_cast<uint32_t>(value)}; }

// The number as a double, if it is a float of any width; as a 64-bit integer, if it is none.
double Real(Scalar scalar);
int64_t Integer(Scalar scalar);
bool IsZero(Scalar scalar);  // -0.0 too
bool IsFinite(Scalar scalar);

// Of that item, rounded or cut to its width.
Scalar OfReal(Item item, double value);
Scalar OfInteger(Item item, int64_t value);

// As the conversion at run time does it; nothing if that is undefined: a float that does not fit
// its integer or is no number.
std::optional<Scalar> Converted(Scalar scalar, Item to);

// What a literal is without another operand: int, else uint; float. See spec/hlsl 6.1
Item NaturalItem(Scalar literal);

// The bits of the constant in the IR. Requires: no literal.
uint64_t BitsOf(Scalar scalar);

std::string TextOf(Scalar scalar);

}  // namespace kiln::hlsl
