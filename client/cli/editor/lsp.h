// SPDX-License-Identifier: MIT
// kiln lsp: the language server of editors, over stdin and stdout. See spec/cli 6.13
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddLsp(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
