// SPDX-License-Identifier: MIT
#include "client/lsp/server/capabilities.h"

#include "client/lsp/features/commands.h"
#include "client/lsp/features/token_legend.h"

namespace kiln::lsp {

// What is not named here, a client does not ask for. Trigger characters are those behind which a
// name or value can be chosen.
Json InitializeResult(const Session& session, const std::string& version) {
  // TextDocumentSyncKind. Clients that cannot send parts of a text send it whole all the same,
  // which Documents reads as well.
  constexpr int kIncremental = 2;
  Json capabilities{
      {"positionEncoding", EncodingText(session.encoding)},
      {"textDocumentSync",
       {{"openClose", true}, {"change", kIncremental}, {"save", {{"includeText", false}}}}},
      {"completionProvider", {{"triggerCharacters", {".", "\"", "(", "=", " "}}}},
      {"hoverProvider", true},
      {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"documentSymbolProvider", true},
      {"workspaceSymbolProvider", true},
      {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
      {"codeLensProvider", {{"resolveProvider", false}}},
      {"documentFormattingProvider", true},
      {"documentRangeFormattingProvider", true},
      {"renameProvider", {{"prepareProvider", true}}},
      {"foldingRangeProvider", true},
      {"selectionRangeProvider", true},
      {"inlayHintProvider", true},
      {"semanticTokensProvider", {{"legend", TokenLegend()}, {"full", true}}},
      {"executeCommandProvider", {{"commands", CommandNames()}}},
      {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", false}}}}}};
  // Named to clients only that are not told diagnostics unasked (ClientAbilities).
  if (session.abilities.pull_diagnostics) {
    capabilities["diagnosticProvider"] = {
        {"identifier", "kiln"}, {"interFileDependencies", true}, {"workspaceDiagnostics", true}};
  }
  return {{"capabilities", std::move(capabilities)},
          {"serverInfo", {{"name", "kiln"}, {"version", version}}}};
}

}  // namespace kiln::lsp
