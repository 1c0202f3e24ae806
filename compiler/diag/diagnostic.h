// SPDX-License-Identifier: MIT
// What is wrong with a source: code, places and typed arguments. Texts are in codes.def and are put
// together by Message, LabelText and NoteText, nowhere else.
//   found.push_back(Make(Code::kRpl6022, where)
//                       .With("op", "+").With("left", "f3").With("right", "f4")
//                       .Label(LabelKind::kDeclaredHere, other, {{"name", "emission"}})
//                       .Note(NoteKind::kAccepted, {{"accepted", "equal vector types"}}));
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/printable.h"
#include "compiler/diag/quoted.h"
#include "compiler/source/span.h"

namespace kiln {

enum class Code : uint16_t {
#define KILN_CODE(enumerator, code, name, severity, message) enumerator,
#include "compiler/diag/codes.def"
};

enum class LabelKind : uint8_t {
#define KILN_LABEL(enumerator, text) enumerator,
#include "compiler/diag/codes.def"
};

enum class NoteKind : uint8_t {
#define KILN_NOTE(enumerator, heading, text) enumerator,
#include "compiler/diag/codes.def"
};

// Lints are shown only when asked for.
enum class Severity : uint8_t { kError, kWarning, kLint };

enum class NoteHeading : uint8_t { kNote, kHelp };

// A place in the sources of a program. Options of a request have no place: module is kNone then.
struct Location {
  static constexpr uint32_t kNone = 0xffffffffu;

  uint32_t module = kNone;       // ordinal in link order
  uint32_t span_number = kNone;  // row of the module image's span table, where there is an image
  Span bytes;                    // in the text of the module

  bool known() const { return module != kNone; }

  friend bool operator==(const Location&, const Location&) = default;
};

// Bounds of what is told. Names, paths and strings are of the author's choice, so each value is cut
// where it is made; of a diagnostic with more labels or notes the first are kept, and a note says
// how many are not.
inline constexpr size_t kMaxArgument = 256;  // bytes
inline constexpr size_t kMaxLabels = 16;     // and notes

// Value of a placeholder, in UTF-8; names may repeat only in templates, not in a list of arguments.
struct Argument {
  std::string name;
  std::string value;

  Argument() = default;
  Argument(std::string_view argument_name, std::string_view text)
      : name(argument_name), value(Shortened(WellFormed(text), kMaxArgument)) {}
  template <std::integral T>
  Argument(std::string_view argument_name, T number)
      : name(argument_name), value(std::to_string(number)) {}

  friend bool operator==(const Argument&, const Argument&) = default;
};

struct Label {
  LabelKind kind{};
  Location where;
  std::vector<Argument> arguments;

  friend bool operator==(const Label&, const Label&) = default;
};

struct Note {
  NoteKind kind{};
  std::vector<Argument> arguments;

  friend bool operator==(const Note&, const Note&) = default;
};

// Whether an edit may be made without asking: it says what was meant, or it is a guess.
enum class Confidence : uint8_t { kSure, kGuess };

// An edit of the source that a diagnostic proposes; a note says the same in words.
struct Fix {
  enum class Form : uint8_t {
    kReplace,  // `where` becomes `text`
    kBraces,   // `where` is a call, "vec4 (a, b)": it becomes the constructor `text`, "f4 {a, b}"
  };
  Form form = Form::kReplace;
  Confidence confidence = Confidence::kSure;
  Location where;
  std::string text;

  friend bool operator==(const Fix&, const Fix&) = default;
};

struct Diagnostic {
  Code code{};
  Severity severity = Severity::kError;
  Location primary;
  std::vector<Argument> arguments;
  std::vector<kiln::Label> labels;
  std::vector<kiln::Note> notes;
  std::optional<kiln::Fix> fix;

  Diagnostic&& With(std::string_view name, std::string_view value) &&;
  Diagnostic&& With(std::string_view name, std::integral auto value) && {
    return std::move(*this).With(name, std::to_string(value));
  }
  Diagnostic&& Label(LabelKind kind, const Location& where,
                     std::initializer_list<Argument> label_arguments = {}) &&;
  Diagnostic&& Note(NoteKind kind, std::initializer_list<Argument> note_arguments = {}) &&;
  // What stands at `where` should be `text`. Says so in a note, too.
  Diagnostic&& Replace(const Location& where, std::string_view text,
                       Confidence confidence = Confidence::kSure) &&;
  const Argument* Find(std::string_view name) const;  // null if it has no such argument

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

// A diagnostic with the severity of its code.
Diagnostic Make(Code code, const Location& where);

// Outcome of a stage: a value unless the sources are wrong; warnings may come with a value.
template <class T>
struct [[nodiscard]] Diagnosed {
  std::optional<T> value;
  std::vector<Diagnostic> diagnostics;

  bool ok() const { return value.has_value(); }
};

bool HasErrors(std::span<const Diagnostic> diagnostics);

// "RPL6022"; "operator-types", the short symbolic name; the row's severity and template.
std::string_view CodeText(Code code);
std::string_view CodeName(Code code);
Severity CodeSeverity(Code code);
std::string_view CodeTemplate(Code code);
std::span<const Code> AllCodes();  // in the order of codes.def
std::optional<Code> FindCode(std::string_view code_text);

std::string_view SeverityName(Severity severity);   // "error"
std::string_view HeadingName(NoteHeading heading);  // "help"
std::string_view LabelTemplate(LabelKind kind);
std::string_view NoteTemplate(NoteKind kind);
NoteHeading HeadingOf(NoteKind kind);
extern const uint32_t kLabelKindCount;
extern const uint32_t kNoteKindCount;

// Templates with their placeholders replaced. A placeholder without argument is a kiln bug.
std::string Message(const Diagnostic& diagnostic);
std::string LabelText(const Label& label);
std::string NoteText(const Note& note);  // without heading

// Orders by module, byte offset, code, and then by everything else, so that the order is total;
// merges equal ones. Diagnostics without place come last. Of more than kMaxDiagnostics, or of more
// than kMaxDiagnosticsBytes in their stored form, the most severe are kept, and of those the first
// (spec/daemon 10).
inline constexpr size_t kMaxDiagnostics = 100;
inline constexpr size_t kMaxDiagnosticsBytes = size_t{256} << 10;
void SortAndMerge(std::vector<Diagnostic>& diagnostics);

}  // namespace kiln
