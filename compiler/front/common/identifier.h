// SPDX-License-Identifier: MIT
// Byte classes that the text front ends share: ASCII letters, digits, separators. A byte of 0x80 or
// above is never part of an identifier.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kiln::front {

enum class ByteClass : uint8_t { kOther, kLetter, kDigit, kSeparator };

// Letters include '_'; separators are space, tab, line feed, carriage return, vertical tab, form
// feed.
inline constexpr std::array<ByteClass, 256> kByteClasses = [] {
  std::array<ByteClass, 256> classes{};
  for (uint32_t c = 0; c < 26; ++c) {
    classes['a' + c] = ByteClass::kLetter;
    classes['A' + c] = ByteClass::kLetter;
  }
  classes['_'] = ByteClass::kLetter;
  for (uint32_t c = '0'; c <= '9'; ++c) {
    classes[c] = ByteClass::kDigit;
  }
  for (const char c : std::string_view(" \t\n\r\v\f")) {
    classes[static_cast<uint8_t>(c)] = ByteClass::kSeparator;
  }
  return classes;
}();

constexpr ByteClass ClassOf(char c) { return kByteClasses[static_cast<uint8_t>(c)]; }
constexpr bool IsDigit(char c) { return ClassOf(c) == ByteClass::kDigit; }
constexpr bool IsIdentifierByte(char c) {
  return ClassOf(c) == ByteClass::kLetter || ClassOf(c) == ByteClass::kDigit;
}

}  // namespace kiln::front
