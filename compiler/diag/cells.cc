// SPDX-License-Identifier: MIT
// Width of code points by own tables, so that the result does not depend on a locale.
#include "compiler/diag/cells.h"

#include <algorithm>
#include <array>
#include <span>

#include "compiler/base/printable.h"
#include "compiler/base/text/utf8.h"

namespace kiln {
namespace {

struct CodePointRange {
  uint32_t first;
  uint32_t last;
};

// East Asian wide and full-width blocks, and emoji; after Unicode TR11.
constexpr auto kWide = std::to_array<CodePointRange>({{0x1100, 0x115f},
                                                      {0x2e80, 0x303e},
                                                      {0x3041, 0x33ff},
                                                      {0x3400, 0x4dbf},
                                                      {0x4e00, 0x9fff},
                                                      {0xa000, 0xa4cf},
                                                      {0xa960, 0xa97f},
                                                      {0xac00, 0xd7a3},
                                                      {0xf900, 0xfaff},
                                                      {0xfe30, 0xfe6f},
                                                      {0xff00, 0xff60},
                                                      {0xffe0, 0xffe6},
                                                      {0x1f300, 0x1f64f},
                                                      {0x1f680, 0x1f6ff},
                                                      {0x1f900, 0x1f9ff},
                                                      {0x20000, 0x3fffd}});

// Combining marks, joiners and variation selectors.
constexpr auto kZero = std::to_array<CodePointRange>({{0x0300, 0x036f},
                                                      {0x0483, 0x0489},
                                                      {0x0591, 0x05bd},
                                                      {0x0610, 0x061a},
                                                      {0x064b, 0x065f},
                                                      {0x1ab0, 0x1aff},
                                                      {0x1dc0, 0x1dff},
                                                      {0x200b, 0x200f},
                                                      {0x20d0, 0x20ff},
                                                      {0xfe00, 0xfe0f},
                                                      {0xfe20, 0xfe2f}});

// The ranges ascend and do not overlap, so a binary search by their ends is enough.
bool IsIn(std::span<const CodePointRange> ranges, uint32_t point) {
  const auto found = std::ranges::lower_bound(ranges, point, {}, &CodePointRange::last);
  return found != ranges.end() && found->first <= point;
}

// Zero is asked first, since some marks lie inside of wide blocks.
uint32_t WidthOf(uint32_t point) {
  if (IsIn(kZero, point)) {
    return 0;
  }
  return IsIn(kWide, point) ? 2 : 1;
}

// The code point at the start of text (not empty), or its first byte if that is ill-formed.
Cell FirstCell(std::string_view text, uint32_t& size) {
  if (text[0] >= 0x20 && text[0] < 0x7f) {  // nearly all of every source
    size = 1;
    return {.width = 1, .text = std::string(text.substr(0, 1))};
  }
  const CodePoint point = DecodeUtf8(text);
  size = std::max(point.size, 1u);
  const std::string_view bytes = text.substr(0, size);
  // Bytes that are no code point, and control characters, are shown as escapes. A terminal would
  // otherwise act on them, and an underline would not fit.
  if (point.size == 0 || IsControl(point.value)) {
    std::string escaped = Printable(bytes);
    const auto width = static_cast<uint32_t>(escaped.size());
    return {.width = width, .text = std::move(escaped)};
  }
  return {.width = WidthOf(point.value), .text = std::string(bytes)};
}

}  // namespace

// A tab is four cells wherever it stands: editors differ, and the marks below a line only have to
// fit what is printed above them.
std::vector<Cell> CellsOf(std::string_view line) {
  std::vector<Cell> cells;
  uint32_t column = 0;
  uint32_t offset = 0;
  while (offset < line.size()) {
    uint32_t size = 1;
    // The tab is shown as spaces, or the terminal would choose a width of its own.
    Cell cell = line[offset] == '\t' ? Cell{.width = 4, .text = "    "}
                                     : FirstCell(line.substr(offset), size);
    cell.offset = offset;
    cell.column = column;
    column += cell.width;
    offset += size;
    cells.push_back(std::move(cell));
  }
  // One cell more stands at the end, so that a mark may begin behind the last character.
  cells.push_back({.offset = offset, .column = column});
  return cells;
}

// The cell that an offset lies in; an offset inside of a code point belongs to its beginning.
uint32_t ColumnAt(const std::vector<Cell>& cells, uint32_t offset) {
  // The cells ascend by offset, so the one before the first that lies behind is the right one.
  const auto after = std::ranges::upper_bound(cells, offset, {}, &Cell::offset);
  return after == cells.begin() ? 0 : std::prev(after)->column;
}

}  // namespace kiln
