// SPDX-License-Identifier: MIT
#include "compiler/base/text/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace kiln {

// Optimal string alignment: insertions, deletions, changes, and swaps of neighbours. Three rows of
// the table are enough, because a swap looks back by two; they lie in one allocation.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> rows(3 * (b.size() + 1));
  size_t* before = rows.data();  // the row of the byte before the last one
  size_t* last = before + b.size() + 1;
  size_t* row = last + b.size() + 1;
  // The row of the empty text: all letters of `b` have to be inserted.
  std::iota(last, last + b.size() + 1, size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      // A swap takes the place of two changes. No letter of it may be edited again, which is what
      // keeps this to one look back.
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    // The oldest row is overwritten next: pointers rotate, nothing is copied.
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace kiln
