// SPDX-License-Identifier: MIT
// What `initialize` answers.
#pragma once

#include <string>

#include "client/lsp/protocol/json.h"
#include "client/lsp/protocol/position.h"

namespace kiln::lsp {

Json InitializeResult(Encoding encoding, const std::string& version);

}  // namespace kiln::lsp
