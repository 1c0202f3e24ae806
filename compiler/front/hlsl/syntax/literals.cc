// SPDX-License-Identifier: MIT
// Correct rounding is std::from_chars'; it reports overflow and underflow as one, so the place of
// the first digit that counts tells them apart.
#include "compiler/front/hlsl/syntax/literals.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/front/common/identifier.h"

namespace kiln::hlsl::syntax {
namespace {

// For letters of ASCII only, so that the locale has no say.
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// The suffixes may be written in any case and 'u' may stand on either side.
// At most four characters are looked at: a longer one is none of them.
std::optional<IntegerSuffix> IntegerSuffixOf(std::string_view text) {
  std::string lower(text.substr(0, 4));
  std::ranges::transform(lower, lower.begin(), Lower);
  if (text.empty()) {
    return IntegerSuffix::kNone;
  }
  if (lower == "u") {
    return IntegerSuffix::kU;
  }
  if (lower == "l") {
    return IntegerSuffix::kL;
  }
  if (lower == "ul" || lower == "lu") {
    return IntegerSuffix::kUl;
  }
  if (lower == "ll") {
    return IntegerSuffix::kLl;
  }
  if (lower == "ull" || lower == "llu") {
    return IntegerSuffix::kUll;
  }
  return std::nullopt;
}

// One letter at most.
std::optional<FloatSuffix> FloatSuffixOf(std::string_view text) {
  if (text.empty()) {
    return FloatSuffix::kNone;
  }
  if (text.size() > 1) {
    return std::nullopt;
  }
  switch (Lower(text[0])) {
    case 'f':
      return FloatSuffix::kF;
    case 'h':
      return FloatSuffix::kH;
    case 'l':
      return FloatSuffix::kL;
    default:  // no letter of a suffix
      return std::nullopt;
  }
}

bool IsHexDigit(char c) { return front::IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'f'); }

// To the first character that is no digit.
size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && front::IsDigit(text[at])) {
    ++at;
  }
  return at;
}

// Digits [ '.' digits ] [ exponent ]; npos if that is not what text begins with.
size_t EndOfFloat(std::string_view text) {
  const size_t whole = SkipDigits(text, 0);
  size_t end = whole;
  bool has_digits = whole > 0;
  if (end < text.size() && text[end] == '.') {
    const size_t behind = SkipDigits(text, end + 1);
    has_digits |= behind > end + 1;
    end = behind;
  }
  if (!has_digits) {
    return std::string_view::npos;
  }
  if (end < text.size() && Lower(text[end]) == 'e') {
    size_t digits = end + 1;
    digits += digits < text.size() && (text[digits] == '+' || text[digits] == '-') ? 1 : 0;
    const size_t behind = SkipDigits(text, digits);
    if (behind == digits) {
      return std::string_view::npos;
    }
    end = behind;
  }
  return end;
}

// Whether a number that is out of range is too large, not too small. `e` is what its exponent says;
// it may be so long that it wraps nothing, because it saturates.
// The power of ten of the first digit that counts: its distance to the dot, plus the exponent.
// Above 0 the number is at least 1 and so was too large; otherwise it was too small, and is 0.
bool IsLarge(std::string_view number) {
  const size_t exponent_at = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, exponent_at);
  const size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) {
    return false;
  }
  const size_t dot = std::min(digits.find('.'), digits.size());
  // 2^40 is beyond every distance that a literal can have, so that a long exponent saturates
  // instead of wrapping.
  constexpr int64_t kFar = int64_t{1} << 40;
  int64_t exponent = 0;
  bool negative = false;
  for (size_t i = exponent_at; i < number.size(); ++i) {
    negative |= number[i] == '-';
    if (front::IsDigit(number[i])) {
      exponent = std::min(exponent * 10 + (number[i] - '0'), kFar);
    }
  }
  const auto place = static_cast<int64_t>(dot) - static_cast<int64_t>(first);
  return place + (negative ? -exponent : exponent) > 0;
}

// spec/hlsl 5.3: out of range is judged in the width of the suffix. Rounded once: `1.0f` is
// read as a float, never as a double first.
template <class Float>
FloatLiteral Rounded(std::string_view number, FloatSuffix suffix) {
  FloatLiteral out{.width = sizeof(Float) * 8, .suffix = suffix};
  Float value = 0;
  const std::from_chars_result result =
      std::from_chars(number.data(), number.data() + number.size(), value);
  if (result.ec == std::errc{}) {
    out.value = value;
    out.error = std::isfinite(value) ? LiteralError::kNone : LiteralError::kTooLarge;
  } else if (IsLarge(number)) {
    out.error = LiteralError::kTooLarge;
  }
  return out;
}

}  // namespace

// In 64 bits. Reading goes on behind an overflow, so that a malformed spelling is reported as
// that.
IntegerLiteral ReadInteger(std::string_view text) {
  uint64_t radix = 10;
  size_t at = 0;
  if (text.size() > 1 && text[0] == '0' && Lower(text[1]) == 'x') {
    radix = 16;
    at = 2;
  } else if (text.size() > 1 && text[0] == '0' && front::IsDigit(text[1])) {
    radix = 8;
    at = 1;
  }
  const size_t first = at;
  IntegerLiteral out;
  for (; at < text.size() && (radix == 16 ? IsHexDigit(text[at]) : front::IsDigit(text[at]));
       ++at) {
    const char c = Lower(text[at]);
    const auto digit = static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (digit >= radix) {
      return {.error = LiteralError::kMalformed};
    }
    if (out.value > (std::numeric_limits<uint64_t>::max() - digit) / radix) {
      out.error = LiteralError::kTooLarge;
    }
    out.value = out.value * radix + digit;
  }
  const std::optional<IntegerSuffix> suffix = IntegerSuffixOf(text.substr(at));
  if (at == first || !suffix) {
    return {.error = LiteralError::kMalformed};
  }
  if (out.error != LiteralError::kNone) {
    return {.error = out.error};
  }
  out.suffix = *suffix;
  return out;
}

FloatLiteral ReadFloat(std::string_view text) {
  const size_t end = EndOfFloat(text);
  const std::optional<FloatSuffix> suffix =
      end == std::string_view::npos ? std::nullopt : FloatSuffixOf(text.substr(end));
  if (!suffix) {
    return {.error = LiteralError::kMalformed};
  }
  const std::string_view number = text.substr(0, end);
  return *suffix == FloatSuffix::kF ? Rounded<float>(number, *suffix)
                                    : Rounded<double>(number, *suffix);
}

// Also for spellings that macros made: `e` is a digit in hexadecimal ones.
bool IsFloatSpelling(std::string_view text) {
  const bool hexadecimal = text.size() > 1 && text[0] == '0' && Lower(text[1]) == 'x';
  return text.find('.') != std::string_view::npos ||
         (!hexadecimal && text.find_first_of("eE") != std::string_view::npos);
}

// Escapes are the four that HLSL has; any other backslash is kept as it is.
void AppendString(std::string_view text, std::string& out) {
  const std::string_view inside = text.substr(1, text.size() - 2);
  for (size_t at = 0; at < inside.size(); ++at) {
    const char next = at + 1 < inside.size() ? inside[at + 1] : '\0';
    if (inside[at] != '\\' || (next != 'n' && next != 't' && next != '\\' && next != '"')) {
      out += inside[at];
      continue;
    }
    out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
    ++at;
  }
}

}  // namespace kiln::hlsl::syntax
