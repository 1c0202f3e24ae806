// SPDX-License-Identifier: MIT
// Numbers of WGSL as words of 64 bits: how they are rounded, converted, read and printed.
// Nothing here traps or wraps by accident; a value that does not exist is a Fault with a
// reason, and whoever asked turns it into a diagnostic or leaves the instruction to run time.
#include "compiler/front/wgsl/sema/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "compiler/front/wgsl/lex/number_form.h"

namespace kiln::wgsl::front {
namespace {

constexpr std::string_view kTooLarge = "the result does not fit";
constexpr std::string_view kNoNumber = "the result is no number";

// The nearest half, ties to even; halves below 2^-14 have a fixed step.
// The step between neighbouring halves is 2^(e - 10) for values of [2^e, 2^(e + 1)), where
// frexp gives e + 1. Dividing by a power of two is exact, so there is one rounding.
double ToHalf(double value) {
  if (value == 0) {
    return value;
  }
  int exponent = 0;
  std::frexp(value, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent - 1, -14) - 10);
  return std::nearbyint(value / step) * step;
}

int64_t Least(ScalarKind kind) {
  return kind == ScalarKind::kI32   ? std::numeric_limits<int32_t>::min()
         : kind == ScalarKind::kU32 ? 0
                                    : std::numeric_limits<int64_t>::min();
}
int64_t Most(ScalarKind kind) {
  return kind == ScalarKind::kI32   ? std::numeric_limits<int32_t>::max()
         : kind == ScalarKind::kU32 ? std::numeric_limits<uint32_t>::max()
                                    : std::numeric_limits<int64_t>::max();
}

// Digits of a literal, with sixteen of them or ten, into 64 bits.
// The prefix and the suffix are not among the digits. A literal has no sign: -2147483648 is a
// negation of one that has to fit, and does as an abstract integer.
ScalarResult ReadInteger(const NumberForm& form, ScalarKind kind) {
  uint64_t value = 0;
  const auto read = std::from_chars(form.digits.data(), form.digits.data() + form.digits.size(),
                                    value, form.is_hex ? 16 : 10);
  if (read.ec != std::errc() || value > static_cast<uint64_t>(Most(kind))) {
    return {.fault = kTooLarge};
  }
  return {.word = value};
}

// Rounded once, to the width of the literal. What the library finds out of range is too large, or
// too small and zero: that is told by how it begins and by the sign of its exponent.
template <class Number>
ScalarResult ReadNearest(const NumberForm& form) {
  Number value = 0;
  const auto read =
      std::from_chars(form.digits.data(), form.digits.data() + form.digits.size(), value,
                      form.is_hex ? std::chars_format::hex : std::chars_format::general);
  if (read.ec == std::errc::result_out_of_range) {
    const char first = form.digits.front();
    const bool small = first == '0' || first == '.' || form.digits.find('-') != std::string::npos;
    return small ? ScalarResult{.word = WordOf(0.0)} : ScalarResult{.fault = kTooLarge};
  }
  return {.word = WordOf(static_cast<double>(value))};
}

// A literal of f32 is read as one: read as a double and rounded again it could be off by the
// last bit.
ScalarResult ReadFloat(const NumberForm& form, ScalarKind kind) {
  if (kind == ScalarKind::kF32) {
    return ReadNearest<float>(form);
  }
  const ScalarResult read = ReadNearest<double>(form);
  return read.ok() ? RoundTo(kind, FloatOf(read.word)) : read;
}

}  // namespace

// What all results of floats go through. Infinities and NaN are no values of constants.
ScalarResult RoundTo(ScalarKind kind, double value) {
  if (std::isnan(value)) {
    return {.fault = kNoNumber};
  }
  const double rounded = kind == ScalarKind::kF32 ? static_cast<double>(static_cast<float>(value))
                         // The cast rounds to even. What is above the largest half is not
                         // changed by ToHalf, only found below.
                         : kind == ScalarKind::kF16 && std::isfinite(value) ? ToHalf(value)
                                                                            : value;
  const bool fits =
      std::isfinite(rounded) && (kind != ScalarKind::kF16 || std::abs(rounded) <= 65504.0);
  return fits ? ScalarResult{.word = WordOf(rounded)} : ScalarResult{.fault = kTooLarge};
}

ScalarResult FitInt(ScalarKind kind, int64_t value) {
  return value < Least(kind) || value > Most(kind) ? ScalarResult{.fault = kTooLarge}
                                                   : ScalarResult{.word = WordOf(value)};
}

// Conversions that WGSL does by itself, between abstract and concrete numbers: the value must
// fit, floats are only rounded.
ScalarResult ConvertExact(ScalarKind from, ScalarKind to, Word word) {
  if (from == to || from == ScalarKind::kBool) {
    return {.word = word};
  }
  if (IsFloat(to)) {
    return RoundTo(to, IsFloat(from) ? FloatOf(word) : static_cast<double>(IntOf(word)));
  }
  if (!IsFloat(from)) {
    return FitInt(to, IntOf(word));
  }
  // Comparing as doubles is right at the edges: 2^63 is the first that does not fit and is
  // asked for by itself, since the largest int64_t has no double.
  const double value = std::trunc(FloatOf(word));
  if (value < static_cast<double>(Least(to)) || value > static_cast<double>(Most(to)) ||
      value >= 0x1p63) {
    return {.fault = kTooLarge};
  }
  return {.word = WordOf(static_cast<int64_t>(value))};
}

// What the constructors `T(e)` do. To a concrete integer nothing fails: bits of another integer
// are taken as they are, and a float that is too large becomes the largest integer (WGSL,
// "Floating Point Conversion").
ScalarResult ConvertValue(ScalarKind from, ScalarKind to, Word word) {
  if (to == ScalarKind::kBool) {
    return {.word = IsFloat(from) ? Word{FloatOf(word) != 0} : Word{word != 0}};
  }
  if (from == ScalarKind::kBool) {
    return {.word = IsFloat(to) ? WordOf(static_cast<double>(word)) : word};
  }
  if (IsFloat(to) || IsAbstract(to) || IsAbstract(from)) {
    // An abstract float is an f32 first, as the overload of the constructor takes it.
    if (from == ScalarKind::kAbstractFloat && IsInteger(to)) {
      return ConvertValue(ScalarKind::kF32, to, word);
    }
    return ConvertExact(from, to, word);
  }
  if (IsFloat(from)) {
    const double value = std::trunc(FloatOf(word));
    const double least = static_cast<double>(Least(to));
    const double most = static_cast<double>(Most(to));
    return {.word = WordOf(value <= least  ? Least(to)
                           : value >= most ? Most(to)
                                           : static_cast<int64_t>(value))};
  }
  const auto bits = static_cast<uint32_t>(word);
  return {.word =
              to == ScalarKind::kI32 ? WordOf(int64_t{static_cast<int32_t>(bits)}) : Word{bits}};
}

// The bits that a word has in memory of its type, for bitcasts and for constants of the IR.
uint64_t BitsOf(ScalarKind kind, Word word) {
  if (kind == ScalarKind::kF32) {
    return std::bit_cast<uint32_t>(static_cast<float>(FloatOf(word)));
  }
  if (kind != ScalarKind::kF16) {
    return static_cast<uint32_t>(word);
  }
  // A half: sign, five bits of exponent with a bias of 15, ten of mantissa. Values below 2^-14
  // have exponent 0 and a mantissa without its leading one. The word was rounded to a half
  // before, so no bit is lost here.
  const double value = FloatOf(word);
  const uint32_t sign = std::signbit(value) ? 0x8000u : 0;
  if (value == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unbiased = std::max(exponent - 1, -14);
  const auto mantissa = static_cast<uint32_t>(std::ldexp(std::abs(value), 10 - unbiased));
  const uint32_t biased = mantissa < 1024 ? 0 : static_cast<uint32_t>(unbiased + 15);
  return sign | biased << 10 | (mantissa & 1023u);
}

// The other way. Infinities and NaN, exponent 31 of a half, are no constants; for f32 RoundTo
// says so.
ScalarResult FromBits(ScalarKind kind, uint64_t bits) {
  switch (kind) {
    case ScalarKind::kF32:
      return RoundTo(kind, static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
    case ScalarKind::kF16: {
      const auto exponent = static_cast<int>(bits >> 10 & 31u);
      if (exponent == 31) {
        return {.fault = kNoNumber};
      }
      // Without a leading one where the exponent is 0, which counts as 1 then.
      const auto mantissa = static_cast<double>((bits & 1023u) + (exponent == 0 ? 0 : 1024));
      const double value = std::ldexp(mantissa, std::max(exponent, 1) - 25);
      return {.word = WordOf((bits & 0x8000u) != 0 ? -value : value)};
    }
    case ScalarKind::kI32:
      return {.word = WordOf(int64_t{static_cast<int32_t>(static_cast<uint32_t>(bits))})};
    default:
      return {.word = static_cast<uint32_t>(bits)};
  }
}

// Floats are the shortest text that reads back to the same double.
std::string TextOf(ScalarKind kind, Word word) {
  if (kind == ScalarKind::kBool) {
    return word == 0 ? "false" : "true";
  }
  return IsFloat(kind) ? fmt::format("{}", FloatOf(word)) : fmt::format("{}", IntOf(word));
}

// Nothing if the text is no literal, which the lexer has said; a fault in the value if it is
// one that does not fit.
std::optional<Literal> ReadLiteral(std::string_view text) {
  if (text == "true" || text == "false") {
    return Literal{.kind = ScalarKind::kBool, .value = {.word = Word{text == "true"}}};
  }
  const std::optional<NumberForm> form = ReadNumber(text);
  if (!form.has_value()) {
    return std::nullopt;
  }
  Literal literal;
  switch (form->suffix) {
    case 'i':
      literal.kind = ScalarKind::kI32;
      break;
    case 'u':
      literal.kind = ScalarKind::kU32;
      break;
    case 'f':
      literal.kind = ScalarKind::kF32;
      break;
    case 'h':
      literal.kind = ScalarKind::kF16;
      break;
    default:
      literal.kind = form->is_float ? ScalarKind::kAbstractFloat : ScalarKind::kAbstractInt;
      break;
  }
  literal.value =
      form->is_float ? ReadFloat(*form, literal.kind) : ReadInteger(*form, literal.kind);
  return literal;
}

}  // namespace kiln::wgsl::front
