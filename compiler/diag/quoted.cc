// SPDX-License-Identifier: MIT
#include "compiler/diag/quoted.h"

#include <cstdint>

namespace kiln {
namespace {

constexpr std::string_view kCut = "...";

// A byte in the middle of a code point.
bool Continues(char byte) { return (static_cast<uint8_t>(byte) & 0xc0u) == 0x80u; }

}  // namespace

// The cut does not divide a code point, or the text would not be UTF-8 any more. Requires that
// `most` has room for the mark.
std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) {
    return std::string(text);
  }
  // The mark counts as part of the length that is allowed.
  size_t end = most - kCut.size();
  for (int i = 0; i < 3 && end > 0 && Continues(text[end]); ++i) {  // more are no code point
    --end;
  }
  return std::string(text.substr(0, end)) + std::string(kCut);
}

// A quoted text stands in one line of a message. So line ends become spaces, and control characters
// become visible. About sixty bytes are shown; a code point that begins before the limit is shown
// whole.
std::string Quoted(std::string_view text) {
  constexpr size_t kLimit = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (i >= kLimit && !Continues(text[i])) {
      return out + std::string(kCut);
    }
    if (byte == '\n' || byte == '\t' || byte == '\r') {
      out += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15u]};
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace kiln
