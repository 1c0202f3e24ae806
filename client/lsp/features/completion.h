// SPDX-License-Identifier: MIT
// textDocument/completion. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome Complete(Session& session, const Json& params);

}  // namespace kiln::lsp
