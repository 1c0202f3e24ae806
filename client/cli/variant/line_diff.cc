// SPDX-License-Identifier: MIT
#include "client/cli/variant/line_diff.h"

#include <algorithm>
#include <span>
#include <vector>

namespace kiln::cli {
namespace {

// 64 MB of numbers; two disassemblies that differ over 4,000 lines each just fit.
constexpr size_t kMaxCells = size_t{16} << 20;  // of the table of common lengths
constexpr size_t kContext = 2;                  // equal lines that are shown around others

using Lines = std::vector<std::string_view>;

Lines LinesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Row {
  char kind = ' ';  // '-', '+' or ' '
  std::string_view line;
};

// The middle of two texts that begin and end alike.
// Longest common subsequence by dynamic programming, filled from the end so that the walk below
// goes forwards. Time and memory are the product of the two lengths; above kMaxCells all lines of
// the first text are removed and all of the second added, which is right, if not short.
void AddMiddle(std::span<const std::string_view> first, std::span<const std::string_view> second,
               std::vector<Row>& rows) {
  const size_t width = second.size() + 1;
  const bool fits = first.size() + 1 <= kMaxCells / width;
  // Common lines of what is left from each pair of places on.
  std::vector<uint32_t> common(fits ? (first.size() + 1) * width : 0);
  for (size_t i = first.size(); fits && i-- > 0;) {
    for (size_t j = second.size(); j-- > 0;) {
      common[i * width + j] =
          first[i] == second[j] ? common[(i + 1) * width + j + 1] + 1
                                : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  size_t i = 0;
  size_t j = 0;
  while (i < first.size() || j < second.size()) {
    const bool both = i < first.size() && j < second.size();
    if (fits && both && first[i] == second[j]) {
      rows.push_back({.kind = ' ', .line = first[i++]});
      ++j;
    } else if (i < first.size() && (j == second.size() || !fits ||
                                    common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      // Removed lines come before added ones where both are equally good, as readers of diffs
      // expect it.
      rows.push_back({.kind = '-', .line = first[i++]});
    } else {
      rows.push_back({.kind = '+', .line = second[j++]});
    }
  }
}

bool IsNearChange(std::span<const Row> rows, size_t at) {
  const size_t begin = at < kContext ? 0 : at - kContext;
  const size_t end = std::min(rows.size(), at + kContext + 1);
  return std::any_of(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                     rows.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Row& row) { return row.kind != ' '; });
}

}  // namespace

LineDiff DiffLines(std::string_view first, std::string_view second) {
  LineDiff diff;
  if (first == second) {
    return diff;
  }
  const Lines a = LinesOf(first);
  const Lines b = LinesOf(second);
  // Equal lines at both ends are cut off first. Two variants mostly differ in one place, so the
  // table is small. The search from the end stops where the one from the begin stopped, or a line
  // would count twice.
  const auto shorter = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  const auto begin = std::mismatch(a.begin(), a.begin() + shorter, b.begin()).first - a.begin();
  const auto end =
      std::mismatch(a.rbegin(), a.rbegin() + (shorter - begin), b.rbegin()).first - a.rbegin();
  std::vector<Row> rows;
  const auto equal = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      rows.push_back({.kind = ' ', .line = a[i]});
    }
  };
  const auto head = static_cast<size_t>(begin);
  const auto tail = static_cast<size_t>(end);
  equal(0, head);
  AddMiddle(std::span(a).subspan(head, a.size() - head - tail),
            std::span(b).subspan(head, b.size() - head - tail), rows);
  equal(a.size() - tail, a.size());
  bool skipped = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    diff.removed += rows[i].kind == '-' ? 1 : 0;
    diff.added += rows[i].kind == '+' ? 1 : 0;
    // A run of skipped lines shows as one "…".
    if (!IsNearChange(rows, i)) {
      diff.text += skipped ? "" : "…\n";
      skipped = true;
      continue;
    }
    skipped = false;
    diff.text += rows[i].kind;
    diff.text += ' ';
    diff.text += rows[i].line;
    diff.text += '\n';
  }
  return diff;
}

}  // namespace kiln::cli
