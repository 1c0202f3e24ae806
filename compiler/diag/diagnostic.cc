// SPDX-License-Identifier: MIT
// The tables of codes.def, and substitution of arguments into its templates.
#include "compiler/diag/diagnostic.h"

#include <algorithm>
#include <array>
#include <compare>
#include <tuple>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln {
namespace {

// A row of codes.def. A code has one severity and one message, so stored forms have neither.
// Columns: the number, the code as it is printed (RPL6022), the name for tools, the severity, the
// template of the message.
struct CodeRow {
  Code code;
  std::string_view text;
  std::string_view name;
  Severity severity;
  std::string_view message;
};

// One include of codes.def for each table. The number of a code is its row in all of them.
constexpr auto kCodes = std::to_array<CodeRow>({
#define KILN_CODE(enumerator, code, name, severity, message) \
  {Code::enumerator, code, name, Severity::severity, message},
#include "compiler/diag/codes.def"
});

constexpr auto kAllCodes = std::to_array<Code>({
#define KILN_CODE(enumerator, code, name, severity, message) Code::enumerator,
#include "compiler/diag/codes.def"
});

constexpr auto kLabelTemplates = std::to_array<std::string_view>({
#define KILN_LABEL(enumerator, text) text,
#include "compiler/diag/codes.def"
});

struct NoteRow {
  NoteHeading heading;
  std::string_view text;
};

// Notes have a heading, labels have none: labels stand at a place.
constexpr auto kNotes = std::to_array<NoteRow>({
#define KILN_NOTE(enumerator, heading, text) {NoteHeading::heading, text},
#include "compiler/diag/codes.def"
});

const CodeRow& RowOf(Code code) {
  // The number may come from a stored form, so it is checked even though an enumerator cannot be
  // wrong.
  const auto row = static_cast<size_t>(code);
  KILN_CHECK(row < kCodes.size(), "code row {} of {}", row, kCodes.size());
  return kCodes[row];
}

// A missing argument is a fault of kiln and not of the source, so it is checked, and a message with
// a hole is never printed. Linear in the text. Braces in a template are placeholders and nothing
// else, which a test of the table makes sure of.
std::string Substitute(std::string_view text, std::span<const Argument> arguments) {
  std::string out;
  while (true) {
    const size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) {
      return out;
    }
    const size_t close = text.find('}', open);
    KILN_CHECK(close != std::string_view::npos, "placeholder is not closed in: {}", text);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto argument = std::ranges::find(arguments, name, &Argument::name);
    KILN_CHECK(argument != arguments.end(), "no argument '{}' for: {}", name, text);
    // Values are not searched for placeholders again: they quote sources, which may hold braces.
    out += argument->value;
    text.remove_prefix(close + 1);
  }
}

// Modules by their number, since paths are known only when a report is placed. Unknown places have
// the largest numbers and so come last in their order.
auto Rank(const Location& where) {
  return std::tie(where.module, where.bytes.begin, where.bytes.end, where.span_number);
}

// Names before values: arguments of one code differ in their values alone.
std::strong_ordering Compare(const Argument& a, const Argument& b) {
  return std::tie(a.name, a.value) <=> std::tie(b.name, b.value);
}

// Declared in advance, because lists of them are compared by a template above.
std::strong_ordering Compare(const Label& a, const Label& b);
std::strong_ordering Compare(const Note& a, const Note& b);

template <class T>
std::strong_ordering Compare(const std::vector<T>& a, const std::vector<T>& b) {
  return std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const T& left, const T& right) { return Compare(left, right); });
}

// The place decides first, as for diagnostics themselves.
std::strong_ordering Compare(const Label& a, const Label& b) {
  if (const auto order = Rank(a.where) <=> Rank(b.where); std::is_neq(order)) {
    return order;
  }
  if (const auto order = a.kind <=> b.kind; std::is_neq(order)) {
    return order;
  }
  return Compare(a.arguments, b.arguments);
}

std::strong_ordering Compare(const Note& a, const Note& b) {
  if (const auto order = a.kind <=> b.kind; std::is_neq(order)) {
    return order;
  }
  return Compare(a.arguments, b.arguments);
}

std::strong_ordering Compare(const std::optional<Fix>& a, const std::optional<Fix>& b) {
  // A diagnostic without an edit comes before one with it.
  if (!a.has_value() || !b.has_value()) {
    return a.has_value() <=> b.has_value();
  }
  return std::tuple(a->form, a->confidence, Rank(a->where), std::string_view(a->text)) <=>
         std::tuple(b->form, b->confidence, Rank(b->where), std::string_view(b->text));
}

// A total order over all that a diagnostic says: two that compare equal are equal, so that sorting
// leaves one order whatever order threads found them in, and equal ones are neighbours. The place
// comes first, since people read from the top.
bool Before(const Diagnostic& a, const Diagnostic& b) {
  const auto key = [](const Diagnostic& d) {
    return std::tuple(d.primary.module, d.primary.bytes.begin, d.code);
  };
  if (const auto order = key(a) <=> key(b); std::is_neq(order)) {
    return std::is_lt(order);
  }
  if (const auto order = Rank(a.primary) <=> Rank(b.primary); std::is_neq(order)) {
    return std::is_lt(order);
  }
  if (const auto order = Compare(a.arguments, b.arguments); std::is_neq(order)) {
    return std::is_lt(order);
  }
  if (const auto order = Compare(a.labels, b.labels); std::is_neq(order)) {
    return std::is_lt(order);
  }
  if (const auto order = Compare(a.notes, b.notes); std::is_neq(order)) {
    return std::is_lt(order);
  }
  return std::is_lt(Compare(a.fix, b.fix));
}

// At least the bytes that EncodeDiagnostics writes.
size_t BytesOf(std::span<const Argument> arguments) {
  size_t bytes = 0;
  for (const Argument& argument : arguments) {
    bytes += argument.name.size() + argument.value.size() + 32;
  }
  return bytes;
}

// The numbers are upper bounds for the fixed parts of a row in the stored form, so the sum is
// never too small.
size_t BytesOf(const Diagnostic& diagnostic) {
  size_t bytes = 128 + BytesOf(diagnostic.arguments);
  for (const Label& label : diagnostic.labels) {
    bytes += 64 + BytesOf(label.arguments);
  }
  for (const Note& note : diagnostic.notes) {
    bytes += 32 + BytesOf(note.arguments);
  }
  return bytes + (diagnostic.fix.has_value() ? 64 + diagnostic.fix->text.size() : 0);
}

// Bounds for one diagnostic. A source can make any number of labels, as a name that is declared ten
// thousand times does, and nobody reads more than a few.
void Shorten(Diagnostic& diagnostic) {
  if (diagnostic.labels.size() > kMaxLabels) {
    const size_t more = diagnostic.labels.size() - kMaxLabels;
    diagnostic.labels.resize(kMaxLabels);
    diagnostic.notes.insert(diagnostic.notes.begin(),
                            {.kind = NoteKind::kMorePlaces, .arguments = {{"count", more}}});
  }
  if (diagnostic.notes.size() > kMaxLabels) {
    diagnostic.notes.resize(kMaxLabels);
  }
  if (diagnostic.fix.has_value() && diagnostic.fix->text.size() > kMaxArgument) {
    diagnostic.fix.reset();  // half of an edit is none
  }
}

// How many of the first are within both bounds; one at least.
// The first one is always shown, however long it is: no message at all would be worse.
size_t Shown(std::span<const Diagnostic> diagnostics) {
  size_t bytes = 0, count = 0;
  while (count < std::min(diagnostics.size(), kMaxDiagnostics)) {
    bytes += BytesOf(diagnostics[count]);
    if (count != 0 && bytes > kMaxDiagnosticsBytes) {
      break;
    }
    ++count;
  }
  return count;
}

}  // namespace

const uint32_t kLabelKindCount = kLabelTemplates.size();
const uint32_t kNoteKindCount = kNotes.size();

// Parts are added to a temporary, `Make(code, where).With(...).Label(...)`, so that a
// diagnostic is made in one expression.
Diagnostic&& Diagnostic::With(std::string_view name, std::string_view value) && {
  arguments.emplace_back(name, value);
  return std::move(*this);
}

Diagnostic&& Diagnostic::Label(LabelKind kind, const Location& where,
                               std::initializer_list<Argument> label_arguments) && {
  labels.push_back({.kind = kind, .where = where, .arguments = label_arguments});
  return std::move(*this);
}

Diagnostic&& Diagnostic::Note(NoteKind kind, std::initializer_list<Argument> note_arguments) && {
  notes.push_back({.kind = kind, .arguments = note_arguments});
  return std::move(*this);
}

// An edit is for tools; what it says has to be in the notes as well.
Diagnostic&& Diagnostic::Replace(const Location& where, std::string_view text,
                                 Confidence confidence) && {
  fix = kiln::Fix{.form = Fix::Form::kReplace,
                  .confidence = confidence,
                  .where = where,
                  .text = std::string(text)};
  // The replacement is said as a note as well, for those who read the text and apply nothing.
  return std::move(*this).Note(NoteKind::kWrite, {{"replacement", text}});
}

// A diagnostic has a handful of arguments.
const Argument* Diagnostic::Find(std::string_view name) const {
  const auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : &*found;
}

// The severity is that of the table; nobody sets another one.
Diagnostic Make(Code code, const Location& where) {
  Diagnostic made;
  made.code = code;
  made.severity = RowOf(code).severity;
  made.primary = where;
  return made;
}

// Warnings and lints never fail a compilation.
bool HasErrors(std::span<const Diagnostic> diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string_view CodeText(Code code) { return RowOf(code).text; }
std::string_view CodeName(Code code) { return RowOf(code).name; }
Severity CodeSeverity(Code code) { return RowOf(code).severity; }
std::string_view CodeTemplate(Code code) { return RowOf(code).message; }
std::span<const Code> AllCodes() { return kAllCodes; }

// For text from outside: options of the command line, stored forms. There are some hundreds of
// codes.
std::optional<Code> FindCode(std::string_view code_text) {
  const auto row = std::ranges::find(kCodes, code_text, &CodeRow::text);
  return row == kCodes.end() ? std::nullopt : std::optional(row->code);
}

// The words are part of the output forms, and scripts compare them.
std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kLint:
      return "lint";
  }
  KILN_UNREACHABLE();
}

std::string_view HeadingName(NoteHeading heading) {
  switch (heading) {
    case NoteHeading::kNote:
      return "note";
    case NoteHeading::kHelp:
      return "help";
  }
  KILN_UNREACHABLE();
}

std::string_view LabelTemplate(LabelKind kind) {
  const auto row = static_cast<size_t>(kind);
  KILN_CHECK(row < kLabelTemplates.size(), "label row {}", row);
  return kLabelTemplates[row];
}

// Kinds may come from a stored form, so they are checked as codes are.
std::string_view NoteTemplate(NoteKind kind) {
  const auto row = static_cast<size_t>(kind);
  KILN_CHECK(row < kNotes.size(), "note row {}", row);
  return kNotes[row].text;
}

NoteHeading HeadingOf(NoteKind kind) {
  KILN_CHECK(static_cast<size_t>(kind) < kNotes.size());
  return kNotes[static_cast<size_t>(kind)].heading;
}

std::string Message(const Diagnostic& diagnostic) {
  return Substitute(CodeTemplate(diagnostic.code), diagnostic.arguments);
}

std::string LabelText(const Label& label) {
  return Substitute(LabelTemplate(label.kind), label.arguments);
}

std::string NoteText(const Note& note) {
  return Substitute(NoteTemplate(note.kind), note.arguments);
}

// The bounds apply to what is shown, so the order of importance decides who is dropped: errors stay
// before warnings, and within one severity the first places stay. Shortening comes first: it makes
// different messages equal, never equal ones different.
void SortAndMerge(std::vector<Diagnostic>& diagnostics) {
  const auto before = [](const Diagnostic& a, const Diagnostic& b) {
    CheckStop();  // a source may have a million
    return Before(a, b);
  };
  for (Diagnostic& diagnostic : diagnostics) {
    Shorten(diagnostic);
  }
  std::ranges::sort(diagnostics, before);
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end()), diagnostics.end());
  // Only if something has to go, the order of importance is needed; most reports are short and are
  // sorted once.
  if (Shown(diagnostics) != diagnostics.size()) {
    std::ranges::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
      CheckStop();
      return a.severity < b.severity;
    });
    diagnostics.resize(Shown(diagnostics));
    std::ranges::sort(diagnostics, before);
  }
}

}  // namespace kiln
