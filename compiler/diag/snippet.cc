// SPDX-License-Identifier: MIT
// Which lines are shown, and how marks and texts are put below a line.
#include "compiler/diag/snippet.h"

#include <algorithm>
#include <set>

#include "compiler/base/check.h"
#include "compiler/base/printable.h"
#include "compiler/diag/cells.h"
#include "compiler/source/line_index.h"

namespace kiln {
namespace {

// A label further away would bring more lines between than it explains.
constexpr uint32_t kNear = 5;         // lines between primary span and a label that is still shown
constexpr uint32_t kWholeSpan = 6;    // longest span that is shown whole
constexpr uint32_t kLeastWidth = 40;  // columns for source text, however narrow the terminal
constexpr uint32_t kReach = 4096;     // bytes of a line looked at on each side of its first mark

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

// Of a long span its first two and its last two lines are shown, and a gap stands for the rest.
void AddLines(std::set<uint32_t>& lines, uint32_t first, uint32_t last) {
  // A gap of one or two lines would save nothing.
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
    // Texts are written into a line of spaces that grows as far as it is needed.
    line.resize(column + text.size(), ' ');
  }
  line.replace(column, text.size(), text);
}

// The marks on one line; its rightmost text follows its underline, the others hang below.
//   ^^^^   ^^^^^^^^ 'f4'
//   |
//   'f3'
std::vector<std::string> MarkLines(std::vector<Underline> marks) {
  // Stable, so that marks that begin at one column keep their order, the primary one first.
  std::ranges::stable_sort(marks, {}, &Underline::begin);
  std::string underlines;
  for (const Underline& mark : marks) {
    WriteAt(underlines, mark.begin, std::string(mark.end - mark.begin, '^'));
  }
  // Marks without a text are done; the others wait for theirs.
  std::erase_if(marks, [](const Underline& mark) { return mark.text.empty(); });
  std::vector<std::string> lines;
  // A text behind the underline is only possible if nothing is underlined further to the right.
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
  // From right to left: each text hangs below its mark, and the bars of those to its left go on
  // beside it.
  while (!marks.empty()) {
    std::string line = hang(marks.size() - 1);
    // A bar may already stand where the text should begin, so the text moves behind it.
    const uint32_t begin =
        std::max(marks.back().begin, static_cast<uint32_t>(line.size()) + (line.empty() ? 0 : 1));
    WriteAt(line, begin, marks.back().text);
    lines.push_back(std::move(line));
    marks.pop_back();
  }
  return lines;
}

bool StartsOn(const Mark& mark, Span line) {
  return mark.bytes.begin >= line.begin && mark.bytes.begin <= line.end;
}

bool GoesOn(const Mark& mark, Span line) {
  return mark.bytes.begin < line.begin && mark.bytes.end > line.begin;
}

// The part of a line that can be seen around its first mark: a line may be as long as a source.
Span VisiblePart(std::string_view text, Span line, std::span<const Mark> marks) {
  uint32_t first = line.end;
  bool marked = false;
  for (const Mark& mark : marks) {
    if (StartsOn(mark, line) || GoesOn(mark, line)) {
      first = std::min(first, std::max(mark.bytes.begin, line.begin));
      marked = true;
    }
  }
  Span part = line;
  if (marked && first - line.begin > kReach) {
    part.begin = first - kReach;
    while (part.begin < first && (static_cast<uint8_t>(text[part.begin]) & 0xC0) == 0x80) {
      ++part.begin;  // not within a code point
    }
  }
  part.end = std::min(line.end, part.begin + 2 * kReach);
  return part;
}

// Where a mark lies on the line of these bytes, if it does; in columns of its part `shown`.
bool FindUnderline(const Mark& mark, Span line, Span shown, const std::vector<Cell>& cells,
                   Underline& out) {
  const bool starts_here = StartsOn(mark, line);
  if (!starts_here && !GoesOn(mark, line)) {
    return false;
  }
  // Bytes outside of the visible part count as its edge.
  const auto column = [&](uint32_t byte) {
    return ColumnAt(cells, std::clamp(byte, shown.begin, shown.end) - shown.begin);
  };
  const uint32_t end = std::min(mark.bytes.end, line.end);
  out.begin = column(mark.bytes.begin);
  out.end = end > line.begin ? column(end) : 0;
  // A mark of no bytes, as at the end of a file, is still one cell wide.
  out.end = std::max(out.end, out.begin + 1);
  // The text stands where the mark ends, or where it begins if its end is not on this line.
  out.text = mark.bytes.end <= line.end || starts_here ? mark.text : std::string_view();
  return true;
}

// First column to show so that the first mark is visible in `width` columns.
uint32_t FirstColumn(std::span<const Underline> marks, const std::vector<Cell>& cells,
                     uint32_t width) {
  if (cells.back().column <= width || marks.empty()) {
    return 0;
  }
  const uint32_t begin = std::ranges::min(marks, {}, &Underline::begin).begin;
  // The first mark comes into the middle, where one sees what is around it.
  const uint32_t wanted = begin <= width / 2 ? 0 : begin - width / 2;
  const auto cell = std::ranges::find_if(  // a wide character is not cut
      cells, [&](const Cell& candidate) { return candidate.column >= wanted; });
  return cell->column;
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
  const Span shown = VisiblePart(text, line, marks);
  const std::vector<Cell> cells = CellsOf(TextOf(text, shown));
  std::vector<Underline> found;
  for (const Mark& mark : marks) {
    Underline underline;
    if (FindUnderline(mark, line, shown, cells, underline)) {
      found.push_back(underline);
    }
  }
  const uint32_t first = FirstColumn(found, cells, room);
  snippet.lines.push_back({.number = number, .text = Visible(cells, first, room)});
  if (found.empty()) {
    return;
  }
  // Marks that lie outside of the part that is shown are moved to its edge.
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

// Shown are the lines of the primary span, one before it, and those of labels nearby; a gap stands
// for what is between. Labels far away are left to the caller, who writes them as places. All
// columns are cells of a terminal: a wide character has two, and a tab as many as it fills. A line
// is cut around its first mark where it does not fit, and only a few thousand bytes of it are ever
// looked at, since a generated source may be one line.
Snippet MakeSnippet(const PlacedSpan& primary, std::span<const PlacedLabel> labels,
                    std::string_view text, uint32_t width) {
  KILN_CHECK(primary.known(), "{}", primary.path);
  const LineIndex index(text);
  std::set<uint32_t> lines;
  std::vector<Mark> marks;
  const auto show = [&](const PlacedSpan& where, std::string_view label) {
    // A file may have changed since the span was made; lines behind its end are its last one.
    const uint32_t last_line = index.line_count();
    AddLines(lines, std::min(where.line, last_line), std::min(where.end_line, last_line));
    marks.push_back({.bytes = where.bytes, .text = label});
  };
  show(primary, {});
  // One line of context above the primary span; below it there are marks.
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
  // The set is sorted, so lines come from top to bottom whatever order the labels had.
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
