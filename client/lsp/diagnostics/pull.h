// SPDX-License-Identifier: MIT
// textDocument/diagnostic and workspace/diagnostic: what is known, or that the client has it.
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

// Both answer what Reports has; the server lets the checker look at the file first.
Outcome DocumentDiagnostics(Session& session, const Json& params);
Outcome WorkspaceDiagnostics(Session& session, const Json& params);

}  // namespace kiln::lsp
