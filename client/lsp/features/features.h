// SPDX-License-Identifier: MIT
// The functions that answer requests, one for each line of methods.def: params -> result or error.
// Each is in the file that is named after what it answers.
#pragma once

#include "client/lsp/features/session.h"

namespace kiln::lsp {

#define KILN_LSP_REQUEST(method, function) Outcome function(Session& session, const Json& params);
#include "client/lsp/features/methods.def"

}  // namespace kiln::lsp
