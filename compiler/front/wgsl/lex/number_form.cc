// SPDX-License-Identifier: MIT
// See WGSL, "Numeric Literals". Nothing here computes a value: a form says which digits there
// are and what they stand for, and sema/scalar reads them.
#include "compiler/front/wgsl/lex/number_form.h"

namespace kiln::wgsl::front {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsWord(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool StartsHex(std::string_view text) {
  return text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

// Takes digits off the front; how many there were.
// Digits of an exponent are decimal, also where those before it are hexadecimal.
size_t TakeDigits(std::string_view& text, bool hex) {
  size_t count = 0;
  while (count < text.size() && (hex ? IsHex(text[count]) : IsDigit(text[count]))) {
    ++count;
  }
  text.remove_prefix(count);
  return count;
}

// Takes an exponent off the front. False if there is a letter of one and no number.
bool TakeExponent(std::string_view& text, bool hex, bool& found) {
  const char lower = hex ? 'p' : 'e';
  const char upper = hex ? 'P' : 'E';
  found = !text.empty() && (text[0] == lower || text[0] == upper);
  if (!found) {
    return true;
  }
  text.remove_prefix(1);
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    text.remove_prefix(1);
  }
  return TakeDigits(text, false) > 0;
}

}  // namespace

// How many characters belong to a literal that begins here: letters, digits and dots in any
// order, and a sign directly behind the letter of an exponent. It takes too much on purpose;
// ReadNumber says whether what was taken is a literal.
size_t NumberLength(std::string_view text) {
  const bool hex = StartsHex(text);
  size_t length = 0;
  while (length < text.size()) {
    const char c = text[length];
    // In a hexadecimal literal `e` is a digit, so that `0xe+1` is a sum and `0x1p+1` is one
    // number.
    const bool exponent = length > 0 && (c == '+' || c == '-') &&
                          (hex ? text[length - 1] == 'p' || text[length - 1] == 'P'
                               : text[length - 1] == 'e' || text[length - 1] == 'E');
    if (!IsWord(c) && c != '.' && !exponent) {
      break;
    }
    ++length;
  }
  return length;
}

// The parts in order: prefix, whole digits, fraction, exponent, suffix of one letter. Nothing
// is returned if one of them is missing, stands twice or does not go with the others.
std::optional<NumberForm> ReadNumber(std::string_view text) {
  NumberForm form{.is_hex = StartsHex(text)};
  std::string_view rest = text.substr(form.is_hex ? 2 : 0);
  const std::string_view begin = rest;
  const size_t whole = TakeDigits(rest, form.is_hex);
  size_t fraction = 0;
  bool dot = false;
  if (!rest.empty() && rest[0] == '.') {
    dot = true;
    rest.remove_prefix(1);
    fraction = TakeDigits(rest, form.is_hex);
  }
  bool exponent = false;
  // A lone dot, or a prefix without digits, is no number.
  if (whole + fraction == 0 || !TakeExponent(rest, form.is_hex, exponent)) {
    return std::nullopt;
  }
  // What from_chars is given later: without the prefix, which it does not take, and without the
  // suffix.
  form.digits = begin.substr(0, begin.size() - rest.size());
  form.is_float = dot || exponent;
  if (rest.size() > 1) {
    return std::nullopt;
  }
  // `01` is no literal. `0`, `0.5`, `00.5` and `0x01` are.
  const bool leading_zero = !form.is_hex && !form.is_float && whole > 1 && begin[0] == '0';
  if (rest.empty()) {
    return leading_zero ? std::nullopt : std::optional(form);
  }
  form.suffix = rest[0];
  const bool of_float = form.suffix == 'f' || form.suffix == 'h';
  const bool of_int = form.suffix == 'i' || form.suffix == 'u';
  // Digits of hexadecimal floats may be `f`, so a suffix needs an exponent before it.
  if (leading_zero || (!of_float && !of_int) || (of_int && form.is_float) ||
      (of_float && form.is_hex && !exponent)) {
    return std::nullopt;
  }
  // `1f` is a float although it has neither a dot nor an exponent.
  form.is_float = form.is_float || of_float;
  return form;
}

}  // namespace kiln::wgsl::front
