// SPDX-License-Identifier: MIT
// The daemon tells places inside of an expression in bytes of its text; an editor needs them in the
// manifest. The text of TOML and the file differ by quotes, escapes and line ends, so both are
// walked side by side, step by step, from the quote on.
#include "client/project/expression_place.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "compiler/source/line_index.h"

namespace kiln::project {
namespace {

// Bytes in the file and in the text of one step.
struct Step {
  size_t raw = 1;
  size_t said = 1;
};

size_t Utf8Size(uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// `text` begins with a backslash. One at the end of a line says nothing, and neither do the blanks
// that follow.
Step EscapeAt(std::string_view text) {
  const char what = text.size() > 1 ? text[1] : '\0';
  const size_t digits = what == 'u' ? 4 : what == 'U' ? 8 : 0;
  if (digits != 0 && text.size() >= 2 + digits) {
    uint32_t code_point = 0;
    (void)std::from_chars(text.data() + 2, text.data() + 2 + digits, code_point, 16);
    return {.raw = 2 + digits, .said = Utf8Size(code_point)};
  }
  if (!IsBlank(what)) {
    return {.raw = std::min<size_t>(2, text.size()), .said = 1};
  }
  size_t end = 1;
  while (end < text.size() && IsBlank(text[end])) {
    ++end;
  }
  return {.raw = end, .said = 0};
}

// Columns of TOML count code points.
std::optional<size_t> OffsetOf(std::string_view text, ManifestPlace place) {
  const LineIndex index(text);
  if (place.line == 0 || place.line > index.line_count()) {
    return std::nullopt;
  }
  const Span line = index.LineSpan(place.line);
  size_t at = line.begin;
  for (uint32_t column = 1; column < place.column && at < line.end; ++column) {
    do {
      ++at;
    } while (at < line.end && (static_cast<uint8_t>(text[at]) & 0xC0u) == 0x80u);
  }
  return at;
}

// Where the text of a string begins whose quote is at `quote`. One quote or three: basic and
// literal strings, in one line or several.
size_t BehindQuotes(std::string_view text, size_t quote) {
  const char mark = text[quote];
  if (text.substr(quote, 3) != std::string(3, mark)) {
    return quote + 1;
  }
  size_t begin = quote + 3;  // and a line end right behind it says nothing
  begin += text.substr(begin, 1) == "\r" ? 1 : 0;
  begin += text.substr(begin, 1) == "\n" ? 1 : 0;
  return begin;
}

}  // namespace

// Nothing where there is no quote at the place: the manifest was edited since.
std::optional<Span> SpanInManifest(std::string_view manifest, const ManifestExpression& expression,
                                   Span part) {
  const ManifestPlace place = {.line = expression.place.line,
                               .column = expression.place.column - 1};  // of the quote
  const std::optional<size_t> quote = OffsetOf(manifest, place);
  if (!quote.has_value() || *quote >= manifest.size() ||
      (manifest[*quote] != '"' && manifest[*quote] != '\'')) {
    return std::nullopt;
  }
  // Literal strings ('…') know no escapes.
  const bool escapes = manifest[*quote] == '"';
  size_t raw = BehindQuotes(manifest, *quote);
  size_t said = 0;
  const auto go_to = [&](size_t wanted) {
    while (said < wanted && raw < manifest.size()) {
      const Step step = escapes && manifest[raw] == '\\' ? EscapeAt(manifest.substr(raw)) : Step{};
      raw += step.raw;
      said += step.said;
    }
    return static_cast<uint32_t>(raw);
  };
  Span span{.begin = go_to(part.begin), .end = 0};
  span.end = go_to(part.end);
  return span;
}

// Nothing where another key stands there.
std::optional<Span> KeyInManifest(std::string_view manifest, ManifestPlace place,
                                  std::string_view key) {
  const std::optional<size_t> begin = OffsetOf(manifest, place);
  if (!begin.has_value() || *begin >= manifest.size()) {
    return std::nullopt;
  }
  const bool quoted = manifest[*begin] == '"' || manifest[*begin] == '\'';
  const size_t end = *begin + key.size() + (quoted ? 2 : 0);
  return manifest.substr(*begin + (quoted ? 1 : 0), key.size()) != key
             ? std::nullopt
             : std::optional(Span{static_cast<uint32_t>(*begin), static_cast<uint32_t>(end)});
}

}  // namespace kiln::project
