// SPDX-License-Identifier: MIT
// Texts from codes.def, lines and columns from the sources.
#include "compiler/diag/place.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/base/utf8.h"
#include "compiler/source/line_index.h"

namespace kiln {
namespace {

// Line indexes of the modules that are mentioned, each made once.
constexpr size_t kMaxCall = 4096;  // bytes of one that an edit is proposed for

class Placer {
 public:
  explicit Placer(std::span<const SourceFile* const> modules) : modules_(modules) {}

  PlacedSpan At(const Location& where) {
    if (where.module >= modules_.size() || modules_[where.module] == nullptr) {
      return {};
    }
    const SourceFile& source = *modules_[where.module];
    const LineIndex& lines = lines_.try_emplace(where.module, source.text).first->second;
    const LineColumn begin = lines.At(where.bytes.begin);
    const LineColumn end = lines.At(std::max(where.bytes.begin, where.bytes.end));
    return {.path = source.path,
            .bytes = where.bytes,
            .line = begin.line,
            .column = begin.column,
            .end_line = end.line,
            .end_column = end.column};
  }

  PlacedDiagnostic Place(const Diagnostic& diagnostic) {
    PlacedDiagnostic placed{.code = std::string(CodeText(diagnostic.code)),
                            .name = std::string(CodeName(diagnostic.code)),
                            .severity = diagnostic.severity,
                            .message = Message(diagnostic),
                            .primary = At(diagnostic.primary)};
    for (const Label& label : diagnostic.labels) {
      placed.labels.push_back({.where = At(label.where), .text = LabelText(label)});
    }
    for (const Note& note : diagnostic.notes) {
      placed.notes.push_back(std::string(HeadingName(HeadingOf(note.kind))) + ": " +
                             NoteText(note));
    }
    if (diagnostic.fix.has_value()) {
      placed.fix = Place(*diagnostic.fix);
    }
    return placed;
  }

  // Nothing if its place is unknown, or is not what the form says.
  std::optional<PlacedFix> Place(const Fix& fix) {
    PlacedFix placed{.where = At(fix.where), .replacement = fix.text, .confidence = fix.confidence};
    if (!placed.where.known()) {
      return std::nullopt;
    }
    if (fix.form == Fix::Form::kBraces) {
      const std::optional<std::string_view> arguments =
          ArgumentsOf(TextOf(modules_[fix.where.module]->text, placed.where.bytes));
      if (!arguments.has_value()) {
        return std::nullopt;
      }
      placed.replacement = fix.text + " {" + std::string(*arguments) + "}";
    }
    if (FindInvalidUtf8(placed.replacement) != placed.replacement.size()) {
      return std::nullopt;  // spelled otherwise it would be another edit
    }
    return placed;
  }

 private:
  // What stands between the parentheses of a call, "a, b" of "vec4 (a, b)".
  static std::optional<std::string_view> ArgumentsOf(std::string_view call) {
    const size_t open = call.find('(');
    const std::string_view name = call.substr(0, std::min(open, call.size()));
    const bool plain = name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ") ==
                       std::string_view::npos;
    if (open == std::string_view::npos || !plain || !call.ends_with(')') ||
        call.size() > kMaxCall) {
      return std::nullopt;
    }
    return call.substr(open + 1, call.size() - open - 2);
  }

  std::span<const SourceFile* const> modules_;
  std::map<uint32_t, LineIndex> lines_;
};

}  // namespace

PlacedDiagnostic Place(const Diagnostic& diagnostic, std::span<const SourceFile* const> modules) {
  return Placer(modules).Place(diagnostic);
}

std::vector<PlacedDiagnostic> Place(std::span<const Diagnostic> diagnostics,
                                    std::span<const SourceFile* const> modules) {
  Placer placer(modules);
  std::vector<PlacedDiagnostic> placed;
  placed.reserve(diagnostics.size());
  for (const Diagnostic& diagnostic : diagnostics) {
    placed.push_back(placer.Place(diagnostic));
  }
  return placed;
}

bool ReadsBefore(const PlacedDiagnostic& a, const PlacedDiagnostic& b) {
  return std::tie(a.severity, a.primary.path, a.primary.line, a.primary.column, a.code) <
         std::tie(b.severity, b.primary.path, b.primary.line, b.primary.column, b.code);
}

void SortForReading(std::vector<PlacedDiagnostic>& diagnostics) {
  std::ranges::stable_sort(diagnostics, ReadsBefore);
}

}  // namespace kiln
