// SPDX-License-Identifier: MIT
// Texts from codes.def, lines and columns from the sources.
#include "compiler/diag/place.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compiler/base/text/utf8.h"
#include "compiler/source/line_index.h"

namespace kiln {
namespace {

constexpr size_t kMaxCall = 4096;  // bytes of one that an edit is proposed for

// A file of a module, and where its lines begin.
struct TextFile {
  const SourceFile* source = nullptr;
  uint32_t first = 0;
  LineIndex lines;
};

// Line indexes of the files that are mentioned, each made once.
class Placer {
 public:
  explicit Placer(std::span<const ModuleText> modules) : modules_(modules) {}

  // An empty place where the text is not there: the message is printed without one.
  PlacedSpan At(const Location& where) {
    const TextFile* file = FileOf(where);
    if (file == nullptr) {
      return {};
    }
    const Span bytes = BytesIn(*file, where);
    const LineColumn begin = file->lines.At(bytes.begin);
    // A span that is turned around would give an end before its beginning.
    const LineColumn end = file->lines.At(std::max(bytes.begin, bytes.end));
    return {.path = file->source->path,
            .bytes = bytes,
            .line = begin.line,
            .column = begin.column,
            .end_line = end.line,
            .end_column = end.column};
  }

  // What is printed of a diagnostic is decided here; renderers only arrange it.
  PlacedDiagnostic Place(const Diagnostic& diagnostic) {
    PlacedDiagnostic placed{.code = std::string(CodeText(diagnostic.code)),
                            .name = std::string(CodeName(diagnostic.code)),
                            .severity = diagnostic.severity,
                            .message = Message(diagnostic),
                            .primary = At(diagnostic.primary)};
    for (const Label& label : diagnostic.labels) {
      placed.labels.push_back({.where = At(label.where), .text = LabelText(label)});
    }
    // The order of labels and notes is that in which they are printed.
    AddIncludes(diagnostic, placed);
    for (const Note& note : diagnostic.notes) {
      placed.notes.push_back(std::string(HeadingName(HeadingOf(note.kind))) + ": " +
                             NoteText(note));
    }
    AddLineMark(diagnostic.primary, placed);
    if (diagnostic.fix.has_value()) {
      placed.fix = Place(*diagnostic.fix);
    }
    return placed;
  }

  // Nothing if its place is unknown, or is not what the form says.
  std::optional<PlacedFix> Place(const Fix& fix) {
    PlacedFix placed{.where = At(fix.where), .replacement = fix.text, .confidence = fix.confidence};
    // An edit without a place could be applied nowhere.
    if (!placed.where.known()) {
      return std::nullopt;
    }
    // The edit keeps the arguments as they stand in the source and changes only what is around
    // them.
    if (fix.form == Fix::Form::kBraces) {
      const std::optional<std::string_view> arguments =
          ArgumentsOf(TextOf(FileOf(fix.where)->source->text, placed.where.bytes));
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
  // The file that a location begins in; null if its text is not there.
  const TextFile* FileOf(const Location& where) {
    if (where.module >= modules_.size() || modules_[where.module].files().empty()) {
      return nullptr;
    }
    const ModuleText& module = modules_[where.module];
    const size_t row = module.FileAt(where.bytes.begin);
    const ModuleText::File& file = module.files()[row];
    if (file.source == nullptr) {
      return nullptr;
    }
    // An index of lines is made once for each file, as one file may have hundreds of diagnostics.
    const auto made = files_.find({where.module, row});
    if (made != files_.end()) {
      return &made->second;
    }
    return &files_
                .emplace(std::pair(where.module, row),
                         TextFile{.source = file.source,
                                  .first = file.first,
                                  .lines = LineIndex(file.source->text)})
                .first->second;
  }

  // A span that goes on in another file ends with its own.
  static Span BytesIn(const TextFile& file, const Location& where) {
    const uint32_t begin = where.bytes.begin - file.first;
    const uint32_t end = std::max(where.bytes.end, file.first) - file.first;
    const auto size = static_cast<uint32_t>(file.source->text.size());
    return {.begin = begin, .end = file.first == 0 ? end : std::min(end, std::max(begin, size))};
  }

  // How the file came to be in the module, unless whoever found the diagnostic knew better: it may
  // be included several times.
  void AddIncludes(const Diagnostic& diagnostic, PlacedDiagnostic& placed) {
    const Location& where = diagnostic.primary;
    if (where.module >= modules_.size() ||
        std::ranges::count(diagnostic.labels, LabelKind::kIncludedHere, &Label::kind) != 0) {
      return;
    }
    const ModuleText& module = modules_[where.module];
    size_t row = module.FileAt(where.bytes.begin);
    // From the file outwards to the root. Each step goes to a smaller row, so it ends even if the
    // table is wrong.
    while (row != 0 && module.files()[row].source != nullptr && placed.labels.size() < kMaxLabels) {
      const ModuleText::File& file = module.files()[row];
      const Label label{.kind = LabelKind::kIncludedHere,
                        .where = {.module = where.module, .bytes = file.included},
                        .arguments = {{"path", file.source->path}}};
      placed.labels.push_back({.where = At(label.where), .text = LabelText(label)});
      // The file that has the include is found by its place, like any other.
      const size_t outer = module.FileAt(file.included.begin);
      row = outer < row ? outer : 0;
    }
  }

  // How the source itself calls the place, if it does.
  void AddLineMark(const Location& where, PlacedDiagnostic& placed) {
    const TextFile* file = FileOf(where);
    const LineMark* mark =
        file == nullptr ? nullptr : modules_[where.module].MarkAt(where.bytes.begin);
    if (mark == nullptr) {
      return;
    }
    // A `#line` names the line behind it, and the lines count on from there.
    const uint32_t line =
        mark->line + placed.primary.line - file->lines.At(mark->begin - file->first).line;
    const Note note{
        .kind = NoteKind::kCalledSo,
        .arguments = {{"path", modules_[where.module].PathOf(*mark, placed.primary.path)},
                      {"line", line}}};
    placed.notes.push_back(std::string(HeadingName(HeadingOf(note.kind))) + ": " + NoteText(note));
  }

  // What stands between the parentheses of a call, "a, b" of "vec4 (a, b)".
  static std::optional<std::string_view> ArgumentsOf(std::string_view call) {
    const size_t open = call.find('(');
    const std::string_view name = call.substr(0, std::min(open, call.size()));
    // Comments, nested names or brackets before the parenthesis make it uncertain what is replaced,
    // and then there is no edit.
    const bool plain = name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ") ==
                       std::string_view::npos;
    if (open == std::string_view::npos || !plain || !call.ends_with(')') ||
        call.size() > kMaxCall) {
      return std::nullopt;
    }
    return call.substr(open + 1, call.size() - open - 2);
  }

  std::span<const ModuleText> modules_;
  std::map<std::pair<uint32_t, size_t>, TextFile> files_;  // by module and row
};

}  // namespace

PlacedDiagnostic Place(const Diagnostic& diagnostic, std::span<const ModuleText> modules) {
  return Placer(modules).Place(diagnostic);
}

// The line indexes are shared by all diagnostics of the list, which makes this cheaper than placing
// them one by one.
std::vector<PlacedDiagnostic> Place(std::span<const Diagnostic> diagnostics,
                                    std::span<const ModuleText> modules) {
  Placer placer(modules);
  std::vector<PlacedDiagnostic> placed;
  placed.reserve(diagnostics.size());
  for (const Diagnostic& diagnostic : diagnostics) {
    placed.push_back(placer.Place(diagnostic));
  }
  return placed;
}

// For programs whose modules are one file each.
PlacedDiagnostic Place(const Diagnostic& diagnostic, std::span<const SourceFile* const> modules) {
  const std::vector<ModuleText> texts(modules.begin(), modules.end());
  return Place(diagnostic, texts);
}

std::vector<PlacedDiagnostic> Place(std::span<const Diagnostic> diagnostics,
                                    std::span<const SourceFile* const> modules) {
  const std::vector<ModuleText> texts(modules.begin(), modules.end());
  return Place(diagnostics, texts);
}

// Errors of all files come before warnings of all files; the code decides between messages of one
// place.
bool ReadsBefore(const PlacedDiagnostic& a, const PlacedDiagnostic& b) {
  return std::tie(a.severity, a.primary.path, a.primary.line, a.primary.column, a.code) <
         std::tie(b.severity, b.primary.path, b.primary.line, b.primary.column, b.code);
}

void SortForReading(std::vector<PlacedDiagnostic>& diagnostics) {
  // Stable, because messages of one place and code keep the order in which they were found.
  std::ranges::stable_sort(diagnostics, ReadsBefore);
}

}  // namespace kiln
