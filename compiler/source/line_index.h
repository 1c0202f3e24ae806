// SPDX-License-Identifier: MIT
// Byte offset -> line and column. A line ends with "\n", "\r\n" or a lone "\r"; columns count
// Unicode code points. Both count from 1.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/source/span.h"

namespace kiln {

struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;

  friend bool operator==(LineColumn, LineColumn) = default;
};

class LineIndex {
 public:
  // Views text, which must outlive the index. Requires: less than 4 GiB.
  explicit LineIndex(std::string_view text);

  // An offset beyond the end is the end. A byte inside a code point or line end belongs to its
  // start.
  LineColumn At(uint32_t offset) const;

  // At least one line, even of empty text; text that ends with a line end has an empty last line.
  uint32_t line_count() const { return static_cast<uint32_t>(starts_.size()); }

  // Bytes of a line without its end. Requires: 1 <= line <= line_count().
  Span LineSpan(uint32_t line) const;

 private:
  std::string_view text_;
  std::vector<uint32_t> starts_;  // offset of the first byte of each line
};

// Number of Unicode code points; every byte that continues none counts as one.
uint32_t CountCodePoints(std::string_view text);

}  // namespace kiln
