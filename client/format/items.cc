// SPDX-License-Identifier: MIT
// Turns the tokens of a source into items that know what they are to the formatter: how deep they
// stand, whether they begin a statement, whether an operator has one operand, what a brace means.
// Comments become items as well, since they must stay where they are.
#include "client/format/items.h"

#include <algorithm>

namespace kiln::format {
namespace {

using rpl::Keyword;
using rpl::TokenKind;

// The comments of a gap and the line ends before them; what is left over belongs to the next token.
uint32_t AddComments(std::string_view text, Span gap, std::vector<Item>& items) {
  uint32_t line_ends = 0;
  for (size_t at = gap.begin; at < gap.end; ++at) {
    line_ends += text[at] == '\n' ? 1 : 0;
    // Between two tokens of a text that parses there is white space and comments only, so a slash
    // begins a comment.
    if (text[at] != '/') {
      continue;
    }
    const size_t line_end = std::min<size_t>(text.find('\n', at), gap.end);
    size_t end = line_end;
    // White space at the end of a comment is no part of it, hence it goes with the next gap.
    while (end > at &&
           std::string_view(" \t\r\v\f").find(text[end - 1]) != std::string_view::npos) {
      --end;
    }
    items.push_back(
        {.bytes = {.begin = static_cast<uint32_t>(at), .end = static_cast<uint32_t>(end)},
         .kind = TokenKind::kEnd,
         .comment = true,
         .line_ends = line_ends});
    line_ends = 0;
    at = line_end - 1;
  }
  return line_ends;
}

// Both functions rely on the order of TokenKind: the operators are one range of it.
bool IsOperator(TokenKind kind) {
  return kind >= TokenKind::kQuestion && kind <= TokenKind::kShiftRightAssign;
}

bool MayBeUnary(TokenKind kind) {
  return kind == TokenKind::kMinus || kind == TokenKind::kPlus || kind == TokenKind::kNot ||
         kind == TokenKind::kComplement;
}

// Walks the items once with the brackets around them on a stack. The invariant: behind item i
// depth_, brackets_ and open_ describe the brackets that are open there. One pass costs linear time
// but for blocks (see Close).
class Classifier {
 public:
  Classifier(std::string_view text, std::vector<Item>& items) : text_(text), items_(items) {}

  void Run() {
    bool starts = true;
    for (size_t i = 0; i < items_.size(); ++i) {
      Item& item = items_[i];
      item.depth = depth_;
      item.brackets = brackets_;
      item.starts = starts;
      item.conditional = starts && behind_condition_;
      // Comments get their depth, but do not count as what stands before an operator or begins a
      // statement.
      if (item.comment) {
        continue;
      }
      if (starts) {
        first_ = i;
      }
      ClassifyOperator(i);
      behind_condition_ = false;
      starts = Take(i);
      before_ = i + 1;
    }
  }

 private:
  struct Open {
    size_t item;
    bool block;
    bool ends_prefix;  // conditional (…), meta (…), pack (…), alias (…): something begins behind it
    uint32_t brackets;
  };

  const Item* Before() const { return before_ == 0 ? nullptr : &items_[before_ - 1]; }
  bool IsWord(size_t item, std::string_view word) const {
    return items_[item].kind == TokenKind::kIdentifier && TextOf(text_, items_[item].bytes) == word;
  }

  void ClassifyOperator(size_t i) {
    Item& item = items_[i];
    const Item* before = Before();
    if (MayBeUnary(item.kind)) {
      // A '-' behind a name subtracts, but not behind the two words that a value follows: `return
      // -a` and `global lights: sint -3`.
      const bool behind_word = before != nullptr && before->kind == TokenKind::kIdentifier &&
                               (IsWord(before_ - 1, "return") || IsOptionKind(before_ - 1));
      item.unary = before == nullptr || behind_word || BeginsOperand(*before);
    }
    item.option_colon =
        item.kind == TokenKind::kColon && (IsWord(first_, "global") || IsWord(first_, "instance"));
  }

  // Behind it an operand begins, so that an operator there has only one.
  static bool BeginsOperand(const Item& before) {
    using enum TokenKind;
    return IsOperator(before.kind) || before.kind == kOpenParen || before.kind == kOpenBracket ||
           before.kind == kOpenBrace || before.kind == kComma || before.kind == kSemicolon ||
           before.kind == kColon || before.closes();
  }

  // "sint" and "float" of an option stand before a value.
  bool IsOptionKind(size_t item) const {
    return depth_ == 0 && (IsWord(first_, "global") || IsWord(first_, "instance")) &&
           (IsWord(item, "sint") || IsWord(item, "float"));
  }

  // A '{' behind a name or ']' is that of a value, but for `else` and for what declares fields.
  bool IsConstructor() const {
    const Item* before = Before();
    if (before == nullptr ||
        (before->kind != TokenKind::kIdentifier && before->kind != TokenKind::kCloseBracket)) {
      return false;
    }
    // In the head of a statement nothing but values has braces.
    if (brackets_ > 0) {
      return true;
    }
    if (depth_ > 0) {
      return !IsWord(before_ - 1, "else");
    }
    // At the level of the file: "constant f3 up = f3 {…}" is a value, "struct a {" is not.
    for (size_t i = first_; i < before_; ++i) {
      if (items_[i].Is(TokenKind::kAssign)) {
        return true;
      }
    }
    return false;
  }

  // Whether the next item begins something new.
  bool Take(size_t i) {
    Item& item = items_[i];
    switch (item.kind) {
      case TokenKind::kOpenParen:
      case TokenKind::kOpenBracket:
        open_.push_back({i, false, EndsPrefix(), brackets_});
        ++brackets_;
        return false;
      case TokenKind::kOpenBrace:
        if (IsConstructor()) {
          item.brace = Brace::kConstructor;
          open_.push_back({i, false, false, brackets_});
          ++brackets_;
          return false;
        }
        // Until its '}' is met and Close() knows better.
        item.brace = Brace::kOneLine;
        open_.push_back({i, true, false, brackets_});
        brackets_ = 0;
        ++depth_;
        return true;
      case TokenKind::kCloseParen:
      case TokenKind::kCloseBracket:
      case TokenKind::kCloseBrace:
        return Close(i);
      case TokenKind::kSemicolon:
        return brackets_ == 0;
      default:
        return false;
    }
  }

  // The words must be the last token before the bracket, and outside of any other bracket.
  bool EndsPrefix() const {
    if (brackets_ > 0 || before_ == 0) {
      return false;
    }
    const size_t word = before_ - 1;
    return IsWord(word, "conditional") || IsWord(word, "meta") || IsWord(word, "pack") ||
           (IsWord(word, "alias") && items_[word].starts);
  }

  bool Close(size_t i) {
    Item& item = items_[i];
    if (open_.empty()) {
      return false;  // does not happen in a text that parses
    }
    const Open open = open_.back();
    open_.pop_back();
    brackets_ = open.brackets;
    item.brackets = brackets_;
    if (item.kind != TokenKind::kCloseBrace) {
      // What follows `conditional (…)` begins something, and IndentOf must know that it does so
      // behind a condition.
      behind_condition_ = open.ends_prefix && IsWord(open.item - 1, "conditional");
      return open.ends_prefix;
    }
    if (!open.block) {
      item.brace = Brace::kConstructor;
      return false;
    }
    --depth_;
    item.depth = depth_;
    // Whether the author put a line end anywhere inside. Every block looks at its items again, so
    // the cost is items times depth, and the parser bounds depth.
    bool several = false;
    for (size_t inside = open.item + 1; inside <= i; ++inside) {
      several = several || items_[inside].line_ends > 0;
    }
    items_[open.item].brace = item.brace = several ? Brace::kBlock : Brace::kOneLine;
    return true;
  }

  std::string_view text_;
  std::vector<Item>& items_;
  std::vector<Open> open_;
  size_t before_ = 0;  // 1 + the last item that is no comment; 0: there is none
  size_t first_ = 0;   // of the statement
  uint32_t depth_ = 0;
  uint32_t brackets_ = 0;
  bool behind_condition_ = false;  // the item before was the ')' of `conditional (…)`
};

}  // namespace

// Every byte of the text is in exactly one item or in white space between two; the byte order mark
// is in none.
std::vector<Item> ItemsOf(std::string_view text, const rpl::LexResult& tokens) {
  std::vector<Item> items;
  uint32_t end =
      text.starts_with(rpl::kByteOrderMark) ? static_cast<uint32_t>(rpl::kByteOrderMark.size()) : 0;
  for (const rpl::Token& token : tokens.tokens) {
    const uint32_t line_ends = AddComments(text, {.begin = end, .end = token.begin}, items);
    if (token.kind != TokenKind::kEnd) {
      items.push_back({.bytes = token.span(), .kind = token.kind, .line_ends = line_ends});
      end = token.end();
    }
  }
  Classifier(text, items).Run();
  return items;
}

}  // namespace kiln::format
