// SPDX-License-Identifier: MIT
// textDocument/semanticTokens/full. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome SemanticTokens(Session& session, const Json& params);

}  // namespace kiln::lsp
