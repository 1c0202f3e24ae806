// SPDX-License-Identifier: MIT
// Line starts are collected once; a look-up is a binary search and a count within the line.
#include "compiler/source/line_index.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace kiln {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80; }

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text) {
  // Offsets are 32 bits everywhere, and one more than the last is the end.
  KILN_CHECK(text.size() < 0xffffffffu, "{} bytes", text.size());
  starts_.push_back(0);
  for (size_t i = 0; i < text.size(); ++i) {
    // "\r\n" is one line end and its "\n" makes the start; a "\r" alone makes one itself.
    const bool lone_return = text[i] == '\r' && text.substr(i + 1, 1) != "\n";
    if (text[i] == '\n' || lone_return) {
      starts_.push_back(static_cast<uint32_t>(i + 1));
    }
  }
}

LineColumn LineIndex::At(uint32_t offset) const {
  const uint32_t place = std::min(offset, static_cast<uint32_t>(text_.size()));
  // `starts_` has 0 as its first element, so there is always a line before the place found.
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), place);
  const auto line = static_cast<uint32_t>(after - starts_.begin());
  const Span span = LineSpan(line);
  // The column of a line end is the one behind its last character, also for the "\n" of a "\r\n".
  uint32_t end = std::min(place, span.end);
  // A place within a code point goes back to its first byte, or it would count as a column more.
  while (end > span.begin && end < span.end && IsContinuation(text_[end])) {
    --end;
  }
  return {.line = line, .column = 1 + CountCodePoints(TextOf(text_, {span.begin, end}))};
}

Span LineIndex::LineSpan(uint32_t line) const {
  KILN_CHECK(line >= 1 && line <= line_count(), "line {} of {}", line, line_count());
  Span span{.begin = starts_[line - 1], .end = static_cast<uint32_t>(text_.size())};
  if (line < line_count()) {
    // The next start minus one is the last byte of the line end; a "\r" before it belongs to it,
    // too.
    span.end = starts_[line] - 1;
    if (span.end > span.begin && text_[span.end] == '\n' && text_[span.end - 1] == '\r') {
      --span.end;
    }
  }
  return span;
}

// Works on any bytes, because messages about text that is not UTF-8 need columns as well. A lead
// takes as many continuation bytes as it announces; each further one counts by itself.
uint32_t CountCodePoints(std::string_view text) {
  uint32_t count = 0;
  uint32_t continuing = 0;  // continuation bytes that the current code point may still take
  for (const char c : text) {
    if (IsContinuation(c) && continuing > 0) {
      --continuing;
      continue;
    }
    const auto lead = static_cast<unsigned char>(c);
    continuing = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    ++count;
  }
  return count;
}

}  // namespace kiln
