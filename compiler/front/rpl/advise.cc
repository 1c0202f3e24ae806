// SPDX-License-Identifier: MIT
#include "compiler/front/rpl/advise.h"

#include "compiler/diag/spellings.h"

namespace kiln::rpl {
namespace {

constexpr uint32_t kNear = 16;  // tokens between the first word of a construct and an error in it

// Walks along the tokens and knows at each what it stands in.
class Cursor {
 public:
  Cursor(std::string_view text, const LexResult& lexed) : text_(text), lexed_(lexed) {}

  // Behind every token that begins before `offset`. Requires: offsets ascend.
  // Moves forward only, which makes all advice of a source one pass over its tokens. A '}' too many
  // must not count below zero: the source is wrong, after all.
  void GoTo(uint32_t offset) {
    for (; lexed_.tokens[next_].begin < offset && Kind() != TokenKind::kEnd; ++next_) {
      const TokenKind kind = Kind();
      if (kind == TokenKind::kOpenBrace) {
        ++depth_;
      } else if (kind == TokenKind::kCloseBrace && depth_ > 0) {
        --depth_;
      }
      if (kind == TokenKind::kOpenBrace || kind == TokenKind::kCloseBrace ||
          kind == TokenKind::kSemicolon) {
        first_ = next_ + 1;
      }
    }
  }

  bool in_function() const { return depth_ > 0; }
  uint32_t first() const { return first_; }  // token that the statement or declaration starts with
  bool near() const { return next_ - first_ < kNear; }
  std::string_view FirstWord() const { return TextOf(text_, lexed_.tokens[first_].span()); }

 private:
  TokenKind Kind() const { return lexed_.tokens[next_].kind; }

  std::string_view text_;
  const LexResult& lexed_;
  uint32_t next_ = 0;
  uint32_t first_ = 0;
  uint32_t depth_ = 0;
};

// "Sample" of "albedo.Sample".
std::string_view LastWord(std::string_view text) {
  const size_t dot = text.rfind('.');
  return dot == std::string_view::npos ? text : text.substr(dot + 1);
}

// What the author may have meant, from the surest sign to the weakest: a mark at the place itself,
// the name that stands there, the word that the statement begins with.
const Spelling* FindRow(std::string_view text, const Diagnostic& found, const Cursor& cursor) {
  const Span where = found.primary.bytes;
  if (const Spelling* mark = FindMark(text, where.begin)) {
    return mark;
  }
  // `vec4(…)` or `a.Sample(…)`: what cannot be called is a type or a method of another language.
  if (found.code == Code::kRpl1176) {
    const std::string_view word = TextOf(text, where);
    const Spelling* type = FindSpelling(SpellingPlace::kType, word.substr(0, word.find('<')));
    return type != nullptr ? type : FindSpelling(SpellingPlace::kMethod, LastWord(word));
  }
  // A first word far away says nothing about this error.
  if (!cursor.near()) {
    return nullptr;
  }
  return FindSpelling(
      cursor.in_function() ? SpellingPlace::kStatement : SpellingPlace::kDeclaration,
      cursor.FirstWord());
}

}  // namespace

void AddAdvice(std::string_view text, const LexResult& lexed, uint32_t version,
               std::vector<Diagnostic>& diagnostics) {
  Cursor cursor(text, lexed);
  // One advice for each construct: a word at its beginning would be blamed for every error in it.
  uint32_t advised = 0xffffffffu;  // the construct that has its advice
  for (Diagnostic& found : diagnostics) {
    cursor.GoTo(found.primary.bytes.begin);
    // An error that has an edit needs no more help.
    if (found.severity != Severity::kError || found.fix.has_value()) {
      continue;
    }
    const Spelling* row = FindRow(text, found, cursor);
    const bool by_first_word = row != nullptr && (row->place == SpellingPlace::kStatement ||
                                                  row->place == SpellingPlace::kDeclaration);
    if (row == nullptr || (by_first_word && cursor.first() == advised)) {
      // An advice by name or by mark is about one place, so a construct may have several of those.
      continue;
    }
    if (by_first_word) {
      advised = cursor.first();
    }
    // Who writes a type of another language also writes its parentheses, so both are told at once.
    if (row->place == SpellingPlace::kType && !row->replacement.empty()) {
      std::move(found).Note(
          NoteKind::kAdvice,
          {{"advice", "constructors take braces: " + std::string(row->replacement) + " { ... }"}});
    }
    Advise(*row, version, found);
  }
}

}  // namespace kiln::rpl
