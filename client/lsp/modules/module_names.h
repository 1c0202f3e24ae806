// SPDX-License-Identifier: MIT
// Requests about names of HLSL and WGSL: look-ups in the index that the front end made. What the
// requests of RPL's features answer, for the other languages.
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

// Of a symbol in an answer, but for its texts and ranges.
inline constexpr uint64_t kSymbolBytes = 600;

Json HoverInModule(Session& session, const Spot& spot);
Json DefinitionInModule(Session& session, const Spot& spot);
Json ReferencesInModule(Session& session, const Spot& spot, bool declarations);
Json HighlightsInModule(Session& session, const Spot& spot);
Json SymbolsOfModule(Session& session, const OpenFile& file);
Json FoldingOfModule(Session& session, const OpenFile& file);
Json TokensOfModule(Session& session, const OpenFile& file);

// A place of a module in whatever file it is.
Json LocationInModule(Session& session, const ModuleSource& source, Span row);
// What the symbol belongs to, "Light.color".
std::string QualifiedName(const front::SourceIndex& index, uint32_t symbol);
// SymbolKind of the protocol.
int SymbolKindOf(front::IndexKind kind);

}  // namespace kiln::lsp
