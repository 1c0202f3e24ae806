// SPDX-License-Identifier: MIT
// textDocument/rename and prepareRename. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome PrepareRename(Session& session, const Json& params);
Outcome Rename(Session& session, const Json& params);

}  // namespace kiln::lsp
