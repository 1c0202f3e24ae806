// SPDX-License-Identifier: MIT
#include "compiler/base/printable.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/core.h>

#include "compiler/base/text/utf8.h"

namespace kiln {
namespace {

struct CodePoints {
  uint32_t first, last;
};

// What is not seen, or changes how the rest is seen: the controls, the separators of lines and
// paragraphs, every format character (category Cf: soft hyphen, marks and overrides of writing
// direction, joiners, tags), letters without ink, and what Unicode keeps for further ones. Two
// names that differ in these alone look the same, and a tag carries text that nobody reads. Marks
// that choose between two forms of a character that is seen (U+FE00 to U+FE0F) are not among them.
constexpr std::array kUnseen = {
    CodePoints{0x0000, 0x001f},   CodePoints{0x007f, 0x009f},   CodePoints{0x00ad, 0x00ad},
    CodePoints{0x034f, 0x034f},   CodePoints{0x0600, 0x0605},   CodePoints{0x061c, 0x061c},
    CodePoints{0x06dd, 0x06dd},   CodePoints{0x070f, 0x070f},   CodePoints{0x0890, 0x0891},
    CodePoints{0x08e2, 0x08e2},   CodePoints{0x115f, 0x1160},   CodePoints{0x17b4, 0x17b5},
    CodePoints{0x180b, 0x180f},   CodePoints{0x200b, 0x200f},   CodePoints{0x2028, 0x202e},
    CodePoints{0x2060, 0x206f},   CodePoints{0x3164, 0x3164},   CodePoints{0xfeff, 0xfeff},
    CodePoints{0xffa0, 0xffa0},   CodePoints{0xfff0, 0xfffb},   CodePoints{0x110bd, 0x110bd},
    CodePoints{0x110cd, 0x110cd}, CodePoints{0x13430, 0x1343f}, CodePoints{0x1bca0, 0x1bca3},
    CodePoints{0x1d173, 0x1d17a}, CodePoints{0xe0000, 0xe0fff}};

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f; }

void AppendSpelled(std::string& out, std::string_view bytes) {
  // Each byte by itself, because what cannot be shown may be no character at all.
  for (const char c : bytes) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
}

// As JSON has it: what is above U+FFFF is a pair of surrogates.
void AppendEscaped(std::string& out, uint32_t code_point) {
  if (code_point > 0xffff) {
    const uint32_t above = code_point - 0x10000;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
  } else {
    out += fmt::format("\\u{:04x}", code_point);
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

bool IsControl(uint32_t code_point) {
  // Nearly all text has none, and what is below the second row is seen.
  if (code_point >= 0x20 && code_point < 0x7f) {
    return false;
  }
  const auto* const row = std::ranges::upper_bound(kUnseen, code_point, {}, &CodePoints::first);
  return row != kUnseen.begin() && code_point <= std::prev(row)->last;
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
      AppendEscaped(out, point.value);
    } else {
      out += json.substr(at, size);
    }
    at += size;
  }
  return out;
}

}  // namespace kiln
