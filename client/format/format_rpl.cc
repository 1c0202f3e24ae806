// SPDX-License-Identifier: MIT
// Three steps over the items of a source: which of them begin a line; what white space stands
// before each; in which column comments behind code begin. Each decides by the tokens and by what
// the steps themselves leave as it is, so formatting twice changes nothing.
#include "client/format/format_rpl.h"

#include <algorithm>
#include <utility>

#include "client/format/items.h"

namespace kiln::format {
namespace {

using rpl::TokenKind;

constexpr uint32_t kIndent = 4;

// What stands before an item.
struct Gap {
  uint32_t lines = 0;   // line ends
  uint32_t spaces = 0;  // behind them
};

class Layout {
 public:
  Layout(std::string_view text, std::vector<Item> items)
      : text_(text), items_(std::move(items)), gaps_(items_.size()) {}

  const std::vector<Item>& items() const { return items_; }

  std::vector<Gap> Run() {
    for (size_t i = 0; i < items_.size(); ++i) {
      gaps_[i].lines = LinesBefore(i);
      gaps_[i].spaces = gaps_[i].lines > 0 || i == 0 ? IndentOf(i) : (Spaced(i) ? 1 : 0);
    }
    AlignComments();
    return std::move(gaps_);
  }

 private:
  uint32_t LinesBefore(size_t i) const {
    if (i == 0) {
      return 0;
    }
    const Item& before = items_[i - 1];
    const Item& item = items_[i];
    const bool kept = item.line_ends > 0;
    // A comment runs to the end of its line, so something behind it always begins a new one.
    // Otherwise the author's line ends stay, and MustBreak adds those that the style asks for.
    const bool breaks = before.comment || kept || (!item.comment && MustBreak(before, item));
    if (!breaks) {
      return 0;
    }
    // Two line ends make one empty line; more are dropped, and none stays at the edges of a block.
    const bool opens = before.opens();
    const bool closes = item.closes();
    return item.line_ends > 1 && !opens && !closes ? 2 : 1;
  }

  // Where a line ends whatever the author wrote.
  static bool MustBreak(const Item& before, const Item& item) {
    const bool is_end = item.Is(TokenKind::kSemicolon);
    if (item.brace == Brace::kBlock && !is_end) {
      return true;
    }
    if (before.brace == Brace::kBlock) {
      return !is_end;
    }
    // Statements of one line stay in a block of one line.
    return before.Is(TokenKind::kSemicolon) && item.starts && !item.closes() && item.depth == 0;
  }

  uint32_t IndentOf(size_t i) const {
    const Item& item = items_[i];
    const bool is_brace = item.opens() || item.closes();
    // A line that does not begin a declaration, field or statement goes on with one and is indented
    // once more. A field behind `conditional (…)` counts as going on, while a function behind it
    // begins at the margin.
    const bool goes_on = !item.starts || (item.conditional && EndsWithSemicolon(i));
    return kIndent * (item.depth + (goes_on && !is_brace ? 1 : 0));
  }

  // Whether what begins with the item ends with ';' and has no block: a field, a setting.
  bool EndsWithSemicolon(size_t i) const {
    while (i < items_.size() && !items_[i].opens() && !items_[i].closes()) {
      if (items_[i].Is(TokenKind::kSemicolon)) {
        return true;
      }
      ++i;
    }
    return false;
  }

  // Whether a space stands between the item and the one before it on its line.
  bool Spaced(size_t i) const {
    using enum TokenKind;
    const Item& a = items_[i - 1];
    const Item& b = items_[i];
    if (b.comment) {
      return true;
    }
    if (b.Is(kComma) || b.Is(kSemicolon) || b.Is(kCloseParen) || b.Is(kCloseBracket) ||
        b.Is(kDot) || b.Is(kEllipsis) || b.Is(kOpenBracket) || b.option_colon) {
      return false;
    }
    if (a.Is(kOpenParen) || a.Is(kOpenBracket) || a.Is(kDot) || a.unary) {
      return false;
    }
    if (a.Is(kOpenBrace) && b.Is(kCloseBrace)) {
      return false;
    }
    // Here both lie on one line: "{ a; }" of a block has spaces inside, "f3 {a, b}" of a value has
    // none.
    if (a.Is(kOpenBrace)) {
      return a.brace != Brace::kConstructor;
    }
    if (b.Is(kCloseBrace)) {
      return b.brace != Brace::kConstructor;
    }
    return true;
  }

  // Characters and not bytes are counted: a byte of the form 10xxxxxx continues a character of
  // UTF-8.
  uint32_t WidthOf(size_t i) const {
    const std::string_view bytes = TextOf(text_, items_[i].bytes);
    return static_cast<uint32_t>(std::ranges::count_if(
        bytes, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
  }

  // Comments behind code on lines that follow each other begin in one column: the first multiple
  // of four that leaves two spaces behind the longest code.
  void AlignComments() {
    struct Trailing {
      size_t item;
      uint32_t code;  // width of the line before the comment
    };
    std::vector<Trailing> group;
    const auto finish = [&] {
      uint32_t longest = 0;
      for (const Trailing& one : group) {
        longest = std::max(longest, one.code);
      }
      const uint32_t column = (longest + 2 + kIndent - 1) / kIndent * kIndent;
      for (const Trailing& one : group) {
        gaps_[one.item].spaces = column - one.code;
      }
      group.clear();
    };
    uint32_t width = 0;
    bool had_comment = true;  // of the line
    for (size_t i = 0; i < items_.size(); ++i) {
      if (gaps_[i].lines > 0 || i == 0) {
        // The line before had no comment behind its code, or an empty line lies between: the group
        // is complete.
        if (!had_comment || gaps_[i].lines > 1) {
          finish();
        }
        had_comment = false;
        width = 0;
      }
      // A comment on a line of its own neither joins the group nor keeps it open.
      const bool trails = items_[i].comment && width > 0;
      if (trails) {
        group.push_back({.item = i, .code = width});
        had_comment = true;
      }
      width += gaps_[i].spaces + WidthOf(i);
    }
    finish();
  }

  std::string_view text_;
  std::vector<Item> items_;
  std::vector<Gap> gaps_;
};

}  // namespace

std::vector<GapEdit> FormatRpl(std::string_view text, const rpl::LexResult& tokens) {
  Layout layout(text, ItemsOf(text, tokens));
  const std::vector<Gap> gaps = layout.Run();
  const size_t first_end = text.find('\n');
  // The first line end of the text decides for all that are written. Those inside of the text that
  // stay as they are were written by the author and may differ.
  const bool dos =
      first_end != std::string_view::npos && first_end > 0 && text[first_end - 1] == '\r';
  const std::string_view line_end = dos ? "\r\n" : "\n";
  std::vector<GapEdit> edits;
  uint32_t at =
      text.starts_with(rpl::kByteOrderMark) ? static_cast<uint32_t>(rpl::kByteOrderMark.size()) : 0;
  const auto add = [&](Span bytes, std::string gap) {
    if (TextOf(text, bytes) != gap) {
      edits.push_back({.bytes = bytes, .text = std::move(gap)});
    }
  };
  for (size_t i = 0; i < gaps.size(); ++i) {
    std::string gap;
    for (uint32_t line = 0; line < gaps[i].lines; ++line) {
      gap += line_end;
    }
    gap.append(gaps[i].spaces, ' ');
    add({.begin = at, .end = layout.items()[i].bytes.begin}, std::move(gap));
    at = layout.items()[i].bytes.end;
  }
  // The text ends with one line end, unless it is empty.
  add({.begin = at, .end = static_cast<uint32_t>(text.size())},
      gaps.empty() ? std::string() : std::string(line_end));
  return edits;
}

std::string Apply(std::string_view text, const std::vector<GapEdit>& edits) {
  std::string result;
  uint32_t at = 0;
  for (const GapEdit& edit : edits) {
    result += text.substr(at, edit.bytes.begin - at);
    result += edit.text;
    at = edit.bytes.end;
  }
  return result + std::string(text.substr(at));
}

}  // namespace kiln::format
