// SPDX-License-Identifier: MIT
// textDocument/documentSymbol and workspace/symbol: what files declare.
#include "client/lsp/features/symbols.h"

#include <algorithm>
#include <cctype>

#include "client/lsp/analysis/outline.h"
#include "client/lsp/documents/languages.h"
#include "client/lsp/manifest/places.h"
#include "client/lsp/modules/module_names.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

// SymbolKind of the protocol.
enum class SymbolKind : int {
  kModule = 2,
  kClass = 5,
  kProperty = 7,
  kField = 8,
  kFunction = 12,
  kVariable = 13,
  kConstant = 14,
  kObject = 19,
  kEnumMember = 22,
  kStruct = 23,
};

constexpr size_t kMaxSymbols = 1000;  // of an answer of workspace/symbol

// The kinds of the protocol are those of other languages; a client only shows an icon for them.
SymbolKind KindOf(rpl::DeclForm form) {
  using enum rpl::DeclForm;
  switch (form) {
    case kOption:
      return SymbolKind::kEnumMember;
    case kConstant:
      return SymbolKind::kConstant;
    case kSetting:
      return SymbolKind::kProperty;
    case kStruct:
      return SymbolKind::kStruct;
    case kContainer:
    case kBuffer:
    case kPushConstant:
      return SymbolKind::kObject;
    case kSampler:
    case kImage:
    case kWorkgroup:
      return SymbolKind::kVariable;
    case kFunction:
      return SymbolKind::kFunction;
  }
  return SymbolKind::kVariable;
}

Json SymbolOf(const Session& session, const Source& source, std::string_view name,
              std::string detail, SymbolKind kind, Span whole, Span selection) {
  ChargeMemory(kSymbolBytes + name.size() + detail.size());
  return {{"name", name},
          {"detail", std::move(detail)},
          {"kind", static_cast<int>(kind)},
          {"range", JsonOf(RangeIn(session, source, whole))},
          {"selectionRange", JsonOf(RangeIn(session, source, selection))}};
}

// The children of a block are its fields, in their order.
Json SymbolOf(const Session& session, const Source& source, const rpl::Decl& decl) {
  Json symbol = SymbolOf(session, source, NameText(source, decl), HeadText(source, decl),
                         KindOf(decl.form), decl.span, NameSpan(source, decl));
  // The fields of a function are its arguments, which an outline leaves out.
  if (decl.field_count > 0 && decl.form != rpl::DeclForm::kFunction) {
    Json& children = symbol["children"] = Json::array();
    for (uint32_t i = 0; i < decl.field_count; ++i) {
      const rpl::Field& field = source.ast().fields[decl.first_field + i];
      const Span name = SpanOfToken(source, field.name);
      children.push_back(SymbolOf(session, source, TextOf(source.mended_text(), name),
                                  OneLine(source, field.span), SymbolKind::kField,
                                  // The protocol asks that the selection lies in the range; the
                                  // name may stand outside of the span of its field.
                                  Cover(field.span, name), name));
    }
  }
  return symbol;
}

// In mended text a declaration may have lost its name.
bool HasName(const Source& source, const rpl::Decl& decl) {
  return decl.name != rpl::kNone && !NameText(source, decl).empty();
}

// Programs and materials of a manifest, at the places of their tables.
// A manifest that is being typed shows the programs of its last good text, at the places that they
// had there.
Json ManifestSymbols(Session& session, const OpenFile& file) {
  Json symbols = Json::array();
  const Project* project = session.analysis.workspace().ProjectAt(file.path);
  if (project == nullptr) {
    return symbols;
  }
  const std::string& text = file.document->text();
  for (const project::ManifestProgram& program : project->manifest.programs) {
    const uint32_t at = OffsetOf(text, program.place);
    const Range range = file.RangeOf(session, {.begin = at, .end = at});
    symbols.push_back({{"name", program.name},
                       {"kind", static_cast<int>(SymbolKind::kModule)},
                       {"range", JsonOf(range)},
                       {"selectionRange", JsonOf(range)}});
  }
  return symbols;
}

// Whether the letters of `query` stand in `name` in that order.
bool Fits(std::string_view name, std::string_view query) {
  // The usual search of editors: "apfg" finds "apply_fog". One pass, since the first fitting letter
  // is never a worse choice than a later one.
  size_t at = 0;
  for (const char c : name) {
    if (at < query.size() && std::tolower(static_cast<unsigned char>(c)) ==
                                 std::tolower(static_cast<unsigned char>(query[at]))) {
      ++at;
    }
  }
  return at == query.size();
}

// Names of a root and its includes that stand in no function.
void AddModuleSymbols(Session& session, const std::string& path, const std::string& query,
                      Json& symbols) {
  const std::optional<Analysis::ModuleView> view =
      IsTypedRoot(path) ? session.analysis.ModuleViewOf(path) : std::nullopt;
  if (!view.has_value()) {
    return;
  }
  for (const front::IndexedSymbol& symbol : view->index().symbols) {
    CheckStop();
    if (symbol.parent == front::IndexedSymbol::kNone && Fits(symbol.name, query) &&
        symbols.size() < kMaxSymbols) {
      symbols.push_back({{"name", symbol.name},
                         {"kind", SymbolKindOf(symbol.kind)},
                         {"location", LocationInModule(session, *view->source, symbol.name_at)}});
    }
  }
}

}  // namespace

// In the order of the text; the client builds its tree from the ranges.
Outcome DocumentSymbols(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const OpenFile& file = std::get<OpenFile>(read);
  if (LanguageOf(file.path) == DocumentLanguage::kManifest) {
    return ManifestSymbols(session, file);
  }
  if (IsTyped(file.path)) {
    return SymbolsOfModule(session, file);
  }
  Json symbols = Json::array();
  const std::shared_ptr<const Source> source = session.analysis.SourceOf(file.path);
  if (source != nullptr) {
    for (const rpl::Decl& decl : source->ast().decls) {
      if (HasName(*source, decl)) {
        symbols.push_back(SymbolOf(session, *source, decl));
      }
    }
  }
  return symbols;
}

// Parses every source of the workspace that is not parsed yet, which the bounds of a message limit.
Outcome WorkspaceSymbols(Session& session, const Json& params) {
  const std::optional<std::string> query = TextAt(params, "query");
  if (!query.has_value()) {
    return InvalidParams("workspace/symbol needs a query");
  }
  // A set, so that a source of several programs is listed once and the answer has one order.
  std::set<std::string> paths;
  for (const Project* project : session.analysis.workspace().Projects()) {
    for (const auto& [path, programs] : project->programs_of) {
      paths.insert(path);
    }
  }
  // Open files come along that no manifest names.
  for (const std::string& uri : session.documents().OpenUris()) {
    paths.insert(Documents::NameOf(uri));
  }
  Json symbols = Json::array();
  for (const std::string& path : paths) {
    AddModuleSymbols(session, path, *query, symbols);
    const std::shared_ptr<const Source> source = session.analysis.SourceOf(path);
    if (source == nullptr) {
      continue;
    }
    for (const rpl::Decl& decl : source->ast().decls) {
      CheckStop();
      if (HasName(*source, decl) && Fits(NameText(*source, decl), *query) &&
          symbols.size() < kMaxSymbols) {
        symbols.push_back({{"name", NameText(*source, decl)},
                           {"kind", static_cast<int>(KindOf(decl.form))},
                           {"location", LocationOf(session, *source, NameSpan(*source, decl))}});
      }
    }
  }
  return symbols;
}

}  // namespace kiln::lsp
