// SPDX-License-Identifier: MIT
// textDocument/foldingRange and selectionRange. See methods.def
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Outcome FoldingRanges(Session& session, const Json& params);
Outcome SelectionRanges(Session& session, const Json& params);

}  // namespace kiln::lsp
