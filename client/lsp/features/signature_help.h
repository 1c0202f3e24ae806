// SPDX-License-Identifier: MIT
// textDocument/signatureHelp. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome SignatureHelp(Session& session, const Json& params);

}  // namespace kiln::lsp
