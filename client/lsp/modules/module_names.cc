// SPDX-License-Identifier: MIT
// Names of HLSL and WGSL. A text with a syntax error has no index, and then nothing is said about
// its names: places of the last text that had one are not those of this one.
#include "client/lsp/modules/module_names.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/lsp/documents/languages.h"
#include "client/lsp/features/token_legend.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

using front::IndexedMention;
using front::IndexedSymbol;
using front::IndexKind;

// A name under the cursor.
struct NameInModule {
  Analysis::ModuleView view;
  IndexedMention mention;

  const IndexedSymbol& symbol() const { return view.index().symbols[mention.symbol]; }
};

std::optional<NameInModule> NameAt(Session& session, const Spot& spot) {
  std::optional<Analysis::ModuleView> view = session.analysis.ModuleViewOf(spot.file.path);
  if (!view.has_value()) {
    return std::nullopt;
  }
  const IndexedMention* mention = view->index().At(view->first + spot.offset);
  if (mention == nullptr) {
    return std::nullopt;
  }
  return NameInModule{.view = *view, .mention = *mention};
}

// The bytes of a row that lie in the file of the view; nothing if they lie in another.
std::optional<Span> InFile(const Analysis::ModuleView& view, const OpenFile& file, Span row) {
  const ModuleSource::Place place = view.source->PlaceOf(row);
  return place.file->file->path == file.path ? std::optional(place.bytes) : std::nullopt;
}

// What stands in front of the type of an editor's icon.
TokenType TokenTypeOf(IndexKind kind) {
  switch (kind) {
    case IndexKind::kNamespace:
    case IndexKind::kBlock:
      return TokenType::kNamespace;
    case IndexKind::kStruct:
    case IndexKind::kEnum:
      return TokenType::kStruct;
    case IndexKind::kMember:
      return TokenType::kProperty;
    case IndexKind::kEnumerator:
    case IndexKind::kConstant:
    case IndexKind::kOption:
      return TokenType::kEnumMember;
    case IndexKind::kAlias:
      return TokenType::kType;
    case IndexKind::kFunction:
      return TokenType::kFunction;
    case IndexKind::kParameter:
      return TokenType::kParameter;
    case IndexKind::kVariable:
    case IndexKind::kLocal:
      return TokenType::kVariable;
  }
  return TokenType::kVariable;
}

// The path of an include leads to the file.
Json DefinitionOfInclude(Session& session, const Spot& spot) {
  const std::optional<Analysis::ModuleView> view = session.analysis.ModuleViewOf(spot.file.path);
  const uint32_t at = view.has_value() ? view->first + spot.offset : 0;
  for (size_t i = 1; view.has_value() && i < view->source->files().size(); ++i) {
    const ModuleSource::File& file = view->source->files()[i];
    if (file.included.begin <= at && at <= file.included.end) {
      return Json::array({LocationInModule(session, *view->source, {file.first, file.first})});
    }
  }
  return nullptr;
}

}  // namespace

int SymbolKindOf(IndexKind kind) {
  switch (kind) {
    case IndexKind::kNamespace:
      return 3;
    case IndexKind::kStruct:
      return 23;
    case IndexKind::kMember:
      return 8;
    case IndexKind::kEnum:
      return 10;
    case IndexKind::kEnumerator:
    case IndexKind::kOption:
      return 22;
    case IndexKind::kAlias:
      return 5;
    case IndexKind::kBlock:
      return 19;
    case IndexKind::kFunction:
      return 12;
    case IndexKind::kParameter:
    case IndexKind::kVariable:
    case IndexKind::kLocal:
      return 13;
    case IndexKind::kConstant:
      return 14;
  }
  return 13;
}

std::string QualifiedName(const front::SourceIndex& index, uint32_t symbol) {
  std::string name = index.symbols[symbol].name;
  for (uint32_t up = index.symbols[symbol].parent; up != IndexedSymbol::kNone;
       up = index.symbols[up].parent) {
    name = index.symbols[up].name + "." + name;
  }
  return name;
}

Json LocationInModule(Session& session, const ModuleSource& source, Span row) {
  const ModuleSource::Place place = source.PlaceOf(row);
  return {{"uri", session.documents().UriOfPath(place.file->file->path)},
          {"range", JsonOf(place.RangeIn(session.encoding))}};
}

// The declaration as it is written; a type that is not written is what the front end inferred.
Json HoverInModule(Session& session, const Spot& spot) {
  const std::optional<NameInModule> name = NameAt(session, spot);
  if (!name.has_value()) {
    return nullptr;
  }
  const IndexedSymbol& symbol = name->symbol();
  std::string value = symbol.text.empty() ? symbol.name : symbol.text;
  if (session.abilities.markdown) {
    const bool wgsl = LanguageOf(spot.file.path) == DocumentLanguage::kWgsl;
    value = fmt::format("```{}\n{}\n```", wgsl ? "wgsl" : "hlsl", value);
  }
  value += fmt::format("\n\n{}", IndexKindText(symbol.kind));
  if (symbol.parent != IndexedSymbol::kNone) {
    value += fmt::format(" of {}", QualifiedName(name->view.index(), symbol.parent));
  }
  const std::string_view type = name->view.index().TypeOf(symbol);
  if (!type.empty() && symbol.text.find(type) == std::string::npos) {
    value += fmt::format(", type {}", type);
  }
  const std::optional<Span> at = InFile(name->view, spot.file, name->mention.at);
  return {
      {"contents",
       {{"kind", session.abilities.markdown ? "markdown" : "plaintext"}, {"value", value}}},
      {"range", JsonOf(spot.file.RangeOf(session, at.value_or(Span{spot.offset, spot.offset})))}};
}

Json DefinitionInModule(Session& session, const Spot& spot) {
  const std::optional<NameInModule> name = NameAt(session, spot);
  if (!name.has_value()) {
    return DefinitionOfInclude(session, spot);
  }
  return Json::array({LocationInModule(session, *name->view.source, name->symbol().name_at)});
}

// Of one module: another root that includes the same file is another program.
Json ReferencesInModule(Session& session, const Spot& spot, bool declarations) {
  const std::optional<NameInModule> name = NameAt(session, spot);
  if (!name.has_value()) {
    return nullptr;
  }
  constexpr size_t kMaxPlaces = 10'000;
  Json places = Json::array();
  for (const IndexedMention& one : name->view.index().mentions) {
    CheckStop();
    if (one.symbol == name->mention.symbol && places.size() < kMaxPlaces &&
        (declarations || one.at != name->symbol().name_at)) {
      places.push_back(LocationInModule(session, *name->view.source, one.at));
    }
  }
  return places;
}

Json HighlightsInModule(Session& session, const Spot& spot) {
  // DocumentHighlightKind of the protocol. A declaration counts as a write.
  constexpr int kRead = 2;
  constexpr int kWrite = 3;
  Json places = Json::array();
  const std::optional<NameInModule> name = NameAt(session, spot);
  if (!name.has_value()) {
    return places;
  }
  for (const IndexedMention& one : name->view.index().mentions) {
    CheckStop();
    const std::optional<Span> at =
        one.symbol == name->mention.symbol ? InFile(name->view, spot.file, one.at) : std::nullopt;
    if (at.has_value()) {
      places.push_back({{"range", JsonOf(spot.file.RangeOf(session, *at))},
                        {"kind", one.at == name->symbol().name_at ? kWrite : kRead}});
    }
  }
  return places;
}

// Declarations of the file itself, with their members; what functions declare is left out, as an
// outline does.
Json SymbolsOfModule(Session& session, const OpenFile& file) {
  Json symbols = Json::array();
  const std::optional<Analysis::ModuleView> view = session.analysis.ModuleViewOf(file.path);
  if (!view.has_value()) {
    return symbols;
  }
  const front::SourceIndex& index = view->index();
  // Parents stand before their parts, so one pass from the end hands each to its parent.
  std::vector<Json> made(index.symbols.size());
  for (size_t i = index.symbols.size(); i-- > 0;) {
    CheckStop();
    const IndexedSymbol& symbol = index.symbols[i];
    const std::optional<Span> whole = InFile(*view, file, symbol.whole);
    const bool inner = symbol.kind == IndexKind::kParameter || symbol.kind == IndexKind::kLocal;
    const bool in_function = symbol.parent != IndexedSymbol::kNone &&
                             index.symbols[symbol.parent].kind == IndexKind::kFunction;
    if (!whole.has_value() || inner || in_function) {
      continue;
    }
    const Span name = InFile(*view, file, symbol.name_at).value_or(*whole);
    const std::string_view detail =
        symbol.kind == IndexKind::kFunction ? symbol.text : index.TypeOf(symbol);
    ChargeMemory(kSymbolBytes + symbol.name.size() + detail.size());
    Json row{{"name", symbol.name},
             {"detail", detail},
             {"kind", SymbolKindOf(symbol.kind)},
             {"range", JsonOf(file.RangeOf(session, Cover(*whole, name)))},
             {"selectionRange", JsonOf(file.RangeOf(session, name))}};
    if (made[i].is_array()) {
      std::ranges::reverse(made[i]);
      row["children"] = std::move(made[i]);
    }
    Json& owner = symbol.parent == IndexedSymbol::kNone ? symbols : made[symbol.parent];
    if (owner.is_null()) {
      owner = Json::array();
    }
    owner.push_back(std::move(row));
  }
  std::ranges::reverse(symbols);
  return symbols;
}

Json FoldingOfModule(Session& session, const OpenFile& file) {
  Json ranges = Json::array();
  const std::optional<Analysis::ModuleView> view = session.analysis.ModuleViewOf(file.path);
  if (!view.has_value()) {
    return ranges;
  }
  for (const IndexedSymbol& symbol : view->index().symbols) {
    CheckStop();
    const std::optional<Span> whole = InFile(*view, file, symbol.whole);
    if (!whole.has_value()) {
      continue;
    }
    const Range range = file.RangeOf(session, *whole);
    if (range.end.line > range.start.line) {
      ranges.push_back(
          {{"startLine", range.start.line}, {"endLine", range.end.line}, {"kind", "region"}});
    }
  }
  return ranges;
}

// Names only: words and numbers are coloured by the grammar of the editor.
Json TokensOfModule(Session& session, const OpenFile& file) {
  const std::optional<Analysis::ModuleView> view = session.analysis.ModuleViewOf(file.path);
  if (!view.has_value()) {
    return nullptr;
  }
  Json data = Json::array();
  Position before;
  for (const IndexedMention& mention : view->index().mentions) {
    CheckStop();
    const std::optional<Span> at = InFile(*view, file, mention.at);
    if (!at.has_value()) {
      continue;
    }
    ChargeMemory(kTokenBytes);
    const IndexedSymbol& symbol = view->index().symbols[mention.symbol];
    const Range range = file.RangeOf(session, *at);
    const bool same_line = range.start.line == before.line;
    const bool declares = mention.at == symbol.name_at;
    data.push_back(range.start.line - before.line);
    data.push_back(same_line ? range.start.character - before.character : range.start.character);
    data.push_back(range.end.character - range.start.character);
    data.push_back(static_cast<uint32_t>(TokenTypeOf(symbol.kind)));
    data.push_back(declares ? static_cast<uint32_t>(TokenModifier::kDeclaration) : 0);
    before = range.start;
  }
  return {{"data", std::move(data)}};
}

}  // namespace kiln::lsp
