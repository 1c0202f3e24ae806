// SPDX-License-Identifier: MIT
// A range of bytes of one source text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kiln {

// Bytes, [begin, end).
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  constexpr uint32_t size() const { return end - begin; }
  constexpr bool empty() const { return begin == end; }

  friend constexpr bool operator==(Span, Span) = default;
};

// The smallest span that covers both.
constexpr Span Cover(Span a, Span b) {
  return {.begin = std::min(a.begin, b.begin), .end = std::max(a.end, b.end)};
}

// The text of span; parts beyond the end of text are left out.
constexpr std::string_view TextOf(std::string_view text, Span span) {
  const size_t begin = std::min<size_t>(span.begin, text.size());
  const size_t end = std::clamp<size_t>(span.end, begin, text.size());
  return text.substr(begin, end - begin);
}

}  // namespace kiln
