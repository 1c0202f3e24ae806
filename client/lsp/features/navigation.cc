// SPDX-License-Identifier: MIT
// textDocument/definition, references, documentHighlight: where a name is declared and used.
#include "client/lsp/features/navigation.h"

#include <filesystem>

#include "client/lsp/documents/languages.h"
#include "client/lsp/documents/uri.h"
#include "client/lsp/features/mentions.h"
#include "client/lsp/modules/module_names.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

// A source that a manifest names: the text in quotes around the byte, as a path below its folder.
Json DefinitionInManifest(Session& session, const Spot& spot) {
  const std::string& text = spot.file.document->text();
  // The quotes are looked for on both sides of the cursor and must stand on one line.
  const size_t open = spot.offset == 0 ? std::string::npos : text.rfind('"', spot.offset - 1);
  const size_t close = text.find('"', spot.offset);
  if (open == std::string::npos || close == std::string::npos ||
      text.substr(open, close - open).find('\n') != std::string::npos) {
    return nullptr;
  }
  const Project* project = session.analysis.workspace().ProjectAt(spot.file.path);
  if (project == nullptr) {
    return nullptr;
  }
  const std::string path = (std::filesystem::path(spot.file.path).parent_path() /
                            project->manifest.folder / text.substr(open + 1, close - open - 1))
                               .lexically_normal()
                               .string();
  // A text that is no source (a name, a value of an option) leads nowhere.
  if (LanguageOf(path) != DocumentLanguage::kRpl || session.documents().FileAt(path) == nullptr) {
    return nullptr;
  }
  const Range start{.start = {}, .end = {}};
  return {{"uri", session.documents().UriOfPath(path)}, {"range", JsonOf(start)}};
}

// So that each of the three requests refuses a wrong place with the same words.
std::variant<Spot, Outcome> ReadSpot(Session& session, const Json& params) {
  std::variant<Spot, RpcError> read = SpotOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return Outcome(std::move(*error));
  }
  return std::move(std::get<Spot>(read));
}

}  // namespace

// A place of a manifest leads to the file; a name leads to its declarations, in whatever source of
// the program.
Outcome Definition(Session& session, const Json& params) {
  std::variant<Spot, Outcome> read = ReadSpot(session, params);
  if (auto* outcome = std::get_if<Outcome>(&read)) {
    return std::move(*outcome);
  }
  const Spot& spot = std::get<Spot>(read);
  if (LanguageOf(spot.file.path) == DocumentLanguage::kManifest) {
    return DefinitionInManifest(session, spot);
  }
  if (IsTyped(spot.file.path)) {
    return DefinitionInModule(session, spot);
  }
  const std::optional<NameHere> name = NameAt(session.analysis, spot.file.path, spot.offset);
  if (!name.has_value()) {
    return Json(nullptr);
  }
  Json places = Json::array();
  // All declarations of the name, one for each condition: the editor lets one choose.
  for (const Occurrence& one : name->names->occurrences()) {
    CheckStop();
    if (one.key == name->at.key && one.role == NameRole::kDeclaration) {
      places.push_back(LocationOf(session, name->file.program->source(one.module), one.bytes));
    }
  }
  return places.empty() ? Json(nullptr) : places;
}

// All programs that have the file are asked (FindMentions), since a name may be used in one that is
// not shown.
Outcome References(Session& session, const Json& params) {
  std::variant<Spot, Outcome> read = ReadSpot(session, params);
  if (auto* outcome = std::get_if<Outcome>(&read)) {
    return std::move(*outcome);
  }
  const Spot& spot = std::get<Spot>(read);
  // The protocol leaves the choice to the client, which mostly wants both.
  const bool declarations = FlagAt(params, "context/includeDeclaration").value_or(true);
  if (IsTyped(spot.file.path)) {
    return ReferencesInModule(session, spot, declarations);
  }
  const std::optional<NameHere> name = NameAt(session.analysis, spot.file.path, spot.offset);
  if (!name.has_value()) {
    return Json(nullptr);
  }
  const Mentions mentions = FindMentions(session.analysis, spot.file.path, name->key);
  Json places = Json::array();
  for (const auto& [path, found] : mentions.by_path) {
    for (const Mention& one : found) {
      if (declarations || one.role == NameRole::kUse) {
        places.push_back(LocationOf(session, *mentions.sources.at(path), one.bytes));
      }
    }
  }
  return places;
}

// Only the open file is asked about, so its module of one program is enough; other programs would
// mark the same places.
Outcome Highlights(Session& session, const Json& params) {
  // DocumentHighlightKind of the protocol. A declaration counts as a write.
  constexpr int kRead = 2;
  constexpr int kWrite = 3;
  std::variant<Spot, Outcome> read = ReadSpot(session, params);
  if (auto* outcome = std::get_if<Outcome>(&read)) {
    return std::move(*outcome);
  }
  const Spot& spot = std::get<Spot>(read);
  if (IsTyped(spot.file.path)) {
    return HighlightsInModule(session, spot);
  }
  const std::optional<NameHere> name = NameAt(session.analysis, spot.file.path, spot.offset);
  Json places = Json::array();
  if (name.has_value()) {
    for (const Occurrence& one : name->names->OfModule(name->file.module)) {
      CheckStop();
      if (one.key == name->at.key) {
        places.push_back({{"range", JsonOf(spot.file.RangeOf(session, one.bytes))},
                          {"kind", one.role == NameRole::kDeclaration ? kWrite : kRead}});
      }
    }
  }
  return places;
}

}  // namespace kiln::lsp
