// SPDX-License-Identifier: MIT
// Decoder after table 3-7 of the Unicode standard: the second byte has a range of its own for some
// leads, later bytes are 80..BF.
#include "compiler/base/text/utf8.h"

#include <cstring>

namespace kiln {
namespace {

struct LeadRow {
  uint32_t size;
  uint8_t second_min;
  uint8_t second_max;
};

// C0 and C1 would only begin encodings that are longer than needed, and F5 and above lie beyond
// U+10FFFF; no second byte makes them valid. The ranges after E0 and F0 refuse the longer
// encodings, after ED the surrogates, after F4 what lies beyond the last code point. Size zero: no
// character begins with this byte.
LeadRow RowOf(uint8_t lead) {
  if (lead < 0x80) {
    return {.size = 1, .second_min = 0, .second_max = 0};
  }
  if (lead >= 0xc2 && lead <= 0xdf) {
    return {.size = 2, .second_min = 0x80, .second_max = 0xbf};
  }
  if (lead >= 0xe0 && lead <= 0xef) {
    return {.size = 3,
            .second_min = static_cast<uint8_t>(lead == 0xe0 ? 0xa0 : 0x80),
            .second_max = static_cast<uint8_t>(lead == 0xed ? 0x9f : 0xbf)};
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    return {.size = 4,
            .second_min = static_cast<uint8_t>(lead == 0xf0 ? 0x90 : 0x80),
            .second_max = static_cast<uint8_t>(lead == 0xf4 ? 0x8f : 0xbf)};
  }
  return {.size = 0, .second_min = 0, .second_max = 0};
}

}  // namespace

// Strict: longer encodings than needed, surrogates and values above U+10FFFF are no characters, so
// that each character has one spelling.
CodePoint DecodeUtf8(std::string_view text) {
  // A size of zero stands for "no character" in all cases, also where nothing is left.
  if (text.empty()) {
    return {};
  }
  const auto lead = static_cast<uint8_t>(text[0]);
  const LeadRow row = RowOf(lead);
  if (row.size == 1) {
    return {.value = lead, .size = 1};
  }
  // A character that is cut off at the end is as wrong as any other.
  if (row.size == 0 || text.size() < row.size) {
    return {};
  }
  // The lead keeps as many bits as are left below its marker.
  uint32_t value = lead & (0x7fu >> row.size);
  for (uint32_t i = 1; i < row.size; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const uint8_t min = i == 1 ? row.second_min : 0x80;
    const uint8_t max = i == 1 ? row.second_max : 0xbf;
    if (byte < min || byte > max) {
      return {};
    }
    value = value << 6 | (byte & 0x3fu);
  }
  return {.value = value, .size = row.size};
}

// Sources are nearly all ASCII, so the words of eight bytes decide how fast this is. The size of
// the text if all of it is UTF-8.
size_t FindInvalidUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    // eight ASCII bytes at a time
    for (uint64_t word = 0; i + sizeof(word) <= text.size(); i += sizeof(word)) {
      // Copied, as the text need not be aligned; compilers make one load of it.
      std::memcpy(&word, text.data() + i, sizeof(word));
      if ((word & 0x8080808080808080u) != 0) {
        break;
      }
    }
    if (i == text.size()) {
      break;
    }
    if (static_cast<uint8_t>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const CodePoint point = DecodeUtf8(text.substr(i));
    if (point.size == 0) {
      return i;
    }
    i += point.size;
  }
  return i;
}

}  // namespace kiln
