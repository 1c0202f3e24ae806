// SPDX-License-Identifier: MIT
// Places in a manifest for what was found out about it.
#include "client/lsp/manifest/places.h"

#include <algorithm>
#include <charconv>

#include "client/project/expression_place.h"
#include "compiler/source/line_index.h"

namespace kiln::lsp {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '"' || c == '\'' || c == '[';
}

// Empty where no word begins.
Span WordAt(std::string_view text, uint32_t offset) {
  uint32_t end = offset;
  while (end < text.size() && IsWordByte(text[end])) {
    ++end;
  }
  return {.begin = offset, .end = end};
}

// Takes "12:" off the front; nothing if there is no number.
std::optional<uint32_t> TakeNumber(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':') {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return number;
}

}  // namespace

// A place counts lines and columns from one, in bytes. One that is not in the text leads to its
// begin or to the end of its line.
uint32_t OffsetOf(std::string_view text, project::ManifestPlace place) {
  const LineIndex lines(text);
  if (place.line == 0 || place.line > lines.line_count()) {
    return 0;
  }
  const Span line = lines.LineSpan(place.line);
  return std::min(line.begin + (place.column == 0 ? 0 : place.column - 1), line.end);
}

// Without a place in the message the first line is marked, so that a fault is always seen.
ManifestFault FaultOf(const Error& error, std::string_view text) {
  // The text is that of ReadManifest, "FILE:LINE:COLUMN: text". It is called "kiln.toml" there, a
  // name without a colon, so the first colon ends it.
  std::string_view message = error.context;
  const size_t colon = message.find(':');
  if (colon != std::string_view::npos) {
    std::string_view rest = message.substr(colon + 1);
    const std::optional<uint32_t> line = TakeNumber(rest);
    const std::optional<uint32_t> column = line.has_value() ? TakeNumber(rest) : std::nullopt;
    if (column.has_value()) {
      rest.remove_prefix(rest.starts_with(' ') ? 1 : 0);
      return {.bytes = WordAt(text, OffsetOf(text, {.line = *line, .column = *column})),
              .message = std::string(rest)};
    }
  }
  return {
      .bytes = {.begin = 0, .end = static_cast<uint32_t>(std::min(text.find('\n'), text.size()))},
      .message = std::string(message)};
}

// From the exact to the rough: a place in a condition, the key of an option, the program's table.
Span PlaceInManifest(std::string_view text, const project::ManifestProgram& program,
                     const Diagnostic& diagnostic) {
  // Conditions were compiled in the order in which SpaceRequestOf adds them, and their module is
  // their number. A place in the expression is mapped back into the text of the manifest, past
  // quotes and escapes.
  const size_t number = diagnostic.primary.module;
  if (diagnostic.primary.known() && number < program.exclude.size() + program.require.size()) {
    const project::ManifestExpression& expression =
        number < program.exclude.size() ? program.exclude[number]
                                        : program.require[number - program.exclude.size()];
    const std::optional<Span> place =
        project::SpanInManifest(text, expression, diagnostic.primary.bytes);
    if (place.has_value()) {
      return *place;
    }
  }
  // A message about an option names it in one of its arguments. The key in the manifest is the best
  // place for it.
  for (const Argument& argument : diagnostic.arguments) {
    const auto axis = program.axes.find(argument.value);
    if (axis != program.axes.end()) {
      return WordAt(text, OffsetOf(text, axis->second.key));
    }
    const auto option = program.options.find(argument.value);
    if (option != program.options.end()) {
      return WordAt(text, OffsetOf(text, option->second.place));
    }
  }
  return WordAt(text, OffsetOf(text, program.place));
}

}  // namespace kiln::lsp
