// SPDX-License-Identifier: MIT
// Two texts -> the lines that only one of them has, with a little of what is around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::cli {

struct LineDiff {
  uint64_t removed = 0;  // lines that only the first has
  uint64_t added = 0;    // that only the second has
  std::string text;  // "- ", "+ " and "  " before each line; "…" where equal ones are left out

  bool equal() const { return removed == 0 && added == 0; }
};

// The fewest lines, unless the texts differ in some thousands of them: then all between the first
// and the last difference.
LineDiff DiffLines(std::string_view first, std::string_view second);

}  // namespace kiln::cli
