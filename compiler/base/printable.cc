// SPDX-License-Identifier: MIT
#include "compiler/base/printable.h"

#include <algorithm>

#include <fmt/core.h>

#include "compiler/base/text/utf8.h"

namespace kiln {
namespace {

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f; }

void AppendSpelled(std::string& out, std::string_view bytes) {
  // Each byte by itself, because what cannot be shown may be no character at all.
  for (const char c : bytes) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
}

// `stays` tells of a control at an offset whether it is kept.
template <class Stays>
std::string Spelled(std::string_view text, const Stays& stays) {
  // Nearly all texts are plain ASCII: they are copied without being decoded.
  if (std::ranges::all_of(text, IsPlain)) {
    return std::string(text);
  }
  std::string out;
  // Bytes that are no UTF-8 are stepped over one at a time, so that decoding finds its way back at
  // the next lead byte and nothing well-formed is spelled out.
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeUtf8(text.substr(at));
    const std::string_view bytes = text.substr(at, std::max<size_t>(point.size, 1));
    if (point.size == 0 || (IsControl(point.value) && !stays(at))) {
      AppendSpelled(out, bytes);
    } else {
      out += bytes;
    }
    at += bytes.size();
  }
  return out;
}

}  // namespace

// Besides the controls of ASCII and Latin 1 these are what changes the order or the lines that are
// seen: the Arabic letter mark, the marks and overrides of writing direction with the two
// separators between them, and the isolates.
bool IsControl(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x061c ||
         code_point == 0x200e || code_point == 0x200f ||
         (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

bool IsPrintable(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeUtf8(text.substr(at));
    if (point.size == 0 || IsControl(point.value)) {
      return false;
    }
    at += point.size;
  }
  return true;
}

std::string WellFormed(std::string_view text) {
  return Spelled(text, [](size_t) { return true; });
}

std::string Printable(std::string_view text) {
  return Spelled(text, [](size_t) { return false; });
}

std::string PrintableLines(std::string_view text) {
  return Spelled(text, [&](size_t at) { return text[at] == '\n' || text[at] == '\t'; });
}

// The two spaces are what keeps a line end harmless: a forged line would have to begin at the left,
// where rows of a log or the name of a file stand.
std::string PrintableMessage(std::string_view text) {
  return Spelled(text, [&](size_t at) { return text.substr(at, 3) == "\n  "; });
}

// JSON itself escapes C0 only, and a terminal that shows it obeys the rest. The escape keeps the
// value of the string, which "\\x9b" would not.
std::string PrintableJson(std::string_view json) {
  if (std::ranges::all_of(json, IsPlain)) {
    return std::string(json);
  }
  std::string out;
  for (size_t at = 0; at < json.size();) {
    const CodePoint point = DecodeUtf8(json.substr(at));
    const size_t size = std::max<size_t>(point.size, 1);
    if (point.size == 0) {
      // The replacement character: a JSON text must be UTF-8, and an escape of a byte would mean
      // another character.
      out += "\xef\xbf\xbd";
    } else if (point.value >= 0x20 && IsControl(point.value)) {
      out += fmt::format("\\u{:04x}", point.value);
    } else {
      out += json.substr(at, size);
    }
    at += size;
  }
  return out;
}

}  // namespace kiln
