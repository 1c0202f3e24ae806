// SPDX-License-Identifier: MIT
// Correct rounding is std::from_chars'; overflow is told from underflow here, because from_chars
// reports both as one.
#include "compiler/front/common/number_literal.h"

#include <bit>
#include <charconv>

namespace kiln::front {
namespace {

// 2^32 is reached at most once per step, so the check cannot be fooled by wrapping twice.
template <uint32_t kRadix>
std::optional<uint32_t> ParseDigits(std::string_view digits) {
  uint64_t value = 0;
  for (const char c : digits) {
    const uint32_t digit =
        c <= '9' ? static_cast<uint32_t>(c - '0') : static_cast<uint32_t>((c | 0x20) - 'a' + 10);
    value = value * kRadix + digit;
    if (value > 0xffffffffu) {
      return std::nullopt;
    }
  }
  return static_cast<uint32_t>(value);
}

}  // namespace

std::optional<uint32_t> ParseDecimal(std::string_view digits) { return ParseDigits<10>(digits); }
std::optional<uint32_t> ParseBinary(std::string_view digits) { return ParseDigits<2>(digits); }
std::optional<uint32_t> ParseHexadecimal(std::string_view digits) {
  return ParseDigits<16>(digits);
}

std::optional<uint32_t> ParseFloatBits(std::string_view text) {
  float value = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc{}) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return (bits & 0x7f800000u) == 0x7f800000u ? std::nullopt : std::optional(bits);
  }
  // Out of range: too large or too small. A double, whose range is far wider, tells which; beyond
  // that range the sign of the exponent and the digits before the dot decide.
  double wide = 0;
  if (std::from_chars(text.data(), end, wide).ec == std::errc{}) {
    return wide > 1.0 ? std::nullopt : std::optional<uint32_t>(0);
  }
  const size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    return text.substr(exponent).starts_with("e-") || text.substr(exponent).starts_with("E-")
               ? std::optional<uint32_t>(0)
               : std::nullopt;
  }
  const size_t first_digit = text.find_first_not_of('0');
  return first_digit < text.find('.') ? std::nullopt : std::optional<uint32_t>(0);
}

}  // namespace kiln::front
