// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/literals.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::wgsl {
namespace {

// The smallest s1 has no literal: the minus sign is an operator in WGSL, and 2147483648 is too
// large for one.
constexpr uint32_t kSmallestSigned = 0x80000000u;
constexpr uint32_t kLargestFloat = 0x7f7fffffu;

// The shortest decimal that reads back to `value`, with a dot or an exponent.
std::string Decimal(float value) {
  char buffer[32];
  // Of the standard library, as its result is the shortest and does not depend on the locale.
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end.ptr);
  // An exponent makes it a float as well.
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}

// Decimals are read exactly: that of the largest number is above it, and those of the smallest lose
// bits on the way in some readers.
std::string FloatLiteral(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffffu;
  const std::string sign = bits == magnitude ? "" : "-";
  // In hexadecimal, where no reader rounds.
  if (magnitude == kLargestFloat) {
    return sign + "0x1.fffffep+127f";
  }
  return sign + Decimal(std::bit_cast<float>(magnitude)) + "f";
}

}  // namespace

// Halves without an implicit one begin below 2^-14 and are multiples of 2^-24. A float holds every
// half exactly.
float HalfToFloat(uint32_t bits) {
  const uint32_t exponent = bits >> 10 & 31u;
  const uint32_t mantissa = bits & 1023u;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                        : std::ldexp(static_cast<float>(mantissa + 1024),
                                                     static_cast<int>(exponent) - 25);
  return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

// All bits of the exponent set: an infinity, or no number.
bool HasLiteral(ir::Scalar scalar, uint32_t bits) {
  if (scalar == ir::Scalar::kF32) {
    return (bits & 0x7f800000u) != 0x7f800000u;
  }
  return scalar != ir::Scalar::kF16 || (bits & 0x7c00u) != 0x7c00u;
}

std::string Literal(ir::Scalar scalar, uint32_t bits) {
  KILN_CHECK(HasLiteral(scalar, bits), "bits {:x} have no literal", bits);
  switch (scalar) {
    case ir::Scalar::kF32:
      return FloatLiteral(bits);
    case ir::Scalar::kF16: {
      const float value = HalfToFloat(bits & 0x7fffu);
      // The magnitude is converted and the sign written in front, so that -0.0 keeps it.
      return ((bits & 0x8000u) != 0 ? "-" : "") + Decimal(value) + "h";
    }
    // The letter is needed: a number without one would take its type from where it stands.
    case ir::Scalar::kU32:
      return fmt::format("{}u", bits);
    case ir::Scalar::kS32:
      return bits == kSmallestSigned ? "i32(-2147483648)"
                                     : fmt::format("{}i", static_cast<int32_t>(bits));
    case ir::Scalar::kBool:
      return bits != 0 ? "true" : "false";
    case ir::Scalar::kNone:
    case ir::Scalar::kF64:
    case ir::Scalar::kS64:
    case ir::Scalar::kU64:
    case ir::Scalar::kS16:
    case ir::Scalar::kU16:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::wgsl
