// SPDX-License-Identifier: MIT
// The source lines around a diagnostic, with underlines and label texts below them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/place.h"

namespace kiln {

struct SnippetLine {
  uint32_t number = 0;  // line of the source, 0 for a line of marks or a gap
  bool mark = false;    // underlines and label texts
  bool gap = false;     // lines between are left out
  std::string text;     // without trailing blanks
};

struct Snippet {
  uint32_t number_width = 1;  // of the largest line number
  std::vector<SnippetLine> lines;
  std::vector<size_t> labels_left_out;  // labels in other files or too far away
};

// The line before the primary span, its lines (of more than six the first and last two), and the
// lines of labels close by. Requires: primary is a place in text.
Snippet MakeSnippet(const PlacedSpan& primary, std::span<const PlacedLabel> labels,
                    std::string_view text, uint32_t width);

}  // namespace kiln
