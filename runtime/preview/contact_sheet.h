// SPDX-License-Identifier: MIT
// Pictures side by side with labels: what an option space looks like.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/preview/image_file.h"

namespace kiln::preview {

struct SheetCell {
  std::optional<Picture> picture;  // nullopt: there is none, crossed out
  std::string label;               // below it
};

// Rows of cells, all of one size. Letters are drawn as capitals, what has no glyph as a gap; labels
// that do not fit are cut. Requires: at least one cell; pictures of cell_width × cell_height.
Picture MakeContactSheet(const std::vector<std::vector<SheetCell>>& rows, uint32_t cell_width,
                         uint32_t cell_height);

// Draws one line at (x, y), 6 × 8 pixels per character; what is outside is cut.
void DrawText(Picture& picture, uint32_t x, uint32_t y, std::string_view text);

}  // namespace kiln::preview
