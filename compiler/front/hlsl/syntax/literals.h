// SPDX-License-Identifier: MIT
// Spellings of numbers and strings → values. Pure, no locale, no diagnostics: the caller knows code
// and place. Any length of text gives the right answer. See spec/hlsl 5.1
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/front/hlsl/syntax/ast.h"

namespace kiln::hlsl::syntax {

enum class LiteralError : uint8_t {
  kNone,
  kMalformed,
  kTooLarge,  // for the 64 bits of an integer, or the bits of a float
};

struct IntegerLiteral {
  LiteralError error = LiteralError::kNone;
  uint64_t value = 0;
  IntegerSuffix suffix = IntegerSuffix::kNone;

  friend bool operator==(const IntegerLiteral&, const IntegerLiteral&) = default;
};
// [0-9]+, 0[0-7]*, 0[xX][0-9a-fA-F]+, and a suffix.
IntegerLiteral ReadInteger(std::string_view text);

struct FloatLiteral {
  LiteralError error = LiteralError::kNone;
  uint8_t width =
      64;  // bits of what it is rounded to: 32 with suffix f, 64 without and with h and l
  double value = 0;
  FloatSuffix suffix = FloatSuffix::kNone;

  friend bool operator==(const FloatLiteral&, const FloatLiteral&) = default;
};
// Digits with a dot on either side, an exponent, or both, and a suffix. Rounded once, to the
// nearest, ties to even; small values become denormal or zero.
FloatLiteral ReadFloat(std::string_view text);

// Is it a number with a dot or an exponent, which are no hexadecimal digits?
bool IsFloatSpelling(std::string_view text);

// Adds what stands between the quotes, with \n \t \\ and \" replaced; other escapes stay as
// written. Requires: text begins and ends with a quote.
void AppendString(std::string_view text, std::string& out);

}  // namespace kiln::hlsl::syntax
