// SPDX-License-Identifier: MIT
// textDocument/documentSymbol and workspace/symbol. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome DocumentSymbols(Session& session, const Json& params);
Outcome WorkspaceSymbols(Session& session, const Json& params);

}  // namespace kiln::lsp
