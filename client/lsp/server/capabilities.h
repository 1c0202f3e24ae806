// SPDX-License-Identifier: MIT
// What `initialize` answers.
#pragma once

#include <string>

#include "client/lsp/features/session.h"
#include "client/lsp/protocol/json.h"

namespace kiln::lsp {

Json InitializeResult(const Session& session, const std::string& version);

}  // namespace kiln::lsp
