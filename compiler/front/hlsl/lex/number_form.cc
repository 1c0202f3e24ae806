// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/lex/number_form.h"

#include <algorithm>
#include <array>

#include "compiler/front/common/identifier.h"

namespace kiln::hlsl {
namespace {

using front::IsDigit;
using front::IsIdentifierByte;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool IsHexDigit(char c) { return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'f'); }

bool IsHexadecimal(std::string_view text) {
  return text.size() > 1 && text[0] == '0' && Lower(text[1]) == 'x';
}

// A letter that a swizzle begins with and no suffix or exponent does.
// A dot before one of these ends the number: `1.xxx` is a swizzle of 1. The suffixes f, h and
// l, and e of exponents, are not among them.
bool BeginsSwizzle(char c) {
  return std::string_view("xyzwrgba").find(c) != std::string_view::npos;
}

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) {
    ++at;
  }
  return at;
}

// spec/hlsl 5.1: in any case, `u` on either side.
bool IsIntegerSuffix(std::string_view suffix) {
  constexpr auto kSuffixes =
      std::to_array<std::string_view>({"", "u", "l", "ul", "lu", "ll", "ull", "llu"});
  std::array<char, 3> lower{};
  if (suffix.size() > lower.size()) {
    return false;
  }
  std::ranges::transform(suffix, lower.begin(), Lower);
  return std::ranges::find(kSuffixes, std::string_view(lower.data(), suffix.size())) !=
         kSuffixes.end();
}

TokenKind HexadecimalKind(std::string_view spelling) {
  size_t end = 2;
  while (end < spelling.size() && IsHexDigit(spelling[end])) {
    ++end;
  }
  return end > 2 && IsIntegerSuffix(spelling.substr(end)) ? TokenKind::kInteger
                                                          : TokenKind::kMalformed;
}

// The place behind an exponent that starts at `at`; `at` if there is none or it has no digits.
// A letter without digits is no exponent; it is left to the suffix, which then is wrong.
size_t SkipExponent(std::string_view text, size_t at) {
  if (at == text.size() || Lower(text[at]) != 'e') {
    return at;
  }
  size_t digits = at + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) {
    ++digits;
  }
  const size_t end = SkipDigits(text, digits);
  return end == digits ? at : end;
}

}  // namespace

// All that touches a number belongs to it, whether it makes sense or not (spec/hlsl 5.1). So
// `1.0.rgb` ends before its second dot, and `12ab` is one malformed token.
uint32_t NumberEnd(std::string_view text, uint32_t begin) {
  const auto at = [&](size_t offset) { return offset < text.size() ? text[offset] : '\0'; };
  const bool hexadecimal = IsHexadecimal(text.substr(begin, 2));
  bool dotted = text[begin] == '.';
  size_t end = begin + 1;
  while (true) {
    const char c = at(end);
    if (IsIdentifierByte(c)) {
      ++end;
      // A second dot belongs to it only before a digit: `1.2.3` is one wrong number, `1.0.r` is
      // not.
    } else if (c == '.' && !BeginsSwizzle(at(end + 1)) && (!dotted || IsDigit(at(end + 1)))) {
      dotted = true;
      ++end;
    } else if ((c == '+' || c == '-') && !hexadecimal && Lower(text[end - 1]) == 'e') {
      ++end;
    } else {
      return static_cast<uint32_t>(end);
    }
  }
}

// Which token the spelling is. A dot or an exponent makes a float, everything else is an
// integer.
TokenKind NumberKind(std::string_view spelling) {
  if (IsHexadecimal(spelling)) {
    return HexadecimalKind(spelling);
  }
  const size_t whole = SkipDigits(spelling, 0);
  const bool dotted = whole < spelling.size() && spelling[whole] == '.';
  const size_t fraction = dotted ? SkipDigits(spelling, whole + 1) : whole;
  if (dotted && fraction == 1) {
    return TokenKind::kMalformed;  // a dot alone
  }
  const size_t end = SkipExponent(spelling, fraction);
  const std::string_view suffix = spelling.substr(end);
  if (end > whole) {
    const bool good = suffix.empty() ||
                      (suffix.size() == 1 &&
                       std::string_view("fhl").find(Lower(suffix[0])) != std::string_view::npos);
    return good ? TokenKind::kFloat : TokenKind::kMalformed;
  }
  // A zero in front makes the digits octal: 8 and 9 are none. `09.5` is a float and right.
  const bool octal = whole > 1 && spelling[0] == '0';
  if (octal && spelling.substr(0, whole).find_first_of("89") != std::string_view::npos) {
    return TokenKind::kMalformed;
  }
  return IsIntegerSuffix(suffix) ? TokenKind::kInteger : TokenKind::kMalformed;
}

// For `#if` and `#line`, which count in 64 bits. Nothing if the value does not fit.
std::optional<Integer> IntegerValue(std::string_view spelling) {
  const bool hexadecimal = IsHexadecimal(spelling);
  const uint64_t base = hexadecimal ? 16 : spelling[0] == '0' ? 8 : 10;
  Integer out;
  size_t at = hexadecimal ? 2 : 0;
  for (; at < spelling.size(); ++at) {
    const char c = Lower(spelling[at]);
    if (!IsDigit(c) && !(hexadecimal && IsHexDigit(c))) {
      break;
    }
    const auto digit = static_cast<uint64_t>(IsDigit(c) ? c - '0' : c - 'a' + 10);
    if (__builtin_mul_overflow(out.value, base, &out.value) ||
        __builtin_add_overflow(out.value, digit, &out.value)) {
      return std::nullopt;
    }
  }
  out.is_unsigned = spelling.substr(at).find_first_of("uU") != std::string_view::npos;
  return out;
}

}  // namespace kiln::hlsl
