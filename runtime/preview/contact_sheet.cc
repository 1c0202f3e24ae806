// SPDX-License-Identifier: MIT
#include "runtime/preview/contact_sheet.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kiln::preview {
namespace {

constexpr uint32_t kGlyphWidth = 5;
constexpr uint32_t kGlyphHeight = 7;
// One column of space behind each letter.
constexpr uint32_t kAdvance = 6;
// The height of a letter and room above and below it.
constexpr uint32_t kLine = 12;  // of a label
constexpr uint32_t kGap = 4;
constexpr std::array<uint8_t, 4> kPaper = {24, 24, 28, 255};
constexpr std::array<uint8_t, 4> kInk = {230, 230, 230, 255};
constexpr std::array<uint8_t, 4> kAbsent = {120, 60, 60, 255};

// Seven rows of five bits, the highest on the left.
struct Glyph {
  char letter;
  std::array<uint8_t, kGlyphHeight> rows;
};
// Small letters are drawn as large ones. A font of 44 characters in the source is less than a
// library for fonts, and it looks the same on every machine.
constexpr Glyph kGlyphs[] = {
    {'A', {14, 17, 17, 31, 17, 17, 17}}, {'B', {30, 17, 17, 30, 17, 17, 30}},
    {'C', {14, 17, 16, 16, 16, 17, 14}}, {'D', {30, 17, 17, 17, 17, 17, 30}},
    {'E', {31, 16, 16, 30, 16, 16, 31}}, {'F', {31, 16, 16, 30, 16, 16, 16}},
    {'G', {14, 17, 16, 23, 17, 17, 15}}, {'H', {17, 17, 17, 31, 17, 17, 17}},
    {'I', {14, 4, 4, 4, 4, 4, 14}},      {'J', {7, 2, 2, 2, 2, 18, 12}},
    {'K', {17, 18, 20, 24, 20, 18, 17}}, {'L', {16, 16, 16, 16, 16, 16, 31}},
    {'M', {17, 27, 21, 21, 17, 17, 17}}, {'N', {17, 25, 21, 19, 17, 17, 17}},
    {'O', {14, 17, 17, 17, 17, 17, 14}}, {'P', {30, 17, 17, 30, 16, 16, 16}},
    {'Q', {14, 17, 17, 17, 21, 18, 13}}, {'R', {30, 17, 17, 30, 20, 18, 17}},
    {'S', {15, 16, 16, 14, 1, 1, 30}},   {'T', {31, 4, 4, 4, 4, 4, 4}},
    {'U', {17, 17, 17, 17, 17, 17, 14}}, {'V', {17, 17, 17, 17, 17, 10, 4}},
    {'W', {17, 17, 17, 21, 21, 27, 17}}, {'X', {17, 17, 10, 4, 10, 17, 17}},
    {'Y', {17, 17, 10, 4, 4, 4, 4}},     {'Z', {31, 1, 2, 4, 8, 16, 31}},
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 6, 8, 16, 31}},    {'3', {30, 1, 1, 14, 1, 1, 30}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {14, 16, 16, 30, 17, 17, 14}}, {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 1, 14}},
    {'_', {0, 0, 0, 0, 0, 0, 31}},       {'-', {0, 0, 0, 14, 0, 0, 0}},
    {'=', {0, 0, 31, 0, 31, 0, 0}},      {'.', {0, 0, 0, 0, 0, 12, 12}},
    {',', {0, 0, 0, 0, 4, 4, 8}},        {'/', {1, 1, 2, 4, 8, 16, 16}},
    {':', {0, 12, 12, 0, 12, 12, 0}},    {'+', {0, 4, 4, 31, 4, 4, 0}}};

// Pixels outside of the picture are dropped, so a label may run over the edge.
void SetPixel(Picture& picture, uint32_t x, uint32_t y, const std::array<uint8_t, 4>& color) {
  if (x < picture.width && y < picture.height) {
    std::memcpy(&picture.rgba[(size_t{y} * picture.width + x) * 4], color.data(), 4);
  }
}

// A cell without a picture shows a cross, so that a variant that failed is not taken for one that
// draws nothing.
void DrawCell(Picture& sheet, uint32_t x, uint32_t y, const SheetCell& cell, uint32_t width,
              uint32_t height) {
  for (uint32_t row = 0; row < height; ++row) {
    if (cell.picture) {
      std::memcpy(&sheet.rgba[(size_t{y + row} * sheet.width + x) * 4],
                  &cell.picture->rgba[size_t{row} * width * 4], size_t{width} * 4);
    } else {
      // Both diagonals in one pass; the height of one row must not divide by zero.
      const uint32_t at = row * (width - 1) / std::max(height - 1, 1U);
      SetPixel(sheet, x + at, y + row, kAbsent);
      SetPixel(sheet, x + width - 1 - at, y + row, kAbsent);
    }
  }
  // The label is cut at the width of the cell, as it would otherwise run into its neighbour.
  DrawText(sheet, x, y + height + 3, std::string_view(cell.label).substr(0, width / kAdvance));
}

}  // namespace

void DrawText(Picture& picture, uint32_t x, uint32_t y, std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter =
        text[i] >= 'a' && text[i] <= 'z' ? static_cast<char>(text[i] - 'a' + 'A') : text[i];
    const auto* const glyph = std::ranges::find(kGlyphs, letter, &Glyph::letter);
    // What has no picture leaves a gap, a space too.
    if (glyph == std::end(kGlyphs)) {
      continue;
    }
    for (uint32_t row = 0; row < kGlyphHeight; ++row) {
      for (uint32_t column = 0; column < kGlyphWidth; ++column) {
        if ((glyph->rows[row] >> (kGlyphWidth - 1 - column) & 1) != 0) {
          SetPixel(picture, x + static_cast<uint32_t>(i) * kAdvance + column, y + row, kInk);
        }
      }
    }
  }
}

// Rows may have different lengths, and the longest gives the width. All cells are of one size,
// whatever is in them.
Picture MakeContactSheet(const std::vector<std::vector<SheetCell>>& rows, uint32_t cell_width,
                         uint32_t cell_height) {
  size_t columns = 0;
  for (const std::vector<SheetCell>& row : rows) {
    columns = std::max(columns, row.size());
  }
  const uint32_t step_x = cell_width + kGap;
  const uint32_t step_y = cell_height + kLine + kGap;
  Picture sheet{static_cast<uint32_t>(columns) * step_x + kGap,
                static_cast<uint32_t>(rows.size()) * step_y + kGap,
                {}};
  sheet.rgba.resize(size_t{sheet.width} * sheet.height * 4);
  // Paper lies everywhere, so cells that a short row lacks need no drawing.
  for (size_t i = 0; i < sheet.rgba.size(); ++i) {
    sheet.rgba[i] = kPaper[i % 4];
  }
  for (uint32_t row = 0; row < rows.size(); ++row) {
    for (uint32_t column = 0; column < rows[row].size(); ++column) {
      DrawCell(sheet, kGap + column * step_x, kGap + row * step_y, rows[row][column], cell_width,
               cell_height);
    }
  }
  return sheet;
}

}  // namespace kiln::preview
