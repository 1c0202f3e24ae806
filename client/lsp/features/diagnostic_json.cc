// SPDX-License-Identifier: MIT
// Diagnostics as the protocol has them, with what a code action needs of their fixes.
#include "client/lsp/features/diagnostic_json.h"

#include <algorithm>

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
std::string TextOf(const Diagnostic& diagnostic) {
  std::string text = Message(diagnostic);
  for (const Note& note : diagnostic.notes) {
    text += fmt::format("\n{}: {}", HeadingName(HeadingOf(note.kind)), NoteText(note));
  }
  return text;
}

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
  json["range"] = JsonOf(RangeIn(session, source, diagnostic.primary.bytes));
  json["severity"] = kSeverities[static_cast<size_t>(diagnostic.severity)];
  json["code"] = CodeText(diagnostic.code);
  json["source"] = "kiln";
  json["message"] = TextOf(diagnostic);
  if (IsAboutUnused(diagnostic.code)) {
    json["tags"] = {kUnnecessary};
  }
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

// A manifest's errors have no code of the table; the message says everything.
Json ManifestDiagnostic(const Range& range, std::string message) {
  return {{"range", JsonOf(range)},
          {"severity", 1},
          {"source", "kiln"},
          {"message", std::move(message)}};
}

}  // namespace kiln::lsp
