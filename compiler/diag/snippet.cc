// SPDX-License-Identifier: MIT
// Which lines are shown, and how marks and texts are put below a line.
#include "compiler/diag/snippet.h"

#include <algorithm>
#include <set>

#include "compiler/base/check.h"
#include "compiler/diag/cells.h"
#include "compiler/source/line_index.h"

namespace kiln {
namespace {

constexpr uint32_t kNear = 5;         // lines between primary span and a label that is still shown
constexpr uint32_t kWholeSpan = 6;    // longest span that is shown whole
constexpr uint32_t kLeastWidth = 40;  // columns for source text, however narrow the terminal

struct Mark {
  Span bytes;
  std::string_view text;  // empty for the primary span
};

// A mark on one line, in columns of that line.
struct Underline {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string_view text;
};

void AddLines(std::set<uint32_t>& lines, uint32_t first, uint32_t last) {
  const bool whole = last - first < kWholeSpan;
  for (uint32_t line = first; line <= (whole ? last : first + 1); ++line) {
    lines.insert(line);
  }
  for (uint32_t line = last - 1; !whole && line <= last; ++line) {
    lines.insert(line);
  }
}

bool IsNear(const PlacedSpan& label, const PlacedSpan& primary) {
  return label.known() && label.path == primary.path && label.end_line + kNear >= primary.line &&
         label.line <= primary.end_line + kNear;
}

void WriteAt(std::string& line, uint32_t column, std::string_view text) {
  if (line.size() < column + text.size()) {
    line.resize(column + text.size(), ' ');
  }
  line.replace(column, text.size(), text);
}

// The marks on one line; its rightmost text follows its underline, the others hang below.
//   ^^^^   ^^^^^^^^ 'f4'
//   |
//   'f3'
std::vector<std::string> MarkLines(std::vector<Underline> marks) {
  std::ranges::stable_sort(marks, {}, &Underline::begin);
  std::string underlines;
  for (const Underline& mark : marks) {
    WriteAt(underlines, mark.begin, std::string(mark.end - mark.begin, '^'));
  }
  std::erase_if(marks, [](const Underline& mark) { return mark.text.empty(); });
  std::vector<std::string> lines;
  if (!marks.empty() && marks.back().end == underlines.size()) {
    underlines += ' ';
    underlines += marks.back().text;
    marks.pop_back();
  }
  lines.push_back(std::move(underlines));
  const auto hang = [&marks](size_t count) {
    std::string line;
    for (size_t i = 0; i < count; ++i) {
      WriteAt(line, marks[i].begin, "|");
    }
    return line;
  };
  if (!marks.empty()) {
    lines.push_back(hang(marks.size()));
  }
  while (!marks.empty()) {
    std::string line = hang(marks.size() - 1);
    const uint32_t begin =
        std::max(marks.back().begin, static_cast<uint32_t>(line.size()) + (line.empty() ? 0 : 1));
    WriteAt(line, begin, marks.back().text);
    lines.push_back(std::move(line));
    marks.pop_back();
  }
  return lines;
}

// Where a mark lies on the line of these bytes, if it does.
bool FindUnderline(const Mark& mark, Span line, const std::vector<Cell>& cells, Underline& out) {
  const bool starts_here = mark.bytes.begin >= line.begin && mark.bytes.begin <= line.end;
  const bool goes_on = mark.bytes.begin < line.begin && mark.bytes.end > line.begin;
  if (!starts_here && !goes_on) {
    return false;
  }
  const uint32_t begin = starts_here ? mark.bytes.begin - line.begin : 0;
  const uint32_t end = std::min(mark.bytes.end, line.end);
  out.begin = ColumnAt(cells, begin);
  out.end = end > line.begin ? ColumnAt(cells, end - line.begin) : 0;
  out.end = std::max(out.end, out.begin + 1);
  out.text = mark.bytes.end <= line.end || starts_here ? mark.text : std::string_view();
  return true;
}

// First column to show so that the first mark is visible in `width` columns.
uint32_t FirstColumn(std::span<const Underline> marks, uint32_t line_width, uint32_t width) {
  if (line_width <= width || marks.empty()) {
    return 0;
  }
  const uint32_t begin = std::ranges::min(marks, {}, &Underline::begin).begin;
  return begin <= width / 2 ? 0 : begin - width / 2;
}

std::string Visible(const std::vector<Cell>& cells, uint32_t first, uint32_t width) {
  std::string text;
  for (const Cell& cell : cells) {
    if (cell.column >= first && cell.column + cell.width <= first + width) {
      text += cell.text;
    }
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// One line of the source and the marks below it.
void AppendLine(Snippet& snippet, uint32_t number, std::string_view text, Span line,
                std::span<const Mark> marks, uint32_t room) {
  const std::vector<Cell> cells = CellsOf(TextOf(text, line));
  std::vector<Underline> found;
  for (const Mark& mark : marks) {
    Underline underline;
    if (FindUnderline(mark, line, cells, underline)) {
      found.push_back(underline);
    }
  }
  const uint32_t first = FirstColumn(found, cells.back().column, room);
  snippet.lines.push_back({.number = number, .text = Visible(cells, first, room)});
  if (found.empty()) {
    return;
  }
  for (Underline& underline : found) {
    const uint32_t begin = std::clamp(underline.begin, first, first + room - 1);
    underline.end = std::clamp(underline.end, begin + 1, first + room) - first;
    underline.begin = begin - first;
  }
  for (std::string& marked : MarkLines(std::move(found))) {
    snippet.lines.push_back({.mark = true, .text = Printable(marked)});
  }
}

}  // namespace

Snippet MakeSnippet(const PlacedSpan& primary, std::span<const PlacedLabel> labels,
                    std::string_view text, uint32_t width) {
  KILN_CHECK(primary.known(), "{}", primary.path);
  const LineIndex index(text);
  std::set<uint32_t> lines;
  std::vector<Mark> marks;
  const auto show = [&](const PlacedSpan& where, std::string_view label) {
    const uint32_t last_line = index.line_count();
    AddLines(lines, std::min(where.line, last_line), std::min(where.end_line, last_line));
    marks.push_back({.bytes = where.bytes, .text = label});
  };
  show(primary, {});
  if (*lines.begin() > 1) {
    lines.insert(*lines.begin() - 1);
  }
  Snippet snippet;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (IsNear(labels[i].where, primary)) {
      show(labels[i].where, labels[i].text);
    } else {
      snippet.labels_left_out.push_back(i);
    }
  }
  snippet.number_width = static_cast<uint32_t>(std::to_string(*lines.rbegin()).size());
  const uint32_t room = std::max(kLeastWidth, width - std::min(width, snippet.number_width + 3));
  uint32_t previous = *lines.begin();
  for (const uint32_t line : lines) {
    if (line > previous + 1) {
      snippet.lines.push_back({.gap = true});
    }
    previous = line;
    AppendLine(snippet, line, text, index.LineSpan(line), marks, room);
  }
  return snippet;
}

}  // namespace kiln
