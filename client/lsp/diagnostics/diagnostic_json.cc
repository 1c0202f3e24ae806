// SPDX-License-Identifier: MIT
// Diagnostics as the protocol has them, with what a code action needs of their fixes.
#include "client/lsp/diagnostics/diagnostic_json.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "compiler/diag/place.h"

namespace kiln::lsp {
namespace {

constexpr int kSeverities[] = {1, 2, 4};  // by Severity: error, warning, hint
// DiagnosticTag of the protocol.
constexpr int kUnnecessary = 1;

// What is never used is shown faded: RPL7101 to RPL7106 (spec/rpl 13.1).
bool IsAboutUnused(Code code) {
  const std::string_view text = CodeText(code);
  // Codes have one width, so comparing their texts compares their numbers.
  return text >= "RPL7101" && text <= "RPL7106";
}

// Notes are lines of the message, because the protocol has no place of their own for them.
std::string MessageText(const Diagnostic& diagnostic) {
  std::string text = Message(diagnostic);
  for (const Note& note : diagnostic.notes) {
    text += fmt::format("\n{}: {}", HeadingName(HeadingOf(note.kind)), NoteText(note));
  }
  return text;
}

// What a diagnostic says without its places.
Json RowOf(const Diagnostic& diagnostic, const Range& range, std::string text) {
  Json json{{"range", JsonOf(range)},
            {"severity", kSeverities[static_cast<size_t>(diagnostic.severity)]},
            {"code", CodeText(diagnostic.code)},
            {"source", "kiln"},
            {"message", std::move(text)}};
  if (IsAboutUnused(diagnostic.code)) {
    json["tags"] = {kUnnecessary};
  }
  return json;
}

// The file of a path, of all files of a program; `first` if it is none of them, as a place that is
// not known is the begin of the first source.
class ModuleFiles {
 public:
  explicit ModuleFiles(const LinkedSources& program) {
    for (const std::shared_ptr<const ModuleSource>& source : program.typed) {
      for (const ModuleSource::File& file : source->files()) {
        files_.emplace(file.file->path, &file);
      }
    }
  }
  ModuleSource::Place At(const PlacedSpan& where, const ModuleSource::File& first) const {
    const auto found = files_.find(where.path);
    return {.file = found == files_.end() ? &first : found->second, .bytes = where.bytes};
  }

 private:
  std::map<std::string, const ModuleSource::File*> files_;
};

const Source& SourceAt(const LinkedSources& program, const Location& where) {
  // A message about the whole program has no module and is shown at the begin of its first source.
  return *program.sources[where.module < program.sources.size() ? where.module : 0];
}

}  // namespace

FileDiagnostic JsonOf(Session& session, const LinkedSources& program,
                      const Diagnostic& diagnostic) {
  // The diagnostic belongs to the file of its primary place. Labels may lie in other files, which
  // the protocol carries only as related information, and only where the editor knows that.
  const Source& source = SourceAt(program, diagnostic.primary);
  FileDiagnostic result{.path = source.file().path,
                        .json = Json::object(),
                        .at = diagnostic.primary.bytes,
                        .fix = std::nullopt};
  Json& json = result.json;
  json = RowOf(diagnostic, RangeIn(session, source, diagnostic.primary.bytes),
               MessageText(diagnostic));
  if (session.abilities.related_information && !diagnostic.labels.empty()) {
    Json& related = json["relatedInformation"] = Json::array();
    for (const Label& label : diagnostic.labels) {
      related.push_back(
          {{"location", LocationOf(session, SourceAt(program, label.where), label.where.bytes)},
           {"message", LabelText(label)}});
    }
  }
  if (diagnostic.fix.has_value()) {
    std::vector<const SourceFile*> files;
    for (const std::shared_ptr<const Source>& one : program.sources) {
      files.push_back(&one->file());
    }
    // A fix in another file than the message is not offered: the edit of a code action is about the
    // open document and its version.
    const PlacedDiagnostic placed = Place(diagnostic, files);
    if (placed.fix.has_value() && placed.fix->where.path == result.path) {
      result.fix = Session::ShownFix{.diagnostic = json,
                                     .bytes = placed.fix->where.bytes,
                                     .replacement = placed.fix->replacement,
                                     .sure = placed.fix->confidence == Confidence::kSure,
                                     .at = result.at,
                                     .digest = source.file().digest};
    }
  }
  return result;
}

// The compiler's own placing is asked: it knows which file a byte of a module is in, and adds the
// chain of includes as labels. Labels are related information; a client without it reads them as
// lines of the message, since in HLSL they say where a mistake comes from.
std::vector<FileDiagnostic> PlacedRows(Session& session, const LinkedSources& program,
                                       std::span<const Diagnostic> diagnostics) {
  std::vector<ModuleText> texts;
  for (const std::shared_ptr<const ModuleSource>& source : program.typed) {
    texts.push_back(source->text());
  }
  const ModuleFiles files(program);
  std::vector<FileDiagnostic> rows;
  for (const Diagnostic& diagnostic : diagnostics) {
    const PlacedDiagnostic placed = Place(diagnostic, texts);
    const size_t module = diagnostic.primary.module;
    const ModuleSource::File& root =
        program.typed[module < program.typed.size() ? module : 0]->files().front();
    const ModuleSource::Place at = files.At(placed.primary, root);
    std::string text = MessageText(diagnostic);
    Json related = Json::array();
    for (const PlacedLabel& label : placed.labels) {
      const ModuleSource::Place there = files.At(label.where, root);
      const Range range = there.RangeIn(session.encoding);
      const std::string& path = there.file->file->path;
      if (session.abilities.related_information) {
        related.push_back(
            {{"location", {{"uri", session.documents().UriOfPath(path)}, {"range", JsonOf(range)}}},
             {"message", label.text}});
      } else {
        text += fmt::format("\n{}:{}: {}", path, range.start.line + 1, label.text);
      }
    }
    FileDiagnostic row{.path = at.file->file->path,
                       .json = RowOf(diagnostic, at.RangeIn(session.encoding), std::move(text)),
                       .at = at.bytes,
                       .fix = std::nullopt};
    if (!related.empty()) {
      row.json["relatedInformation"] = std::move(related);
    }
    if (placed.fix.has_value() && placed.fix->where.path == row.path) {
      row.fix = Session::ShownFix{.diagnostic = row.json,
                                  .bytes = placed.fix->where.bytes,
                                  .replacement = placed.fix->replacement,
                                  .sure = placed.fix->confidence == Confidence::kSure,
                                  .at = row.at,
                                  .digest = at.file->file->digest};
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// A manifest's errors have no code of the table; the message says everything.
Json ManifestDiagnostic(const Range& range, std::string message) {
  return {{"range", JsonOf(range)},
          {"severity", 1},
          {"source", "kiln"},
          {"message", std::move(message)}};
}

}  // namespace kiln::lsp
