// SPDX-License-Identifier: MIT
// textDocument/hover. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome Hover(Session& session, const Json& params);

}  // namespace kiln::lsp
