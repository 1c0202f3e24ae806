// SPDX-License-Identifier: MIT
#include "compiler/driver/expression_errors.h"

#include <algorithm>
#include <utility>

#include "compiler/source/span.h"

namespace kiln::driver {
namespace {

// Bytes above ASCII count as parts of words, so that a token is never cut inside of a character.
bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<uint8_t>(c) & 0x80u) != 0;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The token at `at`, without what is a comment or between tokens; the parser has the last word on
// what it is.
uint32_t EndOfToken(std::string_view text, size_t at) {
  size_t end = at + 1;
  if (text[at] == '"') {
    while (end < text.size() && text[end] != '"' && text[end] != '\n') {
      ++end;
    }
    end += end < text.size() && text[end] == '"' ? 1 : 0;
  } else if (IsWordByte(text[at])) {
    // A dot belongs to a number only: in `a.b` it is a token.
    const bool number = text[at] >= '0' && text[at] <= '9';
    while (end < text.size() && (IsWordByte(text[end]) || (number && text[end] == '.'))) {
      ++end;
    }
  } else {
    constexpr std::string_view kPairs[] = {"==", "!=", "<=", ">=", "&&", "||", "<<", ">>"};
    // Operators that assign are not in the list, since an expression has none of them.
    end += std::ranges::find(kPairs, text.substr(at, 2)) != std::end(kPairs) ? 1 : 0;
  }
  return static_cast<uint32_t>(end);
}

template <class Visit>
void ForEachToken(std::string_view text, Visit visit) {
  for (size_t at = 0; at < text.size();) {
    if (IsSpace(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else {
      const Span token{static_cast<uint32_t>(at), EndOfToken(text, at)};
      visit(token);
      at = token.end;
    }
  }
}

// Nothing of an expression without tokens.
std::optional<Span> LastToken(std::string_view text) {
  std::optional<Span> last;
  ForEachToken(text, [&](Span token) { last = token; });
  return last;
}

// A token may be as long as the expression; messages show its beginning, cut between characters.
std::string Shown(std::string_view token) {
  constexpr size_t kMost = 60;
  if (token.size() <= kMost) {
    return std::string(token);
  }
  size_t end = kMost;
  while (end > 0 && (static_cast<uint8_t>(token[end]) & 0xC0u) == 0x80u) {
    --end;
  }
  return std::string(token.substr(0, end)) + "...";
}

// The parser's places count from the beginning of the source that was made around the expression.
// What lies before it is moved to its first byte, what lies behind it to its end: an author has
// written neither.
void MoveInto(Location& where, uint32_t number, size_t size) {
  const auto move = [&](uint32_t offset) {
    const auto before = static_cast<uint32_t>(kBeforeExpression.size());
    return std::min(offset < before ? 0 : offset - before, static_cast<uint32_t>(size));
  };
  if (where.known()) {
    where = {.module = number,
             .span_number = Location::kNone,
             .bytes = {.begin = move(where.bytes.begin), .end = move(where.bytes.end)}};
  }
}

std::string TextOfFound(const Diagnostic& found) {
  const Argument* text = found.Find("text");
  return text == nullptr ? std::string() : text->value;
}

// Nothing may follow an expression but an operator.
Diagnostic OperatorDue(const Location& where, std::string_view text) {
  return Make(Code::kRpl1170, where).With("kind", "text").With("text", text);
}

// The text ended before the parser had what it needs.
Diagnostic EndsTooEarly(const Diagnostic& found, uint32_t number, std::string_view text) {
  const std::optional<Span> last = LastToken(text);
  if (!last.has_value()) {
    return Make(Code::kRpl1179, {.module = number, .bytes = {}});
  }
  const Argument* token = found.Find("token");
  // The message says what was missing in words of the expression; the code tells what the parser
  // wanted.
  const std::string due = found.code == Code::kRpl1111 && token != nullptr
                              ? "'" + token->value + "'"
                          : found.code == Code::kRpl1177 ? std::string("a field name")
                                                         : std::string("an operand");
  Diagnostic made =
      Make(Code::kRpl1178, {.module = number, .bytes = {.begin = last->end, .end = last->end}})
          .With("text", Shown(TextOf(text, *last)))
          .With("what", due);
  // Labels were moved together with the primary place, so they fit the new message too.
  made.labels = found.labels;
  return made;
}

}  // namespace

std::optional<uint32_t> FindSemicolon(std::string_view text) {
  std::optional<uint32_t> first;
  ForEachToken(text, [&](Span token) {
    if (!first.has_value() && text[token.begin] == ';') {
      first = token.begin;
    }
  });
  return first;
}

void MoveIntoExpression(Diagnostic& diagnostic, uint32_t number, std::string_view text) {
  MoveInto(diagnostic.primary, number, text.size());
  for (Label& label : diagnostic.labels) {
    MoveInto(label.where, number, text.size());
  }
  if (diagnostic.fix.has_value()) {
    MoveInto(diagnostic.fix->where, number, text.size());
  }
}

std::optional<Diagnostic> ErrorOfExpression(std::vector<Diagnostic> found, uint32_t number,
                                            std::string_view text) {
  const std::optional<uint32_t> semicolon = FindSemicolon(text);
  const Location at_semicolon = {
      .module = number,
      .bytes = {.begin = semicolon.value_or(0), .end = semicolon.value_or(0) + 1}};
  std::erase_if(found, [](const Diagnostic& d) { return d.severity != Severity::kError; });
  // The first error by place is the one that the author made; those behind it often follow from it.
  const auto first = std::ranges::min_element(
      found, {}, [](const Diagnostic& d) { return d.primary.bytes.begin; });
  // The parser was given the text up to the first ';', so it has nothing to say about what follows.
  // The ';' itself is wrong.
  if (first == found.end()) {
    return semicolon.has_value() ? std::optional(OperatorDue(at_semicolon, ";")) : std::nullopt;
  }
  Diagnostic error = std::move(*first);
  const std::string_view read = text.substr(0, semicolon.value_or(text.size()));
  // An error behind the text is about what was put around it, and has to be said in terms of the
  // text.
  const bool at_end = error.code == Code::kRpl1112 ||
                      error.primary.bytes.begin >= kBeforeExpression.size() + read.size();
  MoveIntoExpression(error, number, text);
  if (at_end && semicolon.has_value()) {  // it is named, and it was written
    error.primary = at_semicolon;
    return error;
  }
  if (at_end) {
    return EndsTooEarly(error, number, text);
  }
  // A missing ';' is what the parser expects behind a constant; in an expression it means that an
  // operator is missing. A '?' belongs to a version that expressions do not have.
  const bool select = error.code == Code::kRpl1192 && TextOfFound(error) == "?";
  if (error.code == Code::kRpl1110 || select) {
    return OperatorDue(error.primary, TextOfFound(error));
  }
  return error;
}

}  // namespace kiln::driver
