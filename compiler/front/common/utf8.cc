// SPDX-License-Identifier: MIT
#include "compiler/front/common/utf8.h"

#include <cstdint>
#include <cstring>

namespace kiln::front {
namespace {

// Bytes of the well-formed code point at the front of `text`; 0 if there is none.
size_t WellFormedSize(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto continues = [](uint8_t b) { return (b & 0xc0u) == 0x80u; };
  const uint8_t first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const uint8_t second = byte(1);
  if (first < 0xc2 || first > 0xf4 || !continues(second)) {
    return 0;
  }
  if (first < 0xe0) {
    return 2;
  }
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool beyond = first == 0xf4 && second >= 0x90;
  if (overlong || surrogate || beyond || !continues(byte(2))) {
    return 0;
  }
  if (first < 0xf0) {
    return 3;
  }
  return continues(byte(3)) ? 4 : 0;
}

}  // namespace

size_t FindInvalidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    while (at + 8 <= text.size()) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, 8);
      if ((word & 0x8080808080808080u) != 0) {
        break;
      }
      at += 8;
    }
    if (at == text.size()) {
      break;
    }
    const size_t size = WellFormedSize(text.substr(at, 4));
    if (size == 0) {
      return at;
    }
    at += size;
  }
  return std::string_view::npos;
}

size_t CodePointSize(std::string_view text, size_t offset) {
  size_t end = offset + 1;
  while (end < text.size() && (static_cast<uint8_t>(text[end]) & 0xc0u) == 0x80u) {
    ++end;
  }
  return end - offset;
}

}  // namespace kiln::front
