// SPDX-License-Identifier: MIT
// The long text form: heading, snippet with underlines and labels, notes.
#include "compiler/diag/render.h"

#include <fmt/core.h>

#include "compiler/base/printable.h"
#include "compiler/diag/snippet.h"

namespace kiln {
namespace {

// Parameters of the escape sequence for colours (SGR): bold, and a foreground.
std::string_view ColourOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "1;31";
    case Severity::kWarning:
      return "1;33";
    case Severity::kLint:
      return "1;36";
  }
  return "1";
}

// The text stays as it is inside of the sequence, so a width that was computed without colours
// holds.
std::string Paint(const TextStyle& style, std::string_view colour, std::string_view text) {
  return style.colour == Colour::kOn ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text)
                                     : std::string(text);
}

// Line and column count from 1. Paths are made printable: they come from outside and could hold
// sequences.
std::string PlaceText(const PlacedSpan& where) {
  return fmt::format("{}:{}:{}", Printable(where.path), where.line, where.column);
}

// The place, as a link where the style has one.
// The escape sequence for links; terminals without them show the text alone.
std::string LinkedPlace(const PlacedSpan& where, const TextStyle& style) {
  const std::string uri = style.link ? style.link(where.path) : std::string();
  const std::string text = PlaceText(where);
  return uri.empty() ? text : fmt::format("\x1b]8;;{}\x1b\\{}\x1b]8;;\x1b\\", uri, text);
}

// The condition holds for the variants that fail; without one, there was none simple enough to
// be said.
std::string VariantsText(const PlacedVariants& variants) {
  std::string text = fmt::format("in {} of {} variants", variants.failing, variants.total);
  if (!variants.condition.empty()) {
    text += ", when " + variants.condition;
  }
  if (!variants.example.empty()) {
    text += "; e.g. " + variants.example;
  }
  return text;
}

// A line without a number is one of marks, and a gap stands for lines that were left out.
std::string LineText(const SnippetLine& line, uint32_t number_width, const TextStyle& style,
                     std::string_view colour) {
  const std::string number = line.number == 0 ? "" : std::to_string(line.number);
  const std::string gutter = line.gap ? "..." : fmt::format("{:>{}} |", number, number_width);
  const std::string text = line.text.empty() ? "" : " " + line.text;
  return Paint(style, "34", gutter) + (line.mark ? Paint(style, colour, text) : text) + "\n";
}

}  // namespace

// The form that the specification shows: heading, arrow with the place, snippet, notes. Colours
// only surround texts and never change them, so a report reads the same with and without.
// `sources` need not have the file: a report may be read where the sources are not.
std::string RenderText(const PlacedDiagnostic& diagnostic, const SourceSet& sources,
                       const TextStyle& style) {
  const std::string_view colour = ColourOf(diagnostic.severity);
  std::string out =
      Paint(style, colour,
            fmt::format("{}[{}]", SeverityName(diagnostic.severity), Printable(diagnostic.code))) +
      Paint(style, "1", ": " + Printable(diagnostic.message)) + "\n";

  const SourceFile* source = sources.Find(diagnostic.primary.path);
  const bool has_snippet = diagnostic.primary.known() && source != nullptr;
  const Snippet snippet =
      has_snippet ? MakeSnippet(diagnostic.primary, diagnostic.labels, source->text, style.width)
                  : Snippet{};
  // The arrow and the bars line up with the numbers of lines.
  const std::string margin(snippet.number_width, ' ');
  if (diagnostic.primary.known()) {
    out += fmt::format("{}{} {}\n", margin, Paint(style, "34", "-->"),
                       LinkedPlace(diagnostic.primary, style));
  }
  if (has_snippet) {
    out += margin + Paint(style, "34", " |") + "\n";
  }
  for (const SnippetLine& line : snippet.lines) {
    out += LineText(line, snippet.number_width, style, colour);
  }
  const auto append_note = [&](std::string_view note) {
    out += fmt::format("{} {} {}\n", margin, Paint(style, "34", "="), Printable(note));
  };
  // Labels that the snippet does not show must not get lost, and are written as notes with their
  // place.
  for (const size_t i : snippet.labels_left_out) {
    const PlacedLabel& label = diagnostic.labels[i];
    append_note("note: " + label.text + ": " + PlaceText(label.where));
  }
  // Without a source nothing of the labels was shown, so each of them becomes a note.
  for (size_t i = 0; !has_snippet && i < diagnostic.labels.size(); ++i) {
    const PlacedLabel& label = diagnostic.labels[i];
    append_note("note: " + label.text +
                (label.where.known() ? ": " + PlaceText(label.where) : std::string()));
  }
  for (const std::string& note : diagnostic.notes) {
    append_note(note);
  }
  if (diagnostic.variants) {
    append_note(VariantsText(*diagnostic.variants));
  }
  return out;
}

// One line for a diagnostic, as editors and build tools parse it.
std::string RenderShort(const PlacedDiagnostic& diagnostic) {
  const std::string place =
      diagnostic.primary.known() ? PlaceText(diagnostic.primary) + ": " : std::string();
  return fmt::format("{}{}: {} [{}]\n", place, SeverityName(diagnostic.severity),
                     Printable(diagnostic.message), Printable(diagnostic.code));
}

// The bound is a number of diagnostics and not of bytes.
std::string RenderReport(std::span<const PlacedDiagnostic> diagnostics, const SourceSet& sources,
                         const TextStyle& style, size_t limit) {
  std::string out;
  for (const PlacedDiagnostic& diagnostic :
       diagnostics.first(std::min(limit, diagnostics.size()))) {
    out += (out.empty() ? "" : "\n") + RenderText(diagnostic, sources, style);
  }
  // What is left out is counted, so nobody takes the rest for everything.
  if (diagnostics.size() > limit) {
    out += fmt::format("\nand {} more\n", diagnostics.size() - limit);
  }
  return out;
}

}  // namespace kiln
