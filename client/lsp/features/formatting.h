// SPDX-License-Identifier: MIT
// textDocument/formatting and rangeFormatting. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome Format(Session& session, const Json& params);
Outcome FormatRange(Session& session, const Json& params);

}  // namespace kiln::lsp
