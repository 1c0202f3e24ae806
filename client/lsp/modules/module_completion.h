// SPDX-License-Identifier: MIT
// textDocument/completion and signatureHelp in HLSL and WGSL.
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Json CompleteInModule(Session& session, const Spot& spot);
Json SignaturesInModule(Session& session, const Spot& spot);

}  // namespace kiln::lsp
