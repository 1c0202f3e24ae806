// SPDX-License-Identifier: MIT
// textDocument/definition, references and documentHighlight. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome Definition(Session& session, const Json& params);
Outcome References(Session& session, const Json& params);
Outcome Highlights(Session& session, const Json& params);

}  // namespace kiln::lsp
