// SPDX-License-Identifier: MIT
// textDocument/inlayHint. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome InlayHints(Session& session, const Json& params);

}  // namespace kiln::lsp
