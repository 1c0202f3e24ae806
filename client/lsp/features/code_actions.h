// SPDX-License-Identifier: MIT
// textDocument/codeAction: edits that diagnostics propose. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome CodeActions(Session& session, const Json& params);

}  // namespace kiln::lsp
